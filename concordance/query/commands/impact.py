"""What a change may break."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from concordance.base.errors import ToolFailed, UserError
from concordance.base.model import RUN, File
from concordance.collect.line_diff import changed_lines
from concordance.facts.links.graph import RUNS, EdgeKind, GraphWalk
from concordance.facts.read import Place
from concordance.query.answers import Answer, AnswerPage, Row, full_name, start_of
from concordance.query.index.graphs.reachability import (
    HOLD,
    MOST,
    STEPS,
    ReachedSymbol,
    ReachedSymbols,
    around,
    command,
    inside,
    places,
    reasons,
)
from concordance.query.index.repository import Index
from concordance.query.names.public_names import called
from concordance.query.names.resolver import subject

# ---
# What a change may break: who leads to what is changed, nearest first, and the tests to run first.
#
# In: symbols or a file, or nothing: then the symbols that the lines changed since the last commit lie in. Out: who
# uses them in any way, who may run those, what extends them, and the methods that override them or are called in
# their place. A type, an import or a mention leads no farther than itself.


FIRST = 20  # tests that stand before all else
_ON = RUNS | {int(EdgeKind.INHERITS), int(EdgeKind.LOADS)}
_LAST = frozenset(
    (int(EdgeKind.PASSES), int(EdgeKind.TYPES), int(EdgeKind.WRITES), int(EdgeKind.IMPORTS), int(EdgeKind.MENTIONS))
)


class NothingChanged(UserError):
    """There is nothing to compare with."""


class AffectedSymbol(NamedTuple):
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


def broken(index: Index, starts: Collection[int]) -> ReachedSymbols:
    """Who may break, the nearest first but for a few tests before them."""
    own = set(starts)
    walk = index.graph.back(widened(index, starts), _ON, _LAST, STEPS, MOST)
    for start in own:
        for below, _ in index.facts.overriding(start):
            walk.steps.setdefault(below, (1, start, int(EdgeKind.INHERITS)))
    order = index.tests.get
    met = ((one, step[0]) for one, step in walk.steps.items() if step[0] and one not in own)
    rows = sorted(ReachedSymbol(steps, order(one, -1), one, one) for one, steps in met)
    tests = [row for row in rows if row.order >= 0][:FIRST]
    first = {row.id for row in tests}
    return ReachedSymbols([*tests, *(row for row in rows if row.id not in first)], walk)


def said(index: Index, rows: list[ReachedSymbol], walk: GraphWalk) -> list[AffectedSymbol]:
    """Rows in words."""
    known = places(index, (row.id for row in rows))
    return [
        AffectedSymbol(known[row.id], row.steps, why, command(index, known[row.id]) if row.order >= 0 else "")
        for row, why in zip(rows, reasons(index, rows, walk), strict=True)
    ]


# ---


HELP = f"""Lists what a change may break, nearest first: the {FIRST} nearest tests, then all else.

Without a PATH or NAME, the change is what the work tree differs in from the last commit.

\b
concord impact
concord impact torch/nn/modules/module.py
concord impact torch.nn.Module.register_buffer
"""
ARGUMENT = "[PATH or NAME]"


def answer(index: Index, asked: str | None, page: AnswerPage) -> Answer:
    """One row a symbol or file that may break."""
    note = ""
    if asked is None:
        starts, note = changed(index)
    else:
        meant = subject(index, asked)
        starts = of_file(index, meant) if isinstance(meant, File) else [place.id for place in meant]
    found, walk = broken(index, starts)
    start = start_of(page, len(found))
    shown = said(index, found[start : start + page.limit], walk)
    rows: list[Row] = [
        {
            "path": one.place.path,
            "line": one.place.line,
            "qualified": full_name(one.place) if one.place.name else "",
            "distance": one.steps,
            "why": one.why,
            "run": one.run,
            "called": called(index, one.place) if one.place.name else "",
        }
        for one in shown
    ]
    if not found and asked is not None:
        note = f"nothing is seen to use {asked}: {len(index.bases):,} files searched"
    if not walk.whole:
        ended = f"the search ended after {MOST:,} uses: what is farther away is left out"
        note = f"{note}; {ended}" if note else ended
    end = start + page.limit
    columns = ("path", "line", "called", "distance", "why", "run")
    return Answer(rows, columns, len(found), str(end) if end < len(found) else "", note)
