"""The interface of a file: what other files can find in it under each name, and what each symbol evaluates to.

In: a file's flow and the targets of its imports. Out: a `FileInterface`. An update compares the interfaces of two
versions of a file to find the names under which other files now find something else, and the symbols whose meaning
(type, bases, value) has changed. What only the file itself can see is left out: the bodies of functions, except what
they return.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

from concordance.base.kinds import C_FAMILY, INLINE_MODULE, WHOLE_MODULE
from concordance.base.model import TYPE_KINDS, Kind, Op, SymbolRelation, Target
from concordance.extract.cfamily.symbol_flags import FRIEND, INLINE
from concordance.link.implicit_runs import FUNCTIONS
from concordance.link.languages import value_tracking_languages
from concordance.link.world import LoadedFlow

AUTOUSE = "*"
OWNERS_COLUMN = 8  # index of a symbol's owners in a row of `names`
ANY_OWNER = "*"  # as an owner: any class
_LOCAL_SCOPES = frozenset(("function", "lambda", "comprehension", "block"))
# What is called without its name appearing in the text: by the language, or by a test runner.
_HOOKS = frozenset((
    "setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setup_method",
    "teardown_method", "setup_class", "teardown_class", "setup", "teardown", "begin", "constructor", "SetUp",
    "TearDown",
))  # fmt: skip
_USING = ("using namespace", "using")
_MEMBER, _LOOKUP = int(Op.MEMBER), int(Op.LOOKUP)

# a symbol: the names around it and its own, each with its position among symbols of that name
Path = tuple[tuple[str, int], ...]


def is_used_implicitly(name: str) -> bool:
    """True if a member is used without its name being written."""
    return name.startswith(("__", "test", "operator")) or name in _HOOKS


def name_digest(name: str) -> int:
    """Return a name as a 32-bit number."""
    return crc32(name.encode("utf-8", "surrogatepass"))


@dataclass
class FileInterface:
    """The interface of one version of a file."""

    names: dict[str, list[Any]] = field(default_factory=dict)  # by name, in the order of the text
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)  # a symbol's index, and a digest of its meaning
    stars: list[Any] = field(default_factory=list)  # star imports, with their targets
    exports: tuple[str, ...] | None = None
    autouse_fixtures: list[Path] = field(default_factory=list)  # fixtures that apply to tests without being requested
    directives: list[Any] = field(default_factory=list)  # `using namespace`, also in effect for includers
    # Namespaces whose names also belong to the enclosing namespace.
    inline_namespaces: set[Path] = field(default_factory=set)


class FileVersion(NamedTuple):
    """One version of a file, with the targets of its imports."""

    file: LoadedFlow
    targets: tuple[Target, ...]
    interface: FileInterface


class ExpressionDescriber:
    """Describes the expressions of one file by content rather than by their numbers, which shift with every edit."""

    def __init__(self, file: LoadedFlow, targets: Sequence[Target]) -> None:
        self.file, self.targets = file, targets
        self.tracks_values = file.language in value_tracking_languages()
        self.paths = self._paths()
        self._scopes: dict[int, Any] = {}

    def _paths(self) -> list[Path]:
        file = self.file
        times: dict[tuple[int, int], int] = {}
        own = []
        for parent, name in zip(file.symbol_parent, file.symbol_name, strict=True):
            times[parent, name] = times.get((parent, name), 0) + 1
            own.append((file.names[name], times[parent, name]))
        return [
            (*(own[around] for around in reversed([*enclosing_symbols(file, at)])), own[at]) for at in range(len(own))
        ]

    def describe_scope(self, scope: int) -> Any:
        """Return a scope, described by the symbols around it."""
        if scope not in self._scopes:
            symbol, parent = self.file.scope_symbol[scope], self.file.scope_parent[scope]
            own: Any = self.paths[symbol - 1] if symbol else (self.file.flow.scope_kind[scope],)
            self._scopes[scope] = own if symbol or not parent else (self.describe_scope(parent - 1), own)
        return self._scopes[scope]

    def is_accessible(self, variable: int) -> bool:
        """True if other files can refer to a variable."""
        file = self.file
        if variable >= file.flow.whole:
            return False
        scope = file.variable_scope[variable]
        return not scope or file.flow.scope_kind[scope] not in _LOCAL_SCOPES

    def describe(self, expression: int) -> tuple[Any, list[int]]:
        """Return an expression's own content, and the expressions it is made of."""
        file = self.file
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.NAME:
            name = file.names[file.variable_name[left]]
            if self.is_accessible(left):
                return (op, self.describe_scope(file.variable_scope[left]), name), []
            symbol = file.variable_symbol[left]
            values = file.values[left]
            return (op, name, self.paths[symbol - 1] if symbol else None, len(values)), values
        if op == Op.MEMBER:
            return (op, file.names[right]), [left]
        if op == Op.LOOKUP:
            count = len(file.scope_parent)
            place = None if self.tracks_values else (self.describe_scope(right % count), right >= count)
            return (op, file.names[left], place), []
        if op in (Op.SYMBOL, Op.SUPER):
            symbol = left - (op == Op.SUPER)
            return (op, self.paths[symbol] if symbol >= 0 else None), []
        if op in (Op.IMPORT, Op.PACKAGE):
            return (op, self.describe_import(left), right if op == Op.PACKAGE else 0), []
        if op == Op.PARAMETER:
            return (op, self.paths[left], right, file.symbol_kind[left], *self._parameter_digests(left)), []
        if op == Op.LITERAL:
            return (op, file.names[left], bool(right)), [right - 1] if right else []
        return self._describe_compound(op, left, right)

    def _describe_compound(self, op: int, left: int, right: int) -> tuple[Any, list[int]]:
        if op in (Op.EITHER, Op.CAST):
            return (op,), [left, right]
        if op == Op.CALL:
            return (
                ((op, bool(right)), [left, right - 1] if right else [left])
                if self.tracks_values
                else ((op, right), [left])
            )
        if op in (Op.ITEM, Op.PAIR):
            inner = right and right - 1 < len(self.file.op)
            return (op, bool(inner), bool(left)), [left, right - 1] if inner else [left]
        if op in (Op.EACH, Op.ENTER, Op.PART, Op.OF_TYPE):
            return (op, right), [left]
        return (op,), []

    def _parameter_digests(self, symbol: int) -> Iterator[Any]:
        file = self.file
        for what in (SymbolRelation.ASKS, SymbolRelation.DECORATOR):
            yield tuple(self.digest(value) for value in file.related_expressions(symbol, what))

    def describe_import(self, place: int) -> Any:
        """Return an import, described by what it names and its target."""
        row = self.file.flow.imports[place]
        target = self.targets[place] if place < len(self.targets) else None
        return row.module, row.name, row.alias, row.form, (target.origin, target.paths) if target else None

    def digest(self, expression: int) -> int:
        """Return a digest of everything an expression is made of, including variables that only its file can see."""
        seen: dict[int, int] = {}
        content_parts: list[Any] = []
        waiting = [expression]
        while waiting:
            at = waiting.pop()
            if at in seen:
                content_parts.append(seen[at])
                continue
            seen[at] = len(seen)
            content, parts = self.describe(at)
            content_parts.append(content)
            waiting += reversed(parts)
        return hash(tuple(content_parts))


def build_interface(file: LoadedFlow, targets: Sequence[Target]) -> FileInterface:
    """Return a file's interface."""
    reader = ExpressionDescriber(file, targets)
    result = FileInterface(exports=file.flow.exports)
    symbol_values: list[list[Any]] = [[] for _ in file.symbol_kind]
    for (symbol, what), values in file.relations.items():
        if what != SymbolRelation.HANDS:
            symbol_values[symbol].append((what, tuple(reader.digest(value) for value in values)))
        for value in values if what == SymbolRelation.OFFERS else ():
            name = file.names[file.left[value]]
            result.names.setdefault(name, []).append(("offers", reader.paths[symbol]))
            result.autouse_fixtures += [reader.paths[symbol]] if name == AUTOUSE else []
        # A class that inherits a fixture may replace what the fixture requests.
        for value in (
            values if what == SymbolRelation.ASKS and (symbol, SymbolRelation.OFFERS) in file.relations else ()
        ):
            result.names.setdefault(file.names[file.left[value]], []).append(("requested", reader.paths[symbol]))
    _variables(file, reader, result, symbol_values)
    for place, row in enumerate(file.flow.imports):
        if row.name == "*":
            result.stars.append(reader.describe_import(place))
        elif row.form in ("export", "mod") or row.form.startswith(INLINE_MODULE):
            for name in {row.alias or row.name, row.module.rpartition("::")[2]}:
                result.names.setdefault(name, []).append(("import", reader.describe_import(place)))
    _symbols(file, reader, result, symbol_values)
    return result


def _variables(
    file: LoadedFlow, reader: ExpressionDescriber, result: FileInterface, symbol_values: list[list[Any]]
) -> None:
    """Add what is bound to the names that other files can refer to."""
    for variable in range(file.flow.whole):
        if not reader.is_accessible(variable):
            continue
        name = file.names[file.variable_name[variable]]
        values = tuple(reader.digest(value) for value in file.values[variable])
        scope, symbol = reader.describe_scope(file.variable_scope[variable]), file.variable_symbol[variable]
        if name == _USING[0] and file.language in C_FAMILY:
            result.directives.append((scope, values))
        elif name == _USING[1] and file.language in C_FAMILY:
            for value, digest in zip(file.values[variable], values, strict=True):
                last = file.names[file.right[value] if file.op[value] == Op.MEMBER else file.left[value]]
                result.names.setdefault(last, []).append(("using", scope, digest))
        elif not symbol or any(file.op[value] in (Op.IMPORT, Op.PACKAGE) for value in file.values[variable]):
            result.names.setdefault(name, []).append(("variable", scope, values))
        if symbol:
            symbol_values[symbol - 1].append(("bound", values))


def _symbols(
    file: LoadedFlow, reader: ExpressionDescriber, result: FileInterface, symbol_values: list[list[Any]]
) -> None:
    flow, paths = file.flow, reader.paths
    flags, forms, arity = flow.symbol_flags, file.form, file.arity
    within = file.within
    for symbol, parent in enumerate(file.symbol_parent):
        if parent and is_used_implicitly(file.names[file.symbol_name[symbol]]) and file.kind(parent - 1) in TYPE_KINDS:
            symbol_values[parent - 1].append(
                ("has", paths[symbol], file.symbol_kind[symbol], tuple(symbol_values[symbol]))
            )
        elif parent and file.kind(parent - 1) in FUNCTIONS and file.kind(symbol) in FUNCTIONS:
            # Wrappers that a decorator puts around functions.
            symbol_values[parent - 1].append(("holds", paths[symbol]))
    for symbol, path in enumerate(paths):
        name, kind = file.names[file.symbol_name[symbol]], file.kind(symbol)
        digest = hash(tuple(symbol_values[symbol]))
        around = tuple(file.symbol_kind[place] for place in enclosing_symbols(file, symbol))
        row: tuple[Any, ...] = (
            path, file.symbol_kind[symbol], around, flags[symbol] if flags else 0,
            file.names[within[symbol] - 1] if within and within[symbol] else "",
            arity[symbol] if arity else 0, forms[symbol] if forms else 0, digest if not reader.tracks_values else 0,
            tuple(owner for owner, _ in owner_name_pairs(file, symbol)),
        )  # fmt: skip
        if kind is Kind.NAMESPACE and file.language in C_FAMILY and flags and flags[symbol] & INLINE:
            result.inline_namespaces.add(path)
        result.values[path] = (symbol, digest)
        result.names.setdefault(name, []).append(row)


def enclosing_symbols(file: LoadedFlow, symbol: int) -> Iterator[int]:
    """Yield the symbols around a symbol, nearest first."""
    parent = file.symbol_parent[symbol]
    while parent:
        yield parent - 1
        parent = file.symbol_parent[parent - 1]


def owner_name_pairs(file: LoadedFlow, symbol: int) -> Iterator[tuple[str, str]]:
    """Yield a symbol of the C family as pairs of a class that it may be a member of ("" for none) and its name.

    Two symbols that have no pair in common are never the same.
    """
    name, parent = file.names[file.symbol_name[symbol]], file.symbol_parent[symbol]
    within = file.within
    qualified = file.names[within[symbol] - 1] if within and within[symbol] else ""
    if qualified:
        yield qualified.rpartition("::")[2], name
    if parent and file.kind(parent - 1) is not Kind.NAMESPACE:
        yield file.names[file.symbol_name[parent - 1]], name
        if not file.flow.symbol_flags or not file.flow.symbol_flags[symbol] & FRIEND:
            return
    yield "", name


def mentioned_name_digests(file: LoadedFlow) -> bytes:
    """Return the digests of the names that a file may look up in other files, sorted and packed."""
    flow, names = file.flow, file.names
    mentioned: set[str] = {row.name for row in flow.imports}
    if any(row.name == "default" or (row.form == "require" and not row.name) for row in flow.imports):
        mentioned.add(WHOLE_MODULE)
    free = file.language not in value_tracking_languages() or any(row.name == "*" for row in flow.imports)
    used = {name for op, name in zip(file.op, file.right, strict=True) if op == _MEMBER}
    if free:
        used |= {name for op, name in zip(file.op, file.left, strict=True) if op == _LOOKUP}
    used |= {name for parent, name in zip(file.symbol_parent, file.symbol_name, strict=True) if free or parent}
    for (_, relation), values in file.relations.items():
        if relation == SymbolRelation.ASKS:
            used |= {file.left[value] for value in values}
    mentioned.update(map(names.__getitem__, used))
    if file.language not in value_tracking_languages():
        mentioned.update(_names_in_paths(file))
    return array("I", sorted({name_digest(name) for name in mentioned})).tobytes()


def _names_in_paths(file: LoadedFlow) -> Iterable[str]:
    for row in file.flow.imports:
        yield row.alias
        yield from row.module.replace("::", "/").replace(".", "/").split("/")[-1:]
    for place in set(file.within):
        yield from file.names[place - 1].split("::") if place else ()
    if file.language == "rust" and not file.name_index.keys().isdisjoint(("crate", "super")):
        yield from ("lib", "main", "mod")  # the files that such a path starts at, if they appear or disappear
