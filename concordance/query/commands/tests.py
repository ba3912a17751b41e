"""`concord tests`: list the tests that reach a file or symbol."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from concordance.base.blocks import count_noun
from concordance.base.model import Category, File
from concordance.extract.registry import language_of
from concordance.facts.links.graph import EdgeKind, GraphWalk
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Answer, AnswerPage, Option, Row, full_name, page_start
from concordance.query.index.graphs.reachability import (
    MAX_EDGES,
    ReachedSymbol,
    ReachedSymbols,
    explain_paths,
    find_reaching,
    functions_in,
    places,
    reach_symbols,
    test_command,
    with_members,
)
from concordance.query.index.graphs.test_directness import (
    NOT_FOLLOWED,
    Directness,
    file_subject,
    is_stub,
    loading_package,
    same_name_tests,
    symbol_subject,
)
from concordance.query.index.repository import Index
from concordance.query.names.resolver import resolve_subject
from concordance.query.search.absence import not_analysed

HELP = """List the tests that may run a file or symbol, most direct first, with the reason and the command for each.

First come the tests in the test file of the same name, then tests that are named after the file or symbol, then those
that call it, then those that reach it through other code. Without any, tests that name or import the file are listed.

\b
concord tests torch/nn/functional.py
concord tests torch.nn.functional.relu
concord tests src/click/core.py --examples
"""
ARGUMENT = "PATH or NAME"
OPTIONS = (Option("examples", "List examples instead of tests.", bool, False),)
_COLUMNS = ("path", "line", "name", "how", "why", "run")
_MAX_METHODS = 10  # definitions of one name whose overridden methods are followed: each takes a separate search

_Reached = tuple[ReachedSymbol, GraphWalk, str]


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per test."""
    target = resolve_subject(index, argument)
    category = Category.EXAMPLE if page.options["examples"] else Category.TEST
    if isinstance(target, File):
        if is_stub(target.path):
            return Answer([], _COLUMNS, 0, "", f"{target.path} only declares: ask about the file that defines")
        results = [find_reaching(index, functions_in(index, target), category)]
        package = loading_package(index, target.path) if not results[0].rows else ""
        if package:
            reached, walk = find_reaching(index, functions_in(index, index.file(package)), category)
            results = [ReachedSymbols([row._replace(behind=f"which imports {target.path}") for row in reached], walk)]
        if not results[0].rows:
            return _by_name(index, target, category, page)
        subject = file_subject(index, target)
    else:
        results = reach_symbols(index, target, category, _MAX_METHODS)
        subject = symbol_subject(index, target)
    first = {row.id: (row, walk) for rows, walk in reversed(results) for row in reversed(rows)}
    ranked = subject.rank((row.id, row.steps) for row, _ in first.values())
    start = page_start(page, len(ranked))
    end = start + page.limit
    what = "tests" if category is Category.TEST else "examples"
    note = "" if ranked else f"no {what} found that reach {argument}: {_searched(index)}"
    if first and not ranked:
        note = f"{what} reach {argument} only by calls that also lead to code for other devices"
    elif not all(walk.whole for _, walk in results):
        note = f"the search stopped after {MAX_EDGES:,} uses: {what} farther away are not listed"
    elif not isinstance(target, File) and len(target) > _MAX_METHODS:
        note = f"overridden methods were followed for {_MAX_METHODS} of {len(target):,}: qualify NAME to get the others"
    rows = _rows(index, [(*first[test.id], test.how) for test in ranked[start:end]])
    return Answer(rows, _COLUMNS, len(ranked), str(end) if end < len(ranked) else "", note)


def nearest_tests(index: Index, symbols: Sequence[SymbolPlace], count: int, edges: int) -> list[Row]:
    """Return the most direct tests of symbols among those that a walk along at most MAX_EDGES edges meets.

    Thousands of tests reach what everything uses; where a few are wanted at once, ranking all of them takes too long.
    """
    reached, walk = find_reaching(index, with_members(index, symbols), Category.TEST, edges)
    first = {row.id: row for row in reversed(reached)}
    ranked = symbol_subject(index, symbols).rank((row.id, row.steps) for row in first.values())[:count]
    return _rows(index, [(first[test.id], walk, test.how) for test in ranked])


def _rows(index: Index, reached: Sequence[_Reached]) -> list[Row]:
    known = places(index, (row.id for row, _, _ in reached))
    whys: list[str] = []
    for walk, rows in groupby(reached, itemgetter(1)):
        whys += explain_paths(index, [row for row, _, _ in rows], walk)
    return [_row(index, known[row.id], why, row.steps, how) for (row, _, how), why in zip(reached, whys, strict=True)]


def _row(index: Index, place: SymbolPlace, why: str, distance: int | None, how: str) -> Row:
    return {
        "path": place.path,
        "line": place.line,
        "name": full_name(place) if place.name else "",
        "why": why,
        "run": test_command(index, place),
        "distance": distance,
        "how": how,
    }


def _by_name(index: Index, file: File, category: Category, page: AnswerPage) -> Answer:
    """Return the tests that name something in a file, and the test files that import it or have its name.

    These are listed for a file none of whose functions a test was found to run, with the distance null.
    """
    matches: list[tuple[SymbolPlace, str, int | None, Directness]] = []
    is_test = category is Category.TEST
    same = same_name_tests(index, file.path) if is_test else []
    users = index.graph.users(index.facts.id(file.path))
    importing = {index.path_of(user) for user, way in users if way == EdgeKind.IMPORTS}
    importing = {path for path in importing if index.category_of(path) == category and path not in same}
    for paths, why, how in (
        (same, "has the same name", Directness.SAME_NAME),
        (sorted(importing), f"imports {file.path}", Directness.NAMES),
    ):
        known = places(index, map(index.file_id, paths))
        matches += [(known[index.file_id(path)], why, None, how) for path in paths]
    direct = file_subject(index, file).direct() if is_test else []
    known = places(index, direct)
    matches += [(known[reaching], f"names {file.path}", None, Directness.NAMES) for reaching in direct]
    ordered = [_row(index, *row) for row in matches]
    start = page_start(page, len(ordered))
    end = start + page.limit
    note = not_analysed(file) or f"no {category} found that runs {file.path}: {_searched(index)}"
    return Answer(ordered[start:end], _COLUMNS, len(ordered), str(end) if end < len(ordered) else "", note)


def _searched(index: Index) -> str:
    whole = sum(
        language_of(language).tests.is_test_file(category, path) for _, path, language, category in index.file_rows
    )
    tests = [count_noun(len(index.tests), "test")] if index.tests or not whole else []
    searched = " and ".join([*tests, *([count_noun(whole, "test file")] if whole else [])])
    return f"{searched} searched; {NOT_FOLLOWED}"
