"""Join Python names with the C and C++ code behind them, with their Python users, and with stubs.

In: the ends of the bridges pybind11 and C API. Out: `Bridge` rows: `binds` (the place that binds a name, and the
function or class behind it), `wraps` (a lambda that calls exactly one function of the repository), `asks` (Python code
that uses the name), `runs` (what runs when a lambda or a class is called), `slot` (a field of a type that has no name
in Python) and `declares` (a stub's symbol).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.kinds import C_FAMILY
from concordance.base.model import ROLES, Bridge, ForeignName, Role, Trust
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, LinkedName, StatedEnd
from concordance.link.python.bindings.module_names import (
    STUBS,
    Modules,
    PythonName,
    absolute_module,
    append_path,
    end_detail,
)

_FUNCTIONS = frozenset(("function", "method", "macro"))
_FIELDS = frozenset(("field", "property", "variable", "constant", "enumerator"))
_TYPES = frozenset(("class", "struct", "union", "enum", "type", "variable"))
_KINDS = {"class": _TYPES, "constructor": _TYPES | _FUNCTIONS, "field": _FIELDS, "value": _FIELDS | _FUNCTIONS}
_MAKERS = ("__new__", "__init__")
_MOST = 3  # the most definitions of a name that are still listed as candidates
_BITS = {role: 1 << place for place, role in enumerate(ROLES)}
_ROLES = (Role.CALL, Role.INHERIT, Role.IMPORT, Role.TYPE, Role.READ)


class BoundName(NamedTuple):
    """A Python name and what is behind it."""

    stated: StatedEnd
    names: tuple[PythonName, ...]
    target: LinkedName
    around: bool = False  # True if the target is only the symbol around the place
    wraps: tuple[LinkedName, ...] = ()  # the functions that a lambda calls

    @property
    def is_module(self) -> bool:
        """True if the name is a module's."""
        return end_detail(self.stated, "as") == "module" or end_detail(self.stated, "value").startswith(
            ("def:", "is:", "init:")
        )


def join(crossing: BridgeContext, bridge: str) -> Iterator[Bridge]:
    """Yield the rows of one of the two bridges."""
    modules = crossing.once(Modules)
    table = [one for one in crossing.once(_all) if one.stated.end.bridge == bridge]
    known: dict[str, list[BoundName]] = {}
    for one in table:
        yield from _binds(one)
        for named in one.names:
            known.setdefault(named.name, []).append(one)
    exported = _exported(modules, table)
    for name, bound in exported.items():
        known.setdefault(name, []).extend(bound)
    for name, bound in _star_imported(crossing, known).items():
        known.setdefault(name, bound)
    for name in sorted(known.keys() & crossing.asks.keys()):
        for ask in crossing.asks[name]:
            for one in known[name]:
                yield from _asks(one, name, ask, bridge)
            for made in _MAKERS if ask.roles & _BITS[Role.CALL] else ():
                for one in known.get(f"{name}.{made}", ()):
                    yield from _made(one, name, ask, bridge)
    yield from _declares(crossing, modules, known, bridge)


def _all(crossing: BridgeContext) -> list[BoundName]:
    return list(Bindings(crossing, crossing.once(Modules)).all())


def _trust(one: BoundName, name: PythonName) -> Trust:
    return min(name.trust, one.target.trust)


def _target_or_binding(one: BoundName) -> LinkedName:
    """Return what is behind a name; if the repository does not define it, the place that binds it."""
    if one.target.target:
        return one.target
    return LinkedName(one.stated.id, one.target.trust, f"bound here, {one.target.by}")


def _binds(one: BoundName) -> Iterator[Bridge]:
    stated, target = one.stated, one.target
    kind = end_detail(stated, "as")
    details = (("as", kind),) if kind else ()
    for name in one.names or (PythonName(stated.end.name, Trust.EXACT),):
        row = stated.to(target.target, _trust(one, name), target.by, name=name.name, more=details)
        yield row._replace(says="slot" if kind == "slot" and not name.name.endswith("__") else "binds")
        if len(one.wraps) == 1:
            inner = one.wraps[0]
            trust = min(name.trust, inner.trust)
            yield stated.to(inner.target, trust, inner.by, name=name.name, more=details)._replace(says="wraps")


def _asks(one: BoundName, name: str, ask: ForeignName, bridge: str) -> Iterator[Bridge]:
    """Join a user of a name with what is behind the name; `runs` rows are added only for calls."""
    named = next((n for n in one.names if n.name == name), PythonName(name, Trust.VIA_IMPORT))
    role = next((role for role in _ROLES if ask.roles & _BITS[role]), Role.MENTION)
    target = _target_or_binding(one)
    writes, kind = bool(ask.roles & _BITS[Role.WRITE]), end_detail(one.stated, "as")
    if (kind == "setter" and not writes) or (kind == "getter" and ask.roles == _BITS[Role.WRITE]):
        return
    if one.is_module and not ask.roles & _BITS[Role.IMPORT]:  # `a.b` in `a.b.c`, which is requested itself
        return
    if target.target:
        shown = Role.MENTION if one.around or target is not one.target else role
        trust = min(_trust(one, named), Trust.VIA_IMPORT)
        yield Bridge(bridge, "asks", name, ask.user, -1, target.target, trust, target.by, shown)
    if role == Role.CALL:
        for inner in one.wraps:
            trust = min(named.trust, inner.trust, Trust.VIA_IMPORT)
            yield Bridge(bridge, "runs", name, ask.user, -1, inner.target, trust, "called by the lambda", role)


def _made(one: BoundName, name: str, ask: ForeignName, bridge: str) -> Iterator[Bridge]:
    """Join a call of a class with what creates its instance."""
    for inner in one.wraps if one.around else (one.target,):
        if inner.target:
            trust = min(inner.trust, Trust.VIA_IMPORT)
            yield Bridge(bridge, "runs", name, ask.user, -1, inner.target, trust, "makes an instance", Role.CALL)


def _declares(
    crossing: BridgeContext, modules: Modules, known: dict[str, list[BoundName]], bridge: str
) -> Iterator[Bridge]:
    """Join the symbols of stubs whose names are bound."""
    heads = {name.rpartition(".")[0] for name in known}
    for row in crossing.files:
        if not row.path.endswith(STUBS):
            continue
        module = modules.stub(row)
        if not any(head == module or head.startswith(f"{module}.") for head in heads):
            continue
        for symbol in crossing.symbols(row):
            name = f"{module}.{symbol.key.partition('+')[0]}"
            for one in known.get(name, ()):
                target = _target_or_binding(one)
                named = next((n for n in one.names if n.name == name), PythonName(name, Trust.VIA_IMPORT))
                trust = min(_trust(one, named), Trust.VIA_IMPORT)
                yield Bridge(bridge, "declares", name, symbol.id, -1, target.target, trust, target.by)


def _exported(modules: Modules, table: list[BoundName]) -> dict[str, list[BoundName]]:
    """Return the values of enumerations that are also exported as names of the module."""
    exporting = [one for one in modules.stated if one.end.says == "exports"]
    enums = {named.name for one in exporting for named in append_path(modules.of(one), one.end.name)}
    found: dict[str, list[BoundName]] = {}
    for one in table:
        for named in one.names if end_detail(one.stated, "as") == "value" else ():
            home, _, last = named.name.rpartition(".")
            if home in enums:
                found.setdefault(f"{home.rpartition('.')[0]}.{last}", []).append(one)
    return found


def _star_imported(crossing: BridgeContext, known: dict[str, list[BoundName]]) -> dict[str, list[BoundName]]:
    """Return the names that users request from a module with a star import of a compiled module.

    A star import takes only public names.
    """
    found: dict[str, list[BoundName]] = {}
    homes = {home for name in known if (home := name.rpartition(".")[0])}
    stars: dict[str, list[str]] = {}
    for one in crossing.ends("extension", "takes all"):
        module = absolute_module(crossing.module_of(one.file.path), one.file.path, one.end.name)
        if module in homes:
            stars.setdefault(crossing.module_of(one.file.path), []).append(module)
    for name in crossing.asks if stars else ():
        parts = name.split(".")
        for place in range(1, len(parts)):
            for module in stars.get(".".join(parts[:place]), ()):
                bound = known.get(".".join([module, *parts[place:]]))
                if bound and not parts[place].startswith("_"):
                    found.setdefault(name, bound)
    return found


class Bindings:
    """Finds what is behind each bound name."""

    def __init__(self, crossing: BridgeContext, modules: Modules) -> None:
        self._crossing, self._modules = crossing, modules

    def all(self) -> Iterator[BoundName]:
        """Yield every bound name, by path, in the order of the text."""
        called: dict[tuple[int, str, str, str], list[StatedEnd]] = {}
        for one in self._modules.stated:
            if one.end.says == "wraps":
                called.setdefault(_lambda(one), []).append(one)
        for one in self._modules.stated:
            if one.end.says == "binds":
                names = self._modules.names(one)
                if "{" in one.end.name and not names:
                    continue
                yield from self._bound(one, names, called.get(_lambda(one), []))
            elif one.end.says == "adds":
                yield self._added(one)

    def _bound(self, one: StatedEnd, names: tuple[PythonName, ...], calls: list[StatedEnd]) -> Iterator[BoundName]:
        if end_detail(one, "as") == "module":
            yield BoundName(one, names, LinkedName(one.id, Trust.EXACT, "a module made here"), True)
        elif end_detail(one, "lambda"):
            wraps = {m.target: m for call in calls for m in self._linked(call, _FUNCTIONS)}
            yield BoundName(one, names, LinkedName(one.id, Trust.EXACT, "a lambda here"), True, tuple(wraps.values()))
        elif end_detail(one, "as") == "attribute":
            yield BoundName(one, names, LinkedName(one.id, Trust.EXACT, "a value set here"), True)
        else:
            for target in self._meant(one, _KINDS.get(end_detail(one, "as"), _FUNCTIONS | _FIELDS)):
                yield BoundName(one, names, target)

    def _added(self, one: StatedEnd) -> BoundName:
        """Return what a call adds to a module: a type, or a value."""
        key = self._modules.type_of(one) if end_detail(one, "value").startswith("type:") else None
        kind = self._modules.types[key] if key is not None else None
        name = one.end.name or (kind.end.name.rpartition(".")[2] if kind is not None else "")
        names = append_path(self._modules.of(one), name)
        if kind is not None:
            place = int(end_detail(kind, "symbol") or -1)
            if place >= 0:
                by = "the type that is added" if kind.file.id == one.file.id else "the type of this name"
                return BoundName(one, names, LinkedName(kind.file.base + 1 + place, Trust.EXACT, by))
            return BoundName(one, names, LinkedName(kind.id, Trust.EXACT, "where its type is described"), True)
        meant = [m for m in self._crossing.meant(one) if m.trust >= Trust.VIA_IMPORT and self._is_value(m)]
        if meant:
            return BoundName(one, names, meant[0])
        return BoundName(one, names, LinkedName(one.id, Trust.EXACT, "a value set here"), True)

    def _is_value(self, meant: LinkedName) -> bool:
        place = self._crossing.place(meant.target)
        return place is not None and place.kind in _FUNCTIONS | _FIELDS | _TYPES

    def _meant(self, one: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        """Return the targets of a name: the linker's, else the only symbol that has it."""
        return self._linked(one, kinds) or self._named(one, kinds)

    def _linked(self, one: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        known = [(m, self._crossing.place(m.target)) for m in self._crossing.meant(one) if m.trust > Trust.CANDIDATE]
        linked = [(m, place) for m, place in known if place is not None and place.kind in kinds]
        if not linked:
            return []
        best = max(m.trust for m, _ in linked)
        linked = [pair for pair in linked if pair[0].trust == best]
        return [next((m for m, place in linked if not place.declaration), linked[0][0])]

    def _named(self, one: StatedEnd, kinds: frozenset[str]) -> list[LinkedName]:
        *within, name = one.end.text.split("::")
        found = [place for place in self._crossing.named(name, C_FAMILY) if place.kind in kinds]
        homes = [home for home in within if home]
        if homes:
            found = [place for place in found if _is_within(place, homes)]
        defined = [place for place in found if not place.declaration] or found
        if len(defined) == 1:
            return [LinkedName(defined[0].id, Trust.UNIQUE_NAME, "only definition of this name")]
        if 1 < len(defined) <= _MOST and homes:
            return [LinkedName(place.id, Trust.CANDIDATE, "one of a few definitions of this name") for place in defined]
        return [
            LinkedName(0, Trust.UNIQUE_NAME, "several of this name" if found else "no definition of this name found")
        ]


def _lambda(one: StatedEnd) -> tuple[int, str, str, str]:
    return one.file.id, end_detail(one, "in"), one.end.name, end_detail(one, "lambda")


def _is_within(place: SymbolPlace, homes: list[str]) -> bool:
    """True if a symbol is in the scope that its name is written with: for `a::b::f`, at least in `b`."""
    return homes[-1] in place.parent_key.split(".")
