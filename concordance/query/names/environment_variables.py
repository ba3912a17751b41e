"""Look-up of environment variables and build options by name: where each is declared, set, read and documented.

In: a name. Out: rows, declarations first, then the places that set, read and document it, source before tests.
Questions treat them as names like any other, although no file defines them.
"""

from __future__ import annotations

from typing import NamedTuple

from concordance.base.model import Bridge, End, Role, Trust
from concordance.query.answers import Row, category_rank
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name

VARIABLE, OPTION = "environment variable", "build option"
_ORDER = {"declares": 0, "sets": 1, "removes": 2, "reads": 3, "documents": 4}
_ROLES = {"declares": Role.DECLARE, "sets": Role.WRITE, "removes": Role.WRITE, "documents": Role.MENTION}


class VariablePlace(NamedTuple):
    """One place where a variable is declared, set, read or documented."""

    row: Bridge
    path: str
    end: End


def variable_places(index: Index, name: str) -> list[VariablePlace]:
    """Return where a variable or option is declared, set, read and documented; empty if there is none of this name."""
    if not name.isidentifier():  # known without looking at all bridges
        return []
    places = []
    for row in bridges_of(index).named(name, "environment"):
        path = index.path_of(row.source)
        ends = index.open_file(path).ends
        if 0 <= row.end < len(ends):
            places.append(VariablePlace(row, path, ends[row.end]))

    def order(place: VariablePlace) -> tuple[object, ...]:
        return (
            _ORDER[place.row.says],
            category_rank(index.category_of(place.path)),
            place.path,
            place.end.line,
            place.end.col,
        )

    return sorted(places, key=order)


def variable_kind(places: list[VariablePlace]) -> str:
    """Return whether a name is an environment variable or a build option."""
    is_option = any(dict(place.end.more).get("what") == "option" for place in places if place.row.says == "declares")
    return OPTION if is_option else VARIABLE


def definition_rows(index: Index, name: str) -> list[Row]:
    """Return the rows that serve as the definition: declarations, or else the places that read it, or set it."""
    places = variable_places(index, name)
    for says in ("declares", "reads", "sets"):
        best = [place for place in places if place.row.says == says]
        if best:
            kind = variable_kind(places)
            return [_definition_row(name, place, kind) for place in best]
    return []


def _definition_row(name: str, place: VariablePlace, kind: str) -> Row:
    return {
        "path": place.path, "line": place.end.line, "col": place.end.col, "name": name, "qualified": name, "kind": kind,
        "trust": Trust(place.row.trust).name.lower(), "by": f"{place.row.says} it: {place.row.by}", "via": [],
        "called": name,
    }  # fmt: skip


def use_rows(index: Index, name: str, least: int) -> list[Row]:
    """Return all places except declarations."""
    readers = [
        place for place in variable_places(index, name) if place.row.says != "declares" and place.row.trust >= least
    ]
    around = index.facts.places(place.row.source for place in readers if not index.path_of_file(place.row.source))
    rows: list[Row] = []
    for place in readers:
        symbol = around.get(place.row.source)
        rows.append({
            "path": place.path, "line": place.end.line, "col": place.end.col,
            "role": str(_ROLES.get(place.row.says, Role.READ)), "trust": Trust(place.row.trust).name.lower(),
            "by": f"{place.row.says} it: {place.row.by}",
            "scope": display_name(index, symbol) if symbol is not None else None,
            "text": index.open_file(place.path).line(place.end.line),
        })  # fmt: skip
    return rows
