"""What a change may break: who leads to what is changed, nearest first, and the tests to run first.

In: symbols or a file, or nothing: then the symbols that the lines changed since the last commit lie in. Out: who uses
them in any way, who may run those, what extends them, and the methods that override them or are called in their
place. A type, an import or a mention leads no farther than itself.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from concordance.base.errors import ToolFailed, UserError
from concordance.base.model import RUN, File
from concordance.collect.changes import changed_lines
from concordance.facts.links.graph import RUNS, Walk, Way
from concordance.facts.read import Place
from concordance.query.index.reachability import (
    HOLD,
    MOST,
    STEPS,
    Found,
    Reached,
    around,
    command,
    inside,
    places,
    reasons,
)
from concordance.query.index.repository import Index
from concordance.query.names.public_names import called

FIRST = 20  # tests that stand before all else
_ON = RUNS | {int(Way.INHERITS), int(Way.LOADS)}
_LAST = frozenset((int(Way.PASSES), int(Way.TYPES), int(Way.WRITES), int(Way.IMPORTS), int(Way.MENTIONS)))


class NothingChanged(UserError):
    """There is nothing to compare with."""


class Broken(NamedTuple):
    """One who may break."""

    place: Place
    steps: int
    why: str
    run: str  # of a test, the command that runs it


def changed(index: Index) -> tuple[list[int], str]:
    """The ids of what the changed lines lie in, and what that is in words."""
    try:
        lines = changed_lines(index.root)
    except (ToolFailed, UserError) as error:
        raise NothingChanged("there is no commit to compare with", "Name a PATH or NAME") from error
    found: dict[int, None] = {}
    for path, stretches in lines.items():
        if index.facts.file(path) is not None:
            base = index.facts.base(path)
            symbols = index.opened(path).symbols
            for first, last in stretches:
                at = [n for n, one in enumerate(symbols) if one.start_line <= last and first <= one.end_line]
                around = {symbols[n].parent for n in at}  # only the innermost: what is around it is changed with it
                found.update((base + 1 + n, None) for n in at if n not in around)
                if not at:
                    found[base] = None
    names = [called(index, place) for place in places(index, list(found)[:6]).values()]
    more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
    said = f"changed since the last commit: {', '.join(names[:5])}{more}"
    return list(found), said if found else "nothing is changed since the last commit"


def of_file(index: Index, file: File) -> list[int]:
    """A file and all that it defines."""
    base = index.facts.base(file.path)
    return [base, *(one.id for one in index.facts.symbols_in(file.path))]


def widened(index: Index, starts: Collection[int]) -> list[int]:
    """What is changed, with what is in it; and the classes whose methods are called by another's name."""
    found = places(index, starts)
    for place in list(found.values()):
        if place.kind in HOLD:
            found.update((one.id, one) for one in inside(index, place) if one.id not in found)
    owners = [place for place in found.values() if place.kind in RUN and index.facts.overridden(place.id)]
    for place in owners:
        found.update((one.id, one) for one in around(index, place))
    return list(found)


def broken(index: Index, starts: Collection[int]) -> Found:
    """Who may break, the nearest first but for a few tests before them."""
    own = set(starts)
    walk = index.graph.back(widened(index, starts), _ON, _LAST, STEPS, MOST)
    for start in own:
        for below, _ in index.facts.overriding(start):
            walk.steps.setdefault(below, (1, start, int(Way.INHERITS)))
    order = index.tests.get
    met = ((one, step[0]) for one, step in walk.steps.items() if step[0] and one not in own)
    rows = sorted(Reached(steps, order(one, -1), one, one) for one, steps in met)
    tests = [row for row in rows if row.order >= 0][:FIRST]
    first = {row.id for row in tests}
    return Found([*tests, *(row for row in rows if row.id not in first)], walk)


def said(index: Index, rows: list[Reached], walk: Walk) -> list[Broken]:
    """Rows in words."""
    known = places(index, (row.id for row in rows))
    return [
        Broken(known[row.id], row.steps, why, command(index, known[row.id]) if row.order >= 0 else "")
        for row, why in zip(rows, reasons(index, rows, walk), strict=True)
    ]
