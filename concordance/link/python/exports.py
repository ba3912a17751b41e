"""The names that a Python module exports and that a document documents, from which public names are computed.

In: a file's flow with the targets of its imports; or the definitions and imports of a document. Out: `ExportedNames`,
or dotted names. Both depend only on the file and on paths, never on ids, so they stay valid until the file is linked
again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from concordance.base.model import KINDS, ROLES, Flow, Import, Kind, Op, Role, Target, unpack_column
from concordance.facts.codec import SymbolHead

SELF_ALIAS, UNUSED = 1, 2  # flags of `ReexportedName`: `import x as x`; not used in the module itself
_HOLDERS = frozenset((KINDS.index(Kind.VARIABLE), KINDS.index(Kind.CONSTANT)))
_CLASS = KINDS.index(Kind.CLASS)
_NO_USE = (1 << ROLES.index(Role.IMPORT)) | (1 << ROLES.index(Role.MENTION))
_WRITE = 1 << ROLES.index(Role.WRITE)
_DOCUMENTED = frozenset((Kind.CLASS, Kind.FUNCTION, Kind.VARIABLE, Kind.TYPE, Kind.CONSTANT))
_CURRENT = frozenset(("currentmodule", "module", "automodule"))
_NAMING = frozenset(("autoclass", "autofunction", "autodata", "autoexception", "autosummary", "autodecorator",
                     "automethod", "autoattribute", "autoproperty"))  # fmt: skip


class ReexportedName(NamedTuple):
    """A name that a module imports from another."""

    name: str
    paths: tuple[str, ...]  # the files of the other module
    of: str  # its name there; "" for the module itself
    flags: int = 0


class ExportedNames(NamedTuple):
    """What one module has at its top level."""

    own: tuple[str, ...] = ()  # classes, functions and the like
    held: tuple[str, ...] = ()  # variables; an import of the same name takes precedence
    classes: tuple[str, ...] = ()  # including nested ones, by qualified name
    brought: tuple[ReexportedName, ...] = ()
    stars: tuple[tuple[str, ...], ...] = ()  # the files of the modules of its star imports
    aliases: tuple[tuple[str, str], ...] = ()  # variables that are bound to another of its names
    exports: tuple[str, ...] | None = None


class ModuleExports(NamedTuple):
    """The exports of all modules and documents, by path."""

    modules: dict[str, ExportedNames]
    documents: dict[str, tuple[tuple[str, str], ...]]  # names, each with the current module at that place
    aside: list[str]  # modules whose definitions are not meant to be imported
    roots: list[str]  # folders that modules are imported from, whatever surrounds them


def pack_exports(said: ModuleExports) -> bytes:
    """Encode the exports of all files."""
    modules, documents = dict(sorted(said.modules.items())), dict(sorted(said.documents.items()))
    return msgspec.msgpack.encode(ModuleExports(modules, documents, said.aside, said.roots))


def unpack_exports(data: bytes) -> ModuleExports:
    """Decode the exports of all files."""
    return msgspec.msgpack.decode(data, type=ModuleExports) if data else ModuleExports({}, {}, [], [])


def is_encodable(path: str) -> bool:
    """True if a path can be encoded; for one that cannot, nothing is stored."""
    return not any("\ud800" <= sign <= "\udfff" for sign in path)


def read_exports(flow: Flow, targets: Sequence[Target]) -> ExportedNames:
    """Return what a module has at its top level."""
    own: dict[str, None] = {}
    held: dict[str, None] = {}
    classes: dict[int, str] = {}
    parents, words = unpack_column(flow.symbol_parent), unpack_column(flow.symbol_name)
    for place, (kind, parent, word) in enumerate(zip(flow.symbol_kind, parents, words, strict=True)):
        name = flow.names[word]
        if not parent:
            (held if kind in _HOLDERS else own)[name] = None
        if kind == _CLASS and (not parent or parent - 1 in classes):
            classes[place] = f"{classes[parent - 1]}.{name}" if parent else name
    used, written = _used(flow)
    brought, stars = [], []
    for row, target in zip(flow.imports, targets, strict=False):
        bound = row.alias or row.name
        if not target.paths or not bound or row.scope:
            continue
        if row.name == "*":
            stars.append(target.paths)
            continue
        if bound in written and bound not in own and bound not in held:
            continue  # the write is not an assignment, which would make it a variable: `del` removes it
        flags = (SELF_ALIAS if row.alias and row.alias == row.name else 0) | (0 if bound in used else UNUSED)
        brought.append(ReexportedName(bound, target.paths, row.name, flags))
    return ExportedNames(
        tuple(own), tuple(held), tuple(dict.fromkeys(classes.values())), tuple(dict.fromkeys(brought)), tuple(stars),
        tuple(_aliases(flow, held)), flow.exports or None,
    )  # fmt: skip


def _variables(flow: Flow) -> dict[int, str]:
    """Return the names that the module itself binds, by variable."""
    rows = zip(unpack_column(flow.variable_scope)[: flow.whole], unpack_column(flow.variable_name), strict=False)
    return {place: flow.names[word] for place, (scope, word) in enumerate(rows) if scope == 0}


def _used(flow: Flow) -> tuple[set[str], set[str]]:
    """Return the names that the module uses rather than only re-exports, and those that it writes at its top level."""
    homes, names, left = unpack_column(flow.variable_scope), unpack_column(flow.variable_name), unpack_column(flow.left)
    used, written = set(), set()
    for user, expression, roles in zip(
        unpack_column(flow.user), unpack_column(flow.used), unpack_column(flow.roles), strict=True
    ):
        if roles & ~_NO_USE and flow.op[expression] == Op.NAME and homes[left[expression]] == 0:
            name = flow.names[names[left[expression]]]
            used.add(name)
            if roles & _WRITE and not user:
                written.add(name)
    return used, written


def _aliases(flow: Flow, held: dict[str, None]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are bound once, to another name of the module."""
    values: dict[int, list[int]] = {}
    for variable, value in zip(unpack_column(flow.bound_variable), unpack_column(flow.bound_value), strict=True):
        values.setdefault(variable, []).append(value)
    left, names = unpack_column(flow.left), unpack_column(flow.variable_name)
    homes = unpack_column(flow.variable_scope)
    for variable, name in _variables(flow).items():
        bound = values.get(variable, ())
        if name in held and len(bound) == 1 and flow.op[bound[0]] == Op.NAME and homes[left[bound[0]]] == 0:
            other = flow.names[names[left[bound[0]]]]
            if other != name:
                yield name, other


def read_documented_names(symbols: Sequence[SymbolHead], imports: Sequence[Import]) -> tuple[tuple[str, str], ...]:
    """Return the names that a document documents, each with the current module at that place ("" for none)."""
    found = {
        (one.module, one.name.partition("(")[0].strip()) if one.name else ("", one.module): None
        for one in imports if one.form in _NAMING
    }  # fmt: skip
    current = sorted((one.line, one.module) for one in imports if one.form in _CURRENT)
    for one in symbols:
        if one.declaration and one.kind in _DOCUMENTED and one.parent < 0:
            before = bisect_right(current, (one.line, "")) - 1
            found[current[before][1] if before >= 0 else "", one.name] = None
    return tuple(found)
