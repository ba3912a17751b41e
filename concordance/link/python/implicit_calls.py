"""What Python and its test runners run without a name in the text.

In: a file. Out: edges: a class's bases (their constructors), what wraps a decorated function, what a variable is
another name of, the definition behind `@overload`s; and for tests their fixtures and what sets them up.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Given, Kind, Op
from concordance.facts.links.graph import EdgeKind
from concordance.link.implicit_runs import FUNCTIONS, Edge
from concordance.link.python.builtin_types import CLASS, FUNCTION, PythonValue
from concordance.link.python.inference import Evaluator
from concordance.link.world import LoadedFlow

_MADE = ("__init__", "__new__", "__post_init__")  # of a class that is used at all, for it may be called elsewhere
_HELD = ("__call__", "__enter__", "__exit__", "__aenter__", "__aexit__")  # of who has an instance
# Of unittest and of pytest.
_HOOKS = (
    "setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setup_method",
    "teardown_method", "setup_class", "teardown_class", "setup", "teardown",
)  # fmt: skip
_OF_FILE = ("setup_module", "teardown_module", "setUpModule", "tearDownModule", "setup_function", "teardown_function")
_NAMES = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
_ALIAS = frozenset((Op.NAME, Op.MEMBER, Op.IMPORT, Op.SYMBOL, Op.EITHER, Op.OF_TYPE))


class ImplicitCalls:
    """Finds them."""

    def __init__(self, values: Evaluator) -> None:
        self.values, self.classes, self.fixtures = values, values.classes, values.fixtures

    def edges(self, file: LoadedFlow, called: set[tuple[int, int]]) -> Iterator[Edge]:
        """All of a file's; `called` are what is called in it, and by whom."""
        for target, user in called:
            yield from self._called(target, user)
        for symbol in range(len(file.symbol_kind)):
            kind = file.kind(symbol)
            if kind is Kind.CLASS:
                if not self._is_exception(file.id(symbol)):
                    yield from self._made(file.id(symbol), file.id(symbol), _MADE)
                yield from self._set_up(file, symbol)
            elif kind in FUNCTIONS:
                yield from self._wrapped(file, symbol)
                yield from self._asked(file, symbol)
            elif kind in _NAMES:
                yield from self._stands_for(file, symbol)
        yield from self._repeated(file)

    def _called(self, identity: int, user: int) -> Iterator[Edge]:
        """What runs where a class is called. Who names an exception (`except`) does not make it; who makes it does
        nothing with it."""
        home, symbol = self.values.world.owner(identity)
        if symbol >= 0 and home.kind(symbol) is Kind.CLASS:
            yield from self._made(identity, user, _MADE if self._is_exception(identity) else _HELD)

    def _made(self, identity: int, user: int, methods: tuple[str, ...]) -> Iterator[Edge]:
        """The methods of a class, its own or inherited, that run without their names."""
        for name in methods:
            place = self.classes.member(identity, name)
            if place is not None and not isinstance(place, str):
                yield place[0].id(place[1]), user, EdgeKind.MAKES

    def _is_exception(self, identity: int) -> bool:
        bases = (
            self.classes.last_name(above, base)
            for above, place in self.classes.order(identity)
            for base in above.said(place, Given.BASE)
        )
        return any(name.endswith(("Exception", "Error", "Warning")) for name in bases)

    def _set_up(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """The hooks of a class of tests, for its own tests and those that it inherits, which also get its fixtures."""
        identity = file.id(symbol)
        tests = [
            (above, member)
            for above, place in self.classes.order(identity)
            for word, members in above.members.get(place, {}).items()
            if above.names[word].startswith("test")
            for member in members[:1]
        ]
        for hook in _HOOKS if tests else ():
            place = self.classes.member(identity, hook)
            if place is not None and not isinstance(place, str):
                for home, test in tests:
                    yield place[0].id(place[1]), home.id(test), EdgeKind.SETS_UP
        for home, test in tests:
            for owner, fixture in self.fixtures.inherited(identity, home, test):
                yield owner.id(fixture), home.id(test), EdgeKind.ASKS

    def _asked(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """The fixtures of a test or fixture; a test also gets those that come unasked, and its file's hooks."""
        for home, fixture in self.fixtures.asked(file, symbol):
            yield home.id(fixture), file.id(symbol), EdgeKind.ASKS
        for handed in file.said(symbol, Given.HANDS):
            for value in self.values.value(file, handed):
                if value.tag in (FUNCTION, CLASS) and isinstance(value.id, int):
                    yield value.id, file.id(symbol), EdgeKind.READS
        if not file.names[file.symbol_name[symbol]].startswith("test") or not self._is_outer(file, symbol):
            return
        for home, fixture in self.fixtures.unasked(file, symbol):
            yield home.id(fixture), file.id(symbol), EdgeKind.ASKS
        for hook in _OF_FILE:
            for member in file.members.get(-1, {}).get(file.word.get(hook, -1), ()):
                yield file.id(member), file.id(symbol), EdgeKind.SETS_UP

    def _is_outer(self, file: LoadedFlow, symbol: int) -> bool:
        around = file.symbol_parent[symbol]
        return not around or file.kind(around - 1) is Kind.CLASS

    def _wrapped(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """What a decorator puts around a function: the functions inside of it, or its class's `__call__`."""
        for expression in file.said(symbol, Given.DECORATOR):
            maker = file.left[expression] if file.op[expression] == Op.CALL else expression
            for value in self.values.value(file, maker):
                for inner in self._inside(value):
                    yield inner, file.id(symbol), EdgeKind.IS_WRAPPED

    def _inside(self, value: PythonValue) -> Iterator[int]:
        if not isinstance(value.id, int) or value.tag not in (FUNCTION, CLASS):
            return
        home, symbol = self.values.world.owner(value.id)
        for word, members in home.members.get(symbol, {}).items():
            if value.tag == FUNCTION or home.names[word] in ("__call__", "__get__"):
                yield from (home.id(member) for member in members if home.kind(member) in FUNCTIONS)

    def _stands_for(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """The function or class that a variable is another name of."""
        owner = file.symbol_parent[symbol] - 1
        scope = file.opened.get(owner, 0) if owner >= 0 else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        for bound in file.values[variable] if variable is not None else ():
            if file.op[bound] in _ALIAS:
                for value in self.values.value(file, bound):
                    if value.tag in (FUNCTION, CLASS) and isinstance(value.id, int) and value.id != file.id(symbol):
                        yield value.id, file.id(symbol), EdgeKind.STANDS_FOR

    def _repeated(self, file: LoadedFlow) -> Iterator[Edge]:
        """The definitions that stand for one: behind `@overload`, or in the branches of a condition."""
        for members in file.members.values():
            for same in members.values():
                functions = [one for one in same if file.kind(one) in FUNCTIONS and not self._is_accessor(file, one)]
                for one in functions[1:]:
                    yield file.id(one), file.id(functions[0]), EdgeKind.REPEATS
                    yield file.id(functions[0]), file.id(one), EdgeKind.REPEATS

    def _is_accessor(self, file: LoadedFlow, symbol: int) -> bool:
        """Whether a function is the setter or deleter of a property, or one of many that a name dispatches to."""
        names = {self.classes.last_name(file, one) for one in file.said(symbol, Given.DECORATOR)}
        return bool(names & {"setter", "deleter", "register"})
