"""Joins Python names with the C and C++ code behind them, with their Python users, and with stubs.

In: the ends of the bridges `pybind` (pybind11, nanobind) and `cpython` (the C API). Out: `Bridge` rows: `binds` (the
place that binds a name, and the function or class behind it), `wraps` (a lambda that calls exactly one function of the
repository), `asks` (Python code that uses the name), `runs` (what runs when a lambda or a class is called), `slot` (a
field of a type that has no name in Python) and `declares` (a stub's symbol).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.kinds import C_FAMILY
from concordance.base.model import ONLY_DEFINITION, Bridge, ForeignName, Role, Trust, role_bit
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, LinkedName, StatedEnd
from concordance.link.python.binding_names import (
    Modules,
    PythonName,
    absolute_module,
    append_path,
    end_detail,
)
from concordance.link.python.packages import STUBS_AND_TEMPLATES

_READERS = ("cpython", "pybind")
_FUNCTIONS = frozenset(("function", "method", "macro"))
_FIELDS = frozenset(("field", "property", "variable", "constant", "enumerator"))
_TYPES = frozenset(("class", "struct", "union", "enum", "type", "variable"))
_KINDS = {"class": _TYPES, "constructor": _TYPES | _FUNCTIONS, "field": _FIELDS, "value": _FIELDS | _FUNCTIONS}
_CONSTRUCTORS = ("__new__", "__init__")
_MAX_CANDIDATES = 3  # the most definitions of a name that are still listed as candidates
_ROLES = (Role.CALL, Role.INHERIT, Role.IMPORT, Role.TYPE, Role.READ)


class BoundName(NamedTuple):
    """A Python name and what is behind it."""

    end: StatedEnd
    names: tuple[PythonName, ...]
    target: LinkedName
    is_enclosing_symbol: bool = False  # True if the target is only the symbol around the place
    wraps: tuple[LinkedName, ...] = ()  # the functions that a lambda calls

    @property
    def is_module(self) -> bool:
        """True if the name is a module's."""
        return end_detail(self.end, "as") == "module" or end_detail(self.end, "value").startswith(
            ("def:", "is:", "init:")
        )


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join bindings with their Python users and with the stubs that declare them."""
    for bridge in _READERS:
        yield from _join(context, bridge)


def _join(context: BridgeContext, bridge: str) -> Iterator[Bridge]:
    modules = context.once(Modules)
    table = [binding for binding in context.once(_bound_names) if binding.end.end.bridge == bridge]
    bound_names: dict[str, list[BoundName]] = {}
    for binding in table:
        yield from _binds(binding)
        for named in binding.names:
            bound_names.setdefault(named.name, []).append(binding)
    exported = _exported_values(modules, table)
    for name, bound in exported.items():
        bound_names.setdefault(name, []).extend(bound)
    for name, bound in _star_imports(context, bound_names).items():
        bound_names.setdefault(name, bound)
    for name in sorted(bound_names):
        for ask in context.uses_of_foreign_name(name):
            for binding in bound_names[name]:
                yield from _uses(binding, name, ask, bridge)
            for constructor in _CONSTRUCTORS if ask.roles & role_bit(Role.CALL) else ():
                for binding in bound_names.get(f"{name}.{constructor}", ()):
                    yield from _constructs(binding, name, ask, bridge)
    yield from _declares(context, modules, bound_names, bridge)


def _bound_names(context: BridgeContext) -> list[BoundName]:
    return list(Bindings(context, context.once(Modules)).all())


def _trust(binding: BoundName, name: PythonName) -> Trust:
    return min(name.trust, binding.target.trust)


def _target_or_binding(binding: BoundName) -> LinkedName:
    """Return what is behind a name; if the repository does not define it, the place that binds it."""
    if binding.target.target:
        return binding.target
    return LinkedName(binding.end.id, binding.target.trust, f"bound here, {binding.target.by}")


def _binds(binding: BoundName) -> Iterator[Bridge]:
    stated, target = binding.end, binding.target
    kind = end_detail(stated, "as")
    details = (("as", kind),) if kind else ()
    for name in binding.names or (PythonName(stated.end.name, Trust.EXACT),):
        row = stated.to(target.target, _trust(binding, name), target.by, name=name.name, more=details)
        yield row._replace(says="slot" if kind == "slot" and not name.name.endswith("__") else "binds")
        if len(binding.wraps) == 1:
            inner = binding.wraps[0]
            trust = min(name.trust, inner.trust)
            yield stated.to(inner.target, trust, inner.by, name=name.name, more=details)._replace(says="wraps")


def _uses(binding: BoundName, name: str, ask: ForeignName, bridge: str) -> Iterator[Bridge]:
    """Join a user of a name with what is behind the name; `runs` rows are added only for calls."""
    named = next((n for n in binding.names if n.name == name), PythonName(name, Trust.VIA_IMPORT))
    role = next((role for role in _ROLES if ask.roles & role_bit(role)), Role.MENTION)
    target = _target_or_binding(binding)
    writes, kind = bool(ask.roles & role_bit(Role.WRITE)), end_detail(binding.end, "as")
    if (kind == "setter" and not writes) or (kind == "getter" and ask.roles == role_bit(Role.WRITE)):
        return
    if binding.is_module and not ask.roles & role_bit(Role.IMPORT):  # `a.b` in `a.b.c`, which is requested itself
        return
    if target.target:
        shown = Role.MENTION if binding.is_enclosing_symbol or target is not binding.target else role
        trust = min(_trust(binding, named), Trust.VIA_IMPORT)
        yield Bridge(bridge, "asks", name, ask.user, -1, target.target, trust, target.by, shown)
    if role == Role.CALL:
        for inner in binding.wraps:
            trust = min(named.trust, inner.trust, Trust.VIA_IMPORT)
            yield Bridge(bridge, "runs", name, ask.user, -1, inner.target, trust, "called by the lambda", role)


def _constructs(binding: BoundName, name: str, ask: ForeignName, bridge: str) -> Iterator[Bridge]:
    """Join a call of a class with what creates its instance."""
    for inner in binding.wraps if binding.is_enclosing_symbol else (binding.target,):
        if inner.target:
            trust = min(inner.trust, Trust.VIA_IMPORT)
            yield Bridge(bridge, "runs", name, ask.user, -1, inner.target, trust, "makes an instance", Role.CALL)


def _declares(
    context: BridgeContext, modules: Modules, bound_names: dict[str, list[BoundName]], bridge: str
) -> Iterator[Bridge]:
    """Join the symbols of stubs whose names are bound."""
    heads = {name.rpartition(".")[0] for name in bound_names}
    for row in context.files:
        if not row.path.endswith(STUBS_AND_TEMPLATES):
            continue
        module = modules.stub(row)
        if not any(head == module or head.startswith(f"{module}.") for head in heads):
            continue
        for symbol in context.symbols(row):
            name = f"{module}.{symbol.key.partition('+')[0]}"
            for binding in bound_names.get(name, ()):
                target = _target_or_binding(binding)
                named = next((n for n in binding.names if n.name == name), PythonName(name, Trust.VIA_IMPORT))
                trust = min(_trust(binding, named), Trust.VIA_IMPORT)
                yield Bridge(bridge, "declares", name, symbol.id, -1, target.target, trust, target.by)


def _exported_values(modules: Modules, table: list[BoundName]) -> dict[str, list[BoundName]]:
    """Return the values of enumerations that are also exported as names of the module."""
    exporting = [stated for stated in modules.ends if stated.end.says == "exports"]
    enums = {named.name for stated in exporting for named in append_path(modules.of(stated), stated.end.name)}
    values: dict[str, list[BoundName]] = {}
    for binding in table:
        for named in binding.names if end_detail(binding.end, "as") == "value" else ():
            scope, _, last = named.name.rpartition(".")
            if scope in enums:
                values.setdefault(f"{scope.rpartition('.')[0]}.{last}", []).append(binding)
    return values


def _star_imports(context: BridgeContext, bound_names: dict[str, list[BoundName]]) -> dict[str, list[BoundName]]:
    """Return the names that users request from a module with a star import of a compiled module.

    A star import takes only public names.
    """
    starred: dict[str, list[BoundName]] = {}
    modules = {star_module for name in bound_names if (star_module := name.rpartition(".")[0])}
    stars: dict[str, list[str]] = {}
    for stated in context.ends("extension", "takes all"):
        module = absolute_module(context.module_of(stated.file.path), stated.file.path, stated.end.name)
        if module in modules:
            stars.setdefault(context.module_of(stated.file.path), []).append(module)
    for star_module, taken in stars.items():
        for name in context.foreign_names_with(star_module.rpartition(".")[2]):
            rest = name.removeprefix(f"{star_module}.")
            for module in taken if rest != name and not rest.startswith("_") else ():
                bound = bound_names.get(f"{module}.{rest}")
                if bound:
                    starred.setdefault(name, bound)
    return starred


class Bindings:
    """Finds what is behind each bound name."""

    def __init__(self, context: BridgeContext, modules: Modules) -> None:
        self._context, self._modules = context, modules

    def all(self) -> Iterator[BoundName]:
        """Yield every bound name, by path, in the order of the text."""
        called: dict[tuple[int, str, str, str], list[StatedEnd]] = {}
        for stated in self._modules.ends:
            if stated.end.says == "wraps":
                called.setdefault(_lambda(stated), []).append(stated)
        for stated in self._modules.ends:
            if stated.end.says == "binds":
                names = self._modules.names(stated)
                if "{" in stated.end.name and not names:
                    continue
                yield from self._bindings(stated, names, called.get(_lambda(stated), []))
            elif stated.end.says == "adds":
                yield self._addition(stated)

    def _bindings(
        self, stated: StatedEnd, names: tuple[PythonName, ...], calls: list[StatedEnd]
    ) -> Iterator[BoundName]:
        if end_detail(stated, "as") == "module":
            yield BoundName(stated, names, LinkedName(stated.id, Trust.EXACT, "a module made here"), True)
        elif end_detail(stated, "lambda"):
            wraps = {m.target: m for call in calls for m in self._linked_targets(call, _FUNCTIONS)}
            yield BoundName(
                stated, names, LinkedName(stated.id, Trust.EXACT, "a lambda here"), True, tuple(wraps.values())
            )
        elif end_detail(stated, "as") == "attribute":
            yield BoundName(stated, names, LinkedName(stated.id, Trust.EXACT, "a value set here"), True)
        else:
            for target in self._targets(stated, _KINDS.get(end_detail(stated, "as"), _FUNCTIONS | _FIELDS)):
                yield BoundName(stated, names, target)

    def _addition(self, stated: StatedEnd) -> BoundName:
        """Return what a call adds to a module: a type, or a value."""
        key = self._modules.type_of(stated) if end_detail(stated, "value").startswith("type:") else None
        kind = self._modules.types[key] if key is not None else None
        name = stated.end.name or (kind.end.name.rpartition(".")[2] if kind is not None else "")
        names = append_path(self._modules.of(stated), name)
        if kind is not None:
            place = int(end_detail(kind, "symbol") or -1)
            if place >= 0:
                by = "the type that is added" if kind.file.id == stated.file.id else "the type of this name"
                return BoundName(stated, names, LinkedName(kind.file.ids.id_at(place), Trust.EXACT, by))
            return BoundName(stated, names, LinkedName(kind.id, Trust.EXACT, "where its type is described"), True)
        targets = [m for m in self._context.targets_of(stated) if m.trust >= Trust.VIA_IMPORT and self._is_value(m)]
        if targets:
            return BoundName(stated, names, targets[0])
        return BoundName(stated, names, LinkedName(stated.id, Trust.EXACT, "a value set here"), True)

    def _is_value(self, target: LinkedName) -> bool:
        place = self._context.symbol(target.target)
        return place is not None and place.kind in _FUNCTIONS | _FIELDS | _TYPES

    def _targets(self, stated: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        """Return the targets of a name: the linker's, else the only symbol that has it."""
        return self._linked_targets(stated, kinds) or self._targets_by_name(stated, kinds)

    def _linked_targets(self, stated: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        known = [
            (m, self._context.symbol(m.target)) for m in self._context.targets_of(stated) if m.trust > Trust.CANDIDATE
        ]
        linked = [(m, place) for m, place in known if place is not None and place.kind in kinds]
        if not linked:
            return []
        best = max(m.trust for m, _ in linked)
        linked = [pair for pair in linked if pair[0].trust == best]
        return [next((m for m, place in linked if not place.declaration), linked[0][0])]

    def _targets_by_name(self, stated: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        *within, name = stated.end.text.split("::")
        places = [place for place in self._context.symbols_named(name, C_FAMILY) if place.kind in kinds]
        scopes = [scope for scope in within if scope]
        if scopes:
            places = [place for place in places if _is_within(place, scopes)]
        defined = [place for place in places if not place.declaration] or places
        if len(defined) == 1:
            return [LinkedName(defined[0].id, Trust.UNIQUE_NAME, ONLY_DEFINITION)]
        if 1 < len(defined) <= _MAX_CANDIDATES and scopes:
            return [LinkedName(place.id, Trust.CANDIDATE, "one of a few definitions of this name") for place in defined]
        return [
            LinkedName(0, Trust.UNIQUE_NAME, "several of this name" if places else "no definition of this name found")
        ]


def _lambda(stated: StatedEnd) -> tuple[int, str, str, str]:
    return stated.file.id, end_detail(stated, "in"), stated.end.name, end_detail(stated, "lambda")


def _is_within(place: SymbolPlace, scopes: list[str]) -> bool:
    """True if a symbol is in the scope that its name is written with: for `a::b::f`, at least in `b`."""
    return scopes[-1] in place.parent_key.split(".")
