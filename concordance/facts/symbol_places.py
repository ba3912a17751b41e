"""A symbol as those who ask for it see it: where it is, and what stands around it.

In: a row that `SYMBOL` selects. Out: a `Place`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from concordance.facts import schema


class Place(NamedTuple):
    """Where a symbol of some name is."""

    id: int
    name: str
    kind: str
    path: str
    place: int
    line: int
    declaration: bool
    col: int
    public: bool
    key: str
    language: str
    category: str

    @property
    def home(self) -> str:
        """The key of what it stands in, "" for none."""
        return self.key.rpartition(".")[0]


def place_of(row: tuple[Any, ...]) -> Place:
    """The symbol of a row that `SYMBOL` selects."""
    path, declaration, public = schema.path_from(row[3]), bool(row[6]), bool(row[8])
    return Place(row[0], row[1], row[2], path, row[4], row[5], declaration, row[7], public, *row[9:])


SYMBOL = (
    "SELECT symbol.id, name, kind, path, place, line, declaration, col, public, symbol.key, language, category "
    "FROM symbol JOIN file ON symbol.file = file.id"
)
