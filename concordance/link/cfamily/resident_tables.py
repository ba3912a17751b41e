"""Updates the C family's tables in a long-running process, from one update to the next.

In: the tables from the last update, and the files that were read again. Out: tables equal to newly built ones, or None
if that cannot be guaranteed: when there are other files, namespaces or classes. Building the tables means reading every
symbol of the family, while most edits change the symbols of one file only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Flow, unpack_column
from concordance.extract.cfamily.symbol_flags import ALIAS, FRIEND, INLINE
from concordance.facts.records import Linkable
from concordance.link.cfamily.include_graph import IncludeGraph, included_files, is_header
from concordance.link.cfamily.scopes import (
    CLASSES,
    FUNCTIONS,
    MACRO,
    NAMESPACE,
    NAMESPACE_ALIAS,
    SCOPE_KINDS,
    SHIFT,
    CScope,
    ScopeMember,
)
from concordance.link.cfamily.symbol_table import SymbolTable
from concordance.link.world import LinkWorld, LoadedFlow

_MAX_FILES_UPDATED = 50  # files that are updated one by one; for more, everything is rebuilt
_SCOPE_FLAGS = FRIEND | INLINE | ALIAS  # the flags of a symbol that determine which scope it is or belongs to
_CLASSES_AND_NAMESPACES = CLASSES | {NAMESPACE}
_Row = tuple[int, int, str, str, int]  # the enclosing row, kind, name, qualifier, flags


class CFamilyState(NamedTuple):
    """The tables that are kept between updates."""

    files: list[tuple[str, bool]]  # by number: the path, and whether the file has symbols of the family
    table: SymbolTable
    includes: IncludeGraph


class ScopeOutline(NamedTuple):
    """The part of a file that creates scopes visible to all files."""

    rows: list[_Row]
    places: list[int]  # of the rows' symbols
    # qualifiers of definitions outside their class, by row: the first symbol of each
    outside: dict[tuple[int, int, str], int]


def table_files(world: LinkWorld) -> list[tuple[str, bool]]:
    """Return the files by number, with what the tables depend on."""
    return [(row.path, row.size > 0 and row.language in C_FAMILY) for row in world.files]


def update_tables(
    world: LinkWorld, state: CFamilyState, before: Mapping[int, tuple[Linkable, Flow]]
) -> CFamilyState | None:
    """Return the tables for the files as they are now, or None.

    `before` has the files of the family that were read again, as they were. After None, the old tables are unusable.
    """
    if len(before) > _MAX_FILES_UPDATED or state.files != table_files(world):
        return None
    table, includes = state.table, state.includes
    table.world = world
    table.clear_caches()
    included = {n: included_files(world.targets_of(n), world.number) for n in before if n in includes.included}
    if any(includes.included[number] != others for number, others in included.items()):
        all_included = {**includes.included, **included}
        headers = (number for number in all_included if is_header(world.files[number].path))
        includes = IncludeGraph(all_included, headers, len(world.files))
        table.headers = includes.headers
    for number, (row, flow) in sorted(before.items()):
        if number in table.symbol_scopes and not _replace_file(
            table, LoadedFlow(number, row, flow), world.load(number)
        ):
            return None
    return CFamilyState(state.files, table, includes)


def _outline(file: LoadedFlow) -> ScopeOutline:
    """Return a file's outline. Symbols in functions are visible only there, and are not part of it."""
    flow, names = file.flow, file.names
    rows: list[_Row] = []
    places: list[int] = []
    outside: dict[tuple[int, int, str], int] = {}
    # The row of each symbol; the first is the file's (-1), and symbols that create no scope have None.
    row_of_symbol: list[int | None] = [-1]
    parents = set(file.symbol_parent)
    columns = zip(
        flow.symbol_kind, file.symbol_name, file.symbol_parent, flow.symbol_flags, unpack_column(flow.symbol_within),
        strict=True,
    )  # fmt: skip
    for place, (kind, name, parent, flags, inside) in enumerate(columns):
        around, row = row_of_symbol[parent], None
        if around is not None and kind != MACRO:
            within = names[inside - 1] if inside else ""
            if inside and kind not in SCOPE_KINDS:
                outside.setdefault((around, flags & FRIEND, within), place)
            elif kind in SCOPE_KINDS or (kind not in FUNCTIONS and place + 1 in parents):
                row = len(rows)
                rows.append((around, kind, names[name], within, flags & _SCOPE_FLAGS))
                places.append(place)
        row_of_symbol.append(row)
    return ScopeOutline(rows, places, outside)


def _replace_file(table: SymbolTable, old: LoadedFlow, new: LoadedFlow) -> bool:
    """Replace a file's symbols; return True if all scopes are still the same."""
    was, now = _outline(old), _outline(new)
    if was.rows != now.rows or list(was.outside) != list(now.outside):
        return False
    number = old.number
    scopes_before = _scopes_of(table, number, was)
    touched = _remove_file(table, old)
    outside: list[tuple[int, CScope, str, str, int]] = []
    table.enter(new, outside)
    table.enter_out_of_class(outside)
    table.enter_using(new)
    touched.update((id(entry), entry) for entry in table.members_of_file[number])
    for entry in touched.values():
        if any(code >> SHIFT != number for code in entry.codes):  # otherwise only this file has it, and it is in order
            _restore_order(table, entry)
    for name in {entry.name for entry in touched.values()}:
        _order_members_named(table, name)
    for scope in {id(scope): scope for scope in table.symbol_scopes[number] if scope is not None}.values():
        scope.codes.sort()
        if scope.directives:
            scope.directives = dict(sorted(scope.directives.items()))
        for rows in scope.using_declarations.values():
            rows.sort(key=lambda row: row[0])
    scopes = _scopes_of(table, number, now)
    return len(scopes) == len(scopes_before) and all(a is b for a, b in zip(scopes, scopes_before, strict=True))


def _scopes_of(table: SymbolTable, number: int, outline: ScopeOutline) -> list[CScope | None]:
    """Return the scopes that a file creates or adds to."""
    scopes, first = table.symbol_scopes[number], number << SHIFT
    return [
        *(scopes[place + 1] for place in outline.places),
        *(table.out_of_class_scopes.get(first | place) for place in outline.outside.values()),
    ]


def _remove_file(table: SymbolTable, file: LoadedFlow) -> dict[int, ScopeMember]:
    """Remove a file's symbols; return the members that other files also contribute to, by identity."""
    number, symbols = file.number, len(file.symbol_kind)
    macros = {file.names[name] for kind, name in zip(file.symbol_kind, file.symbol_name, strict=True) if kind == MACRO}
    left = {id(entry): entry for entry in table.macros.remove_file(number, macros)}
    for entry in {id(entry): entry for entry in table.members_of_file.pop(number) if entry.kind != MACRO}.values():
        entry.codes = [code for code in entry.codes if code >> SHIFT != number]
        if entry.codes:
            left[id(entry)] = entry
        else:
            table.remove(entry)
    for scope in {id(scope): scope for scope in table.symbol_scopes[number] if scope is not None}.values():
        scope.codes = [code for code in scope.codes if code >> SHIFT != number]
        scope.directives.pop(number, None)
        if scope.using_declarations:
            using = {name: [row for row in rows if row[0] != number] for name, rows in scope.using_declarations.items()}
            scope.using_declarations = {name: rows for name, rows in using.items() if rows}
    first = number << SHIFT
    for place in range(symbols):
        table.local_scopes.pop(first | place, None)
        table.out_of_class_scopes.pop(first | place, None)
    return left


def _restore_order(table: SymbolTable, entry: ScopeMember) -> None:
    """Give a member the order of symbols, and the kind, that it has when files are entered in sequence."""
    inside = table.out_of_class_scopes
    entry.codes = sorted(entry.codes, key=lambda code: (code in inside, code))
    entry.files = None
    if entry.kind in (MACRO, NAMESPACE_ALIAS):
        return
    first = table.kind(entry.codes[0])
    if first in SCOPE_KINDS or entry.kind not in SCOPE_KINDS:
        entry.kind = first
    else:  # the first class or namespace of the name
        entry.kind = next((kind for kind in map(table.kind, entry.codes) if kind in _CLASSES_AND_NAMESPACES), first)


def _order_members_named(table: SymbolTable, name: str) -> None:
    """Order the members of a name as when files are entered in sequence: by the first symbol of each."""
    entries = table.members_named(name)
    if len(entries) < 2:
        return

    def made(entry: ScopeMember) -> tuple[bool, int, int]:
        code = entry.codes[0]
        deep = _depth(entry.scope)  # an enum's enumerator comes before the same in the scope around it, a::a after a
        return code in table.out_of_class_scopes, code, deep if table.kind(code) == NAMESPACE else -deep

    firsts = [entry.codes[0] for entry in entries]
    if len(set(firsts)) == len(firsts):
        entries.sort(key=lambda entry: (entry.codes[0] in table.out_of_class_scopes, entry.codes[0]))
    else:
        entries.sort(key=made)


def _depth(scope: CScope) -> int:
    return 1 + _depth(scope.parent) if scope.parent is not None else 0
