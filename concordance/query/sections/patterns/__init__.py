"""Detects design patterns and idioms in a file's code, each with the lines that show it.

In: a file's model. Out: one row per pattern: its name, the names concerned, and the lines. A pattern is recognised from
definitions (their bases, decorators, members) or from lines that can mean nothing else; nothing is guessed. Each
language has a table of patterns in a module of this package, with one small function per pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from concordance.base.blocks import Mono, Piece, count_noun
from concordance.base.model import Skip
from concordance.query.answers import split_key
from concordance.query.index.file_model import FileModel
from concordance.query.sections.patterns import build, c, python, script
from concordance.query.sections.patterns.file_view import PatternFile, PatternPlace

_NAMED = 8  # names listed at most; if there are more, they are counted and only the first few named
_FIRST = 3  # names listed then

Table = Sequence[tuple[str, Callable[[PatternFile], Iterator[PatternPlace]]]]
TABLES: dict[str, Table] = {
    **python.TABLES,
    **c.TABLES,
    **script.TABLES,
    **build.TABLES,
}


class Pattern(NamedTuple):
    """One pattern found in a file."""

    name: str
    said: list[Piece]  # the names concerned, with details
    lines: list[int]  # the lines that show it, in ascending order


def patterns_of_file(one: FileModel) -> list[Pattern]:
    """Return the patterns of a file, in the order of its language's table."""
    table = TABLES.get(one.file.language)
    if table is None or one.file.skip != Skip.NONE:
        return []
    rows = find_patterns(PatternFile(one.facts, one.path, one.lines or []), table)
    return [
        Pattern(name, _places_in_words(one, found), sorted({row.line for row in _few(found)})) for name, found in rows
    ]


def find_patterns(seen: PatternFile, table: Table) -> Iterator[tuple[str, list[PatternPlace]]]:
    """Yield each pattern that occurs, with its places in source order. Places with the same name and words are listed
    once, since overloads of a name count as one."""
    for name, find in table:
        found: dict[tuple[object, ...], PatternPlace] = {}
        for row in sorted(find(seen)):
            about = tuple(split_key(seen.symbols[row.place].key)) if row.place >= 0 else row.name
            found.setdefault((about, row.words), row)
        if found:
            yield name, list(found.values())


def _few(found: list[PatternPlace]) -> list[PatternPlace]:
    return found if len(found) <= _NAMED else found[:_FIRST]


def _places_in_words(one: FileModel, found: list[PatternPlace]) -> list[Piece]:
    """Return the names concerned, each with its detail in brackets if there is one."""
    pieces: list[Piece] = []
    few = _few(found)
    if len(few) < len(found):
        pieces.append(f"{count_noun(len(found), 'place')}, first ")
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
