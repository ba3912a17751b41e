"""`concord impact`: list what a change may break, and the tests to run first.

In: symbols, a file, or nothing, which means the symbols around the lines changed since the last commit. Out: what uses
them in any way, what may run those users, what extends them, and the methods that override them or are called in their
place. A use as a type, an import or a mention counts, but is not followed further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from concordance.base.blocks import count_noun
from concordance.base.errors import ToolFailed, UserError
from concordance.base.model import EXECUTABLE_KINDS, File
from concordance.collect.line_diff import changed_lines
from concordance.facts.links.graph import RUNS, EdgeKind, GraphWalk
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Answer, AnswerPage, Row, full_name, page_start
from concordance.query.index.graphs.reachability import (
    CONTAINER_KINDS,
    MAX_EDGES,
    STEPS,
    ReachedSymbol,
    ReachedSymbols,
    around,
    explain_paths,
    members_of,
    places,
    test_command,
)
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name
from concordance.query.names.resolver import resolve_subject
from concordance.query.search.absence import files_searched, unread_languages, unseen

FIRST_TESTS = 20  # tests listed before everything else
_FOLLOWED = RUNS | {int(EdgeKind.INHERITS), int(EdgeKind.LOADS)}  # edges that the search follows further
_NOT_FOLLOWED = frozenset(  # edges that it reports but does not follow
    (int(EdgeKind.PASSES), int(EdgeKind.TYPES), int(EdgeKind.WRITES), int(EdgeKind.IMPORTS), int(EdgeKind.MENTIONS))
)


class NothingChanged(UserError):
    """There is no commit to compare the work tree with."""


class AffectedSymbol(NamedTuple):
    """A symbol or file that a change may break."""

    place: SymbolPlace
    steps: int  # distance from the change
    why: str
    run: str  # the command that runs it, if it is a test
    tests: int  # of a file of tests: how many of them may break


def changed_symbols(index: Index) -> tuple[list[int], str]:
    """Return the ids of the innermost symbols around the changed lines, and a note that names them."""
    try:
        lines = changed_lines(index.root)
    except (ToolFailed, UserError) as error:
        raise NothingChanged("there is no commit to compare with", "Give a PATH or NAME") from error
    changed: dict[int, None] = {}
    for path, stretches in lines.items():
        if index.facts.file(path) is not None:
            file = index.open_file(path)
            symbols, ids = file.symbols, file.ids
            for first, last in stretches:
                at = [n for n, symbol in enumerate(symbols) if symbol.start_line <= last and first <= symbol.end_line]
                around = {symbols[n].parent for n in at}  # left out: only the innermost symbol counts as changed
                changed.update((ids.id_at(n), None) for n in at if n not in around)
                if not at:
                    changed[ids.file] = None
    names = [display_name(index, place) for place in places(index, list(changed)[:6]).values()]
    more = f" and {len(changed) - 5:,} more" if len(changed) > 5 else ""
    note = f"changed since the last commit: {', '.join(names[:5])}{more}"
    return list(changed), note if changed else "nothing changed since the last commit"


def symbols_of_file(index: Index, file: File) -> list[int]:
    """Return the ids of a file and of everything it defines."""
    ids = index.facts.ids(file.path)
    return [ids.file, *ids]


def with_members_and_owners(index: Index, starts: Collection[int]) -> list[int]:
    """Return the changed symbols with their members, and the classes of changed methods that override another.

    Calls of an overriding method name the method of the base class, so whatever uses its class may break too.
    """
    symbols = places(index, starts)
    for place in list(symbols.values()):
        if place.kind in CONTAINER_KINDS:
            symbols.update((symbol.id, symbol) for symbol in members_of(index, place) if symbol.id not in symbols)
    owners = [
        place for place in symbols.values() if place.kind in EXECUTABLE_KINDS and index.facts.overridden(place.id)
    ]
    for place in owners:
        symbols.update((symbol.id, symbol) for symbol in around(index, place))
    return list(symbols)


def find_affected(index: Index, starts: Collection[int]) -> ReachedSymbols:
    """Return what may break, nearest first, with the `FIRST_TESTS` nearest tests before everything else: tests that
    were changed themselves, or are in the changed file, are the nearest. Further tests are one row for each file."""
    own = set(starts)
    begin = with_members_and_owners(index, starts)
    walk = index.graph.back(begin, _FOLLOWED, _NOT_FOLLOWED, STEPS, MAX_EDGES, index.order_of)
    for start in own:
        for below, _ in index.facts.overriding(start):
            walk.steps.setdefault(below, (1, start, int(EdgeKind.INHERITS)))
    order = index.tests.get
    met = (
        (identity, step[0])
        for identity, step in walk.steps.items()
        if (step[0] and identity not in own) or identity in index.tests
    )
    rows = [ReachedSymbol(steps, order(identity, -1), identity, identity) for identity, steps in met]
    rows.sort(key=lambda row: (row.steps, row.order, index.order_of(row.id)))
    tests = [row for row in rows if row.order >= 0][:FIRST_TESTS]
    first = {row.id for row in tests}
    return ReachedSymbols([*tests, *_group_tests(index, rows, first)], walk)


def _group_tests(index: Index, rows: Iterable[ReachedSymbol], first: Collection[int]) -> Iterator[ReachedSymbol]:
    """Yield the rows that are not among the first: tests of a file as one row, in the place of the nearest of them.

    A file of tests that is itself a row, because it imports what changed, is left out: its tests say more.
    """
    rows = list(rows)
    counts = Counter(index.path_of(row.id) for row in rows if row.order >= 0 and row.id not in first)
    tested = {index.path_of(row.id) for row in rows if row.order >= 0}
    grouped: set[str] = set()
    for row in rows:
        path = index.path_of(row.id)
        if row.id in first or path in grouped or (row.order < 0 and path in tested and index.path_of_file(row.id)):
            continue
        if row.order >= 0 and counts[path] > 1:
            grouped.add(path)
            yield row._replace(id=index.file_id(path), tests=counts[path])
        else:
            yield row


def affected_symbols(index: Index, rows: list[ReachedSymbol], walk: GraphWalk) -> list[AffectedSymbol]:
    """Return rows with their places, reasons and test commands."""
    known = places(index, (row.id for row in rows))
    return [
        AffectedSymbol(
            known[row.id], row.steps, why, test_command(index, known[row.id]) if row.order >= 0 else "", row.tests
        )
        for row, why in zip(rows, explain_paths(index, rows, walk), strict=True)
    ]


def shown_name(index: Index, affected: AffectedSymbol) -> str:
    """Return the name of a symbol; of a file that stands for its tests, how many they are; "" for any other file."""
    if affected.place.name:
        return display_name(index, affected.place)
    return count_noun(affected.tests, "test") if affected.tests else ""


HELP = f"""List what a change may break, nearest first: the {FIRST_TESTS} nearest tests, then everything else.

Further tests are listed file by file, with the number of them that may break.

Without a PATH or NAME, the change is the difference between the work tree and the last commit.

\b
concord impact
concord impact torch/nn/modules/module.py
concord impact torch.nn.Module.register_buffer
"""
ARGUMENT = "[PATH or NAME]"


def answer(index: Index, argument: str | None, page: AnswerPage) -> Answer:
    """Return one row per symbol or file that may break."""
    note = ""
    if argument is None:
        starts, note = changed_symbols(index)
    else:
        subject = resolve_subject(index, argument)
        starts = symbols_of_file(index, subject) if isinstance(subject, File) else [place.id for place in subject]
    affected_ids, walk = find_affected(index, starts)
    start = page_start(page, len(affected_ids))
    shown = affected_symbols(index, affected_ids[start : start + page.limit], walk)
    rows: list[Row] = [
        {
            "path": affected.place.path,
            "line": affected.place.line,
            "qualified": full_name(affected.place) if affected.place.name else "",
            "distance": affected.steps,
            "why": affected.why,
            "run": affected.run,
            "called": shown_name(index, affected),
        }
        for affected in shown
    ]
    if not affected_ids and argument is not None:
        unread = unread_languages(index)
        language = subject.language if isinstance(subject, File) else subject[0].language
        note = f"no uses of {argument} found: {files_searched(index)}{unseen(language)}{unread and f'; {unread}'}"
    if not walk.whole:
        ended = f"the search stopped after {MAX_EDGES:,} uses: anything farther away is not listed"
        note = f"{note}; {ended}" if note else ended
    end = start + page.limit
    columns = ("path", "line", "called", "distance", "why", "run")
    return Answer(rows, columns, len(affected_ids), str(end) if end < len(affected_ids) else "", note)
