"""`concord tests`: which tests reach a file or symbol."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter

from concordance.base.blocks import count_noun
from concordance.base.model import Category, File
from concordance.facts.links.graph import EdgeKind, GraphWalk
from concordance.query.answers import Answer, AnswerPage, Option, Row, full_name, page_start
from concordance.query.index.graphs.reachability import (
    MAX_EDGES,
    STEPS,
    ReachedSymbol,
    explain_paths,
    find_reaching,
    functions_in,
    places,
    reach_by_override,
    test_command,
    with_members,
)
from concordance.query.index.repository import Index
from concordance.query.names.resolver import resolve_subject

HELP = """List the tests that may run a file or symbol, nearest first, with the reason and the command that runs each.

\b
concord tests torch/nn/functional.py
concord tests torch.nn.functional.relu
concord tests src/click/core.py --examples
"""
ARGUMENT = "PATH or NAME"
OPTIONS = (Option("examples", "List examples instead of tests.", bool, False),)
_COLUMNS = ("path", "line", "name", "why", "run")
_MAX_METHODS = 10  # definitions of one name whose overridden methods are followed: each takes a separate search


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per test."""
    meant = resolve_subject(index, argument)
    category = Category.EXAMPLE if page.options["examples"] else Category.TEST
    starts = functions_in(index, meant) if isinstance(meant, File) else with_members(index, meant)
    found = [find_reaching(index, starts, category)]
    if not isinstance(meant, File):
        found += reach_by_override(index, meant[:_MAX_METHODS], category)
    elif not found[0].rows:
        return _by_import(index, meant, category, page)
    rows = [(row, walk) for rows, walk in found for row in rows]
    total = len({row.id for row, _ in rows})
    if len(found) > 1:  # keep the first row of each test
        rows = list({row.id: (row, walk) for row, walk in reversed(rows)}.values())[::-1]
    start = page_start(page, total)
    end = start + page.limit
    what = "tests" if category is Category.TEST else "examples"
    searched = f"{count_noun(len(index.tests), 'test')}, {STEPS} steps searched"
    note = "" if rows else f"no {what} found that reach {argument}: {searched}"
    if not all(walk.whole for _, walk in found):
        note = f"the search stopped after {MAX_EDGES:,} uses: {what} farther away are not listed"
    elif not isinstance(meant, File) and len(meant) > _MAX_METHODS:
        note = f"overridden methods were followed for {_MAX_METHODS} of {len(meant):,}: qualify NAME to get the others"
    return Answer(_rows(index, rows[start:end]), _COLUMNS, total, str(end) if end < total else "", note)


def _rows(index: Index, reached: list[tuple[ReachedSymbol, GraphWalk]]) -> list[Row]:
    known = places(index, (row.id for row, _ in reached))
    whys: list[str] = []
    for walk, rows in groupby(reached, itemgetter(1)):
        whys += explain_paths(index, [row for row, _ in rows], walk)
    return [
        {
            "path": place.path,
            "line": place.line,
            "name": full_name(place) if place.name else "",
            "why": why,
            "run": test_command(index, place),
        }
        for place, why in zip((known[row.id] for row, _ in reached), whys, strict=True)
    ]


def _by_import(index: Index, file: File, category: Category, page: AnswerPage) -> Answer:
    """Return the test files that import a file, for a file none of whose symbols a test was found to run."""
    users = index.graph.users(index.facts.id(file.path))
    paths = {index.path_of(user) for user, way in users if way == EdgeKind.IMPORTS}
    rows: list[Row] = [
        {
            "path": path,
            "line": 1,
            "name": "",
            "why": f"imports {file.path}",
            "run": index.runners.command(path, index.language_of(path), ""),
        }
        for path in sorted(paths)
        if index.category_of(path) == category
    ]
    start = page_start(page, len(rows))
    end = start + page.limit
    note = f"no {category} found that runs {file.path}: {count_noun(len(index.tests), 'test')}, {STEPS} steps searched"
    return Answer(rows[start:end], _COLUMNS, len(rows), str(end) if end < len(rows) else "", note)
