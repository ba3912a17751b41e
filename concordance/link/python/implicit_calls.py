"""Code that Python and its test runners run although no name in the text refers to it.

In: a file. Out: edges to a class's special methods, including inherited constructors; to the decorators of a function
or class and what they wrap around it; from an alias to what it names; between the definitions behind `@overload`; and,
for tests, to their fixtures and set-up methods.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Kind, Op, SymbolRelation
from concordance.facts.links.graph import EdgeKind
from concordance.link.implicit_runs import FUNCTIONS
from concordance.link.language_linker import Edge
from concordance.link.python.builtin_types import CLASS, FUNCTION, INSTANCE, PythonValue
from concordance.link.python.inference import Evaluator
from concordance.link.world import LoadedFlow

# of a class that is used at all, because its instances may be made elsewhere
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
# Methods that are called on an instance without being named.
_INSTANCE_METHODS = (
    "__call__",
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
)
_DISPATCHED = ("visit_", "depart_", "leave_", "do_")  # methods that a base calls by a computed name
# Hooks of unittest and pytest.
_HOOKS = (
    "setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setup_method",
    "teardown_method", "setup_class", "teardown_class", "setup", "teardown",
)  # fmt: skip
_MODULE_HOOKS = (
    "setup_module",
    "teardown_module",
    "setUpModule",
    "tearDownModule",
    "setup_function",
    "teardown_function",
)
_VARIABLE_KINDS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
_ALIAS_OPS = frozenset((Op.NAME, Op.MEMBER, Op.IMPORT, Op.SYMBOL, Op.EITHER, Op.OF_TYPE))


class ImplicitCalls:
    """Finds implicit calls."""

    def __init__(self, values: Evaluator) -> None:
        self.values, self.classes, self.fixtures = values, values.classes, values.fixtures

    def edges(self, file: LoadedFlow, called: set[tuple[int, int]]) -> Iterator[Edge]:
        """Yield all edges of a file; `called` are pairs of callee and caller."""
        for target, user in called:
            yield from self._construction(target, user)
        for symbol in range(len(file.symbol_kind)):
            kind = file.kind(symbol)
            yield from self._decorations(file, symbol)
            if kind is Kind.CLASS:
                if not self._is_exception(file.id(symbol)):
                    yield from self._special_methods(file.id(symbol), file.id(symbol), _CONSTRUCTORS)
                    yield from self._unnamed_methods(file, symbol)
                yield from self._set_up(file, symbol)
            elif kind in FUNCTIONS:
                yield from self._wrappers(file, symbol)
                yield from self._requested_fixtures(file, symbol)
            elif kind in _VARIABLE_KINDS:
                yield from self._alias_target(file, symbol)
        yield from self._redefinitions(file)

    def _construction(self, identity: int, user: int) -> Iterator[Edge]:
        """Yield what runs when a class is called.

        Code that names an exception, as in `except`, does not create one, so only a call runs its constructor. Code
        that creates an exception neither calls nor enters it.
        """
        file, symbol = self.values.world.owner(identity)
        if symbol >= 0 and file.kind(symbol) is Kind.CLASS:
            yield from self._special_methods(
                identity, user, _CONSTRUCTORS if self._is_exception(identity) else _INSTANCE_METHODS
            )

    def _special_methods(self, identity: int, user: int, methods: tuple[str, ...]) -> Iterator[Edge]:
        """Yield the methods of a class, its own or inherited, that run without being named."""
        for name in methods:
            place = self.classes.member(identity, name)
            if place is not None and not isinstance(place, str):
                yield place[0].id(place[1]), user, EdgeKind.MAKES

    def _unnamed_methods(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield the methods of a class that run on its instances although no code names its definition of them.

        Those are special methods, methods that replace one of a base, which code calls through the base, and methods
        that a base calls by a computed name.
        """
        above = self.classes.order(file.id(symbol))[1:]
        is_derived = bool(file.related_expressions(symbol, SymbolRelation.BASE))
        for word, members in file.members.get(symbol, {}).items():
            name = file.names[word]
            if file.kind(members[0]) in FUNCTIONS and (
                name.startswith("__")
                or (is_derived and name.startswith(_DISPATCHED))
                or any(other.name_index.get(name, -1) in other.members.get(place, ()) for other, place in above)
            ):
                yield file.id(members[0]), file.id(symbol), EdgeKind.MAKES

    def _is_exception(self, identity: int) -> bool:
        bases = (
            self.classes.last_name(above, base)
            for above, place in self.classes.order(identity)
            for base in above.related_expressions(place, SymbolRelation.BASE)
        )
        return any(name.endswith(("Exception", "Error", "Warning")) for name in bases)

    def _set_up(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield the hooks of a test class, for its own and inherited tests; the latter also get its fixtures."""
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
                for test_file, test in tests:
                    yield place[0].id(place[1]), test_file.id(test), EdgeKind.SETS_UP
        for test_file, test in tests:
            for owner, fixture in self.fixtures.inherited(identity, test_file, test):
                yield owner.id(fixture), test_file.id(test), EdgeKind.ASKS

    def _requested_fixtures(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield the fixtures that a function requests, and the functions that it gets as defaults or from decorators.

        For a test, these are also the autouse fixtures and its file's hooks.
        """
        for owner, fixture in self.fixtures.requested(file, symbol):
            yield owner.id(fixture), file.id(symbol), EdgeKind.ASKS
        for expression in file.related_expressions(symbol, SymbolRelation.HANDS):
            for value in self.values.value(file, expression):
                if value.tag in (FUNCTION, CLASS) and isinstance(value.id, int):
                    yield value.id, file.id(symbol), EdgeKind.READS
                if value.tag == INSTANCE and isinstance(value.id, int):
                    yield from self._special_methods(value.id, file.id(symbol), ("__call__",))
        if not file.names[file.symbol_name[symbol]].startswith("test") or not self._is_test_level(file, symbol):
            return
        for owner, fixture in self.fixtures.autouse(file, symbol):
            yield owner.id(fixture), file.id(symbol), EdgeKind.ASKS
        for hook in _MODULE_HOOKS:
            for member in file.members.get(-1, {}).get(file.name_index.get(hook, -1), ()):
                yield file.id(member), file.id(symbol), EdgeKind.SETS_UP

    def _is_test_level(self, file: LoadedFlow, symbol: int) -> bool:
        around = file.symbol_parent[symbol]
        return not around or file.kind(around - 1) is Kind.CLASS

    def _wrappers(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield what a decorator wraps around a function: its inner functions, or its class's `__call__`."""
        for expression in file.related_expressions(symbol, SymbolRelation.DECORATOR):
            maker = file.left[expression] if file.op[expression] == Op.CALL else expression
            for value in self.values.value(file, maker):
                for inner in self._inner_functions(value):
                    yield inner, file.id(symbol), EdgeKind.IS_WRAPPED

    def _decorations(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield the decorators of a function or class: what they return when the file is loaded takes its place."""
        around = file.symbol_parent[symbol] - 1
        while around >= 0:
            if file.kind(around) in FUNCTIONS:
                return  # it is decorated when the function around it runs
            around = file.symbol_parent[around] - 1
        for expression in file.related_expressions(symbol, SymbolRelation.DECORATOR):
            maker = file.left[expression] if file.op[expression] == Op.CALL else expression
            for value in self.values.value(file, maker):
                if value.tag in (FUNCTION, CLASS) and isinstance(value.id, int):
                    yield value.id, file.id(symbol), EdgeKind.LOADS

    def _inner_functions(self, value: PythonValue) -> Iterator[int]:
        if not isinstance(value.id, int) or value.tag not in (FUNCTION, CLASS):
            return
        file, symbol = self.values.world.owner(value.id)
        beside = file.members.get(file.symbol_parent[symbol] - 1, {})
        for same in beside.get(file.symbol_name[symbol], (symbol,)):  # behind `@overload`, the last has a body
            for word, members in file.members.get(same, {}).items():
                if value.tag == FUNCTION or file.names[word] in ("__call__", "__get__"):
                    yield from (file.id(member) for member in members if file.kind(member) in FUNCTIONS)

    def _alias_target(self, file: LoadedFlow, symbol: int) -> Iterator[Edge]:
        """Yield the function or class that a variable is an alias of."""
        owner = file.symbol_parent[symbol] - 1
        scope = file.scope_of_symbol.get(owner, 0) if owner >= 0 else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        for bound in file.values[variable] if variable is not None else ():
            if file.op[bound] in _ALIAS_OPS:
                for value in self.values.value(file, bound):
                    if value.tag in (FUNCTION, CLASS) and isinstance(value.id, int) and value.id != file.id(symbol):
                        yield value.id, file.id(symbol), EdgeKind.STANDS_FOR

    def _redefinitions(self, file: LoadedFlow) -> Iterator[Edge]:
        """Yield the definitions of one function: behind `@overload`, or in the branches of a condition."""
        for members in file.members.values():
            for same in members.values():
                functions = [one for one in same if file.kind(one) in FUNCTIONS and not self._is_accessor(file, one)]
                for function in functions[1:]:
                    yield file.id(function), file.id(functions[0]), EdgeKind.REPEATS
                    yield file.id(functions[0]), file.id(function), EdgeKind.REPEATS

    def _is_accessor(self, file: LoadedFlow, symbol: int) -> bool:
        """True if a function is the setter or deleter of a property, or a registered variant of a dispatcher."""
        names = {
            self.classes.last_name(file, expression)
            for expression in file.related_expressions(symbol, SymbolRelation.DECORATOR)
        }
        return bool(names & {"setter", "deleter", "register"})
