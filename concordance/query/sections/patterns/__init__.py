"""Patterns and idioms of a file's code, each with the lines that show it.

In: a file as its pages see it. Out: rows: a pattern's name, the names concerned, the lines. A pattern is read from
definitions (their bases, decorators, members) or from a line that cannot mean anything else; what would need a guess
is none. The tables of languages are beside: one small function a pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from concordance.base.blocks import Mono, Piece, counted
from concordance.base.model import Skip
from concordance.query.answers import clean
from concordance.query.index.file_model import FileModel
from concordance.query.sections.patterns import build, c, python, script
from concordance.query.sections.patterns.file_view import PatternFile, PatternPlace

_NAMED = 8  # names that are listed; of more, so many are counted and the first three named
_FIRST = 3

Table = Sequence[tuple[str, Callable[[PatternFile], Iterator[PatternPlace]]]]
_TABLES: dict[str, Table] = {
    **python.TABLES,
    **c.TABLES,
    **script.TABLES,
    **build.TABLES,
}


class Pattern(NamedTuple):
    """One pattern that a file shows."""

    name: str
    said: list[Piece]
    lines: list[int]  # those that show it, rising


def patterns(one: FileModel) -> list[Pattern]:
    """The patterns of a file, in the order of the language's table."""
    table = _TABLES.get(one.file.language)
    if table is None or one.file.skip != Skip.NONE:
        return []
    rows = shown(PatternFile(one.facts, one.path, one.lines or []), table)
    return [Pattern(name, _said(one, found), sorted({row.line for row in _few(found)})) for name, found in rows]


def of_language(language: str) -> Table:
    """The patterns that are looked for in a language."""
    return _TABLES.get(language, ())


def shown(seen: PatternFile, table: Table) -> Iterator[tuple[str, list[PatternPlace]]]:
    """Each pattern that is there, with all that show it, in the order of the text; of those that say the same, the
    first, for an overloaded name is one."""
    for name, find in table:
        found: dict[tuple[object, ...], PatternPlace] = {}
        for row in sorted(find(seen)):
            about = tuple(clean(seen.symbols[row.place].key)) if row.place >= 0 else row.name
            found.setdefault((about, row.words), row)
        if found:
            yield name, list(found.values())


def _few(found: list[PatternPlace]) -> list[PatternPlace]:
    return found if len(found) <= _NAMED else found[:_FIRST]


def _said(one: FileModel, found: list[PatternPlace]) -> list[Piece]:
    """The names concerned, each with a few words where there is something to say of it."""
    pieces: list[Piece] = []
    few = _few(found)
    if len(few) < len(found):
        pieces.append(f"{counted(len(found), 'place')}, first ")
    for number, row in enumerate(few):
        if number:
            pieces.append(", ")
        if row.place >= 0:
            pieces.append(one.own(row.place))
        elif row.name:
            pieces.append(Mono(row.name))
        if row.words:
            pieces.append(f" ({row.words})" if row.place >= 0 or row.name else row.words)
    return pieces
