"""Reading paths: which files to read to understand a chapter, in which order, and about how long it takes.

In: an index and folders. Out: the files with their central documented definitions, ordered so that what others depend
on comes first, each with a reading time. The estimate is one minute per forty lines of code or comment, not counting
blank lines, and at least one minute per file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from concordance.base.blocks import Block, Item, Items, Piece, Ref, Text, To, count_noun
from concordance.base.model import TYPE_KINDS, Kind
from concordance.facts.updates.reads import memoised
from concordance.query.book.chapters import Chapter, order_by_use
from concordance.query.descriptions import describe
from concordance.query.folders import folders
from concordance.query.folders.definition_uses import NAMED_KINDS, used_definitions
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index

LINES_PER_MINUTE = 40  # lines read in a minute
_MAX_STEPS = 6  # files on a path
_CONSIDERED = 40  # central files among which those of a path are chosen
_LONG = 2_000  # characters of documentation; more is not better
_TYPE = 200  # what a type counts beside its documentation: its members explain it, too
_DEFINING = TYPE_KINDS | {Kind.FUNCTION, Kind.METHOD}
_TESTING = re.compile(r"(?:^|/)_?(?:tests?|testing|test_?utils?|test_?helpers?|conftest)(?:/|\.\w+$)")
_MIN_MINUTES_IN_HOURS = 60  # minutes from which times are given in hours


class ReadingStep(NamedTuple):
    """One file on a reading path."""

    path: str
    minutes: int


def reading_minutes(index: Index, path: str) -> int:
    """Return how many minutes a file takes to read."""
    metrics = outline(index, path).metrics
    return max(1, round((metrics.code + metrics.comment) / LINES_PER_MINUTE))


def time_in_words(minutes: int) -> str:
    """Return a number of minutes in words."""
    if minutes < _MIN_MINUTES_IN_HOURS:
        return count_noun(minutes, "minute")
    hours = round(minutes / 60)
    return count_noun(hours, "hour")


def reading_path(index: Index, paths: Sequence[str], limit: int = _MAX_STEPS) -> list[ReadingStep]:
    """Return the files of the given folders to read first, as far as possible each after those that it uses."""
    chosen = files_to_read(index, paths, limit)
    bases = {index.file_id(path): place for place, path in enumerate(chosen)}
    uses: Counter[tuple[int, int]] = Counter()
    for base, place in bases.items():
        for target, times in index.neighbours.uses.get(base, {}).items():
            if target in bases:
                uses[place, bases[target]] += times
    return [
        ReadingStep(chosen[place], reading_minutes(index, chosen[place]))
        for place in order_by_use(list(range(len(chosen))), uses)
    ]


def files_to_read(index: Index, paths: Sequence[str], limit: int) -> list[str]:
    """Return the files with the definitions that are documented best and used most, then other central files.

    A file that only forwards to others or helps tests is chosen only if there is nothing else.
    """
    central = folders(index).most_central(paths, _CONSIDERED)
    worth = {path: _worth(index, path) for path in central}
    useful = [path for path in central if worth[path] >= 0]
    return sorted(useful or central, key=lambda path: -worth[path])[:limit]


@memoised(1 << 16)
def _worth(index: Index, path: str) -> float:
    """Return how much a file explains: the square root of the documentation of a definition times its users; -1 if it
    defines no types or functions of its own, or helps tests."""
    own = {symbol.key: symbol for symbol in outline(index, path).symbols if not symbol.declaration}
    if helps_tests(path) or _DEFINING.isdisjoint(symbol.kind for symbol in own.values()):
        return -1.0
    found = 0.0
    for row in used_definitions(index, path):
        symbol = own.get(index.keys[row.id]) if row.kind in NAMED_KINDS else None
        if symbol is not None:
            words = min(len(symbol.doc), _LONG) + (_TYPE if symbol.kind in TYPE_KINDS else 0)
            found = max(found, math.sqrt(row.times * words))
    return found


def helps_tests(path: str) -> bool:
    """True if a file or folder is for tests, by its path."""
    return _TESTING.search(path) is not None


def chapter_path(index: Index, chapter: Chapter, label: Piece) -> list[Block]:
    """Return the reading path of one chapter."""
    steps = reading_path(index, chapter.folders)
    if not steps:
        return []
    total = sum(step.minutes for step in steps)
    which = "this file" if len(steps) == 1 else f"these {len(steps)} files in this order"
    return [Text(["To understand ", label, f", read {which}, about {time_in_words(total)}:"]), step_list(index, steps)]


def step_list(index: Index, steps: Sequence[ReadingStep]) -> Items:
    """Return the files of a path as a numbered list with reading times."""
    return Items(
        [
            Item([Ref(To.FILE, step.path), f", {count_noun(step.minutes, 'minute')}: ", *describe(index, step.path)])
            for step in steps
        ],
        ordered=True,
    )
