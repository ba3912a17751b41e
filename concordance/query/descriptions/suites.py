"""One-line summaries of test files: how many tests, in which classes or suites, and the file they test.

In: a file and its outline. Out: pieces such as "34 tests in `TestLinear` and 2 more, of `linear.py`". The tested file
is the one with the same stem, or else one that this test uses much and few other files use.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection

from concordance.base.blocks import Mono, Piece, Ref, To, count_noun, join_in_sentence
from concordance.base.model import Category, File, Kind
from concordance.facts.codec import FileOutline
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.search.related_files import stem_of

_SUITE_PATTERN = "Test suite"  # the pattern that marks `describe("title", …)`
_RUNNERS = frozenset(("node:test", "test", "ava", "vitest", "@jest/globals", "bun:test", "tap", "uvu", "mocha"))
_MAX_TITLES = 3
_SUITE = re.compile(r"(?=\w*TEST)\w++\s*+\(\s*(\w+)\s*,\s*\w+\s*\)")
_ABOUT = frozenset((Category.SOURCE, Category.GENERATED, Category.BUILD))
_MIN_LEAD = 1.2  # least ratio of a test's uses of a file to the number of its users (both logarithmic)


def summarize_tests(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of the tests in a file; nothing if it contains none."""
    number = ledger(index).tests[file.path]
    about, is_named = file_under_test(index, file.path) if number or index.is_whole_test(file.path) else ("", False)
    titles = {} if number else suite_titles(index, file)
    verb = " of " if is_named else " that uses " if 1 in (number, len(titles)) else " that use "
    tested: list[Piece] = [verb, Ref(To.FILE, about)] if about else []
    if not number:
        if titles:
            return [f"test suite{'s' if len(titles) > 1 else ''} ", *_quoted_titles(titles), *tested]
        is_run = any(row.module in _RUNNERS for row in facts.imports)  # its tests are in no suite
        return ["tests", *tested] if is_run and tested else []
    names, inside = _suites(index, file.path, facts)
    pieces: list[Piece] = [count_noun(number, "test")]
    of_classes = bool(names) and inside == number and not is_named
    pieces += [] if of_classes else tested
    if names:
        shown: list[Piece] = [*names[:2]]
        more = [f"{len(names) - 2} more"] if len(names) > 2 else []
        pieces += [
            f", {inside} of them in " if inside < number else " in ",
            *join_in_sentence(
                [
                    Ref(To.SYMBOL, file.path, n.partition("\0")[2], n.partition("\0")[0]) if "\0" in n else Mono(n)
                    for n in map(str, shown)
                ]
                + [*more]
            ),
        ]
    return [*pieces, *tested] if of_classes else pieces


def suite_titles(index: Index, file: File) -> dict[str, int]:
    """Return the titles of the suites of a test file whose tests have titles instead of names, with their lines."""
    if not index.is_whole_test(file.path):
        return {}
    rows = [row for row in index.open_file(file.path).facts.patterns if row.pattern == _SUITE_PATTERN]
    return {row.subject: row.line for row in reversed(rows) if row.subject}


def _quoted_titles(titles: Collection[str]) -> list[Piece]:
    names: list[Piece] = [f"“{title}”" for title in list(titles)[::-1][:_MAX_TITLES]]
    left = len(titles) - len(names)
    return join_in_sentence([*names, *([f"{left} more"] if left else [])])


def _suites(index: Index, path: str, facts: FileOutline) -> tuple[list[str], int]:
    """Return the classes with tests, each with its key after a NUL, or else suite names from macros, largest first; and
    the number of tests in them."""
    ids = index.facts.ids(path)
    tests = (facts.symbols[ids.place_of(test)] for test in index.tests_in.get(path, ()))
    inside: Counter[int] = Counter(test.parent for test in tests if test.kind == Kind.METHOD)
    if inside:
        names = [f"{facts.symbols[p].name}\0{facts.symbols[p].key}" for p, _ in inside.most_common() if p >= 0]
        return names, inside.total()
    suites = Counter(match[1] for s in facts.symbols if (match := _SUITE.match(s.name)))
    return [name for name, _ in suites.most_common()], suites.total()


def file_under_test(index: Index, path: str) -> tuple[str, bool]:
    """Return the file that a test file tests, and whether their names match; "" if no file stands out."""
    uses = index.neighbours.uses_of(index.file_id(path))
    stem = stem_of(path).lower()
    rows = []
    for target, times in uses.items():
        other = index.path_of_file(target)
        if not other or index.category_of(other) not in _ABOUT or "test" in other.rpartition("/")[0]:
            continue
        alike = stem_of(other).lower() == stem
        weight = (1 + math.log2(times)) / math.log2(2 + index.neighbours.rounded_user_count(target))
        rows.append((alike, weight, other))
    rows.sort(key=lambda row: (not row[0], -row[1], row[2]))
    if not rows or not (rows[0][0] or rows[0][1] > _MIN_LEAD):
        return "", False
    return rows[0][2], rows[0][0]
