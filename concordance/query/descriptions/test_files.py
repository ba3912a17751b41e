"""One-line summaries of test files: how many tests, in which classes or suites, and the file they test.

In: a file and its outline. Out: pieces such as "34 tests in `TestLinear` and 2 more, of `linear.py`". The tested file
is the one with the same stem, or else one that this test uses much and few other files use.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from concordance.base.blocks import Mono, Piece, Ref, To, count_noun, join_in_sentence
from concordance.base.model import Category, File, Kind
from concordance.facts.codec import FileOutline
from concordance.query.index.counts.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.search.related_files import stem_of

_SUITE = re.compile(r"(?=\w*TEST)\w++\s*+\(\s*(\w+)\s*,\s*\w+\s*\)")
_ABOUT = frozenset((Category.SOURCE, Category.GENERATED, Category.BUILD))
_STANDS_OUT = 1.2  # least ratio of a test's uses of a file to the number of its users (both logarithmic)


def summarize_tests(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of the tests in a file; nothing if it contains none."""
    number = ledger(index).tests[file.path]
    if not number:
        return []
    names = _suites(facts)
    found: list[Piece] = [count_noun(number, "test")]
    if names:
        shown: list[Piece] = [*names[:2]]
        more = [f"{len(names) - 2} more"] if len(names) > 2 else []
        found += [
            " in ",
            *join_in_sentence(
                [
                    Ref(To.SYMBOL, file.path, n.partition("\0")[2], n.partition("\0")[0]) if "\0" in n else Mono(n)
                    for n in map(str, shown)
                ]
                + [*more]
            ),
        ]
    about, is_named = file_under_test(index, file.path)
    return [*found, *([", of " if is_named else ", using ", Ref(To.FILE, about)] if about else [])]


def _suites(facts: FileOutline) -> list[str]:
    """Return the classes with tests, each with its key after a NUL, or else suite names from macros; largest first."""
    inside: Counter[int] = Counter(
        s.parent for s in facts.symbols if s.kind == Kind.METHOD and s.name.startswith("test")
    )
    if inside:
        return [f"{facts.symbols[p].name}\0{facts.symbols[p].key}" for p, _ in inside.most_common() if p >= 0]
    suites = Counter(match[1] for s in facts.symbols if (match := _SUITE.match(s.name)))
    return [name for name, _ in suites.most_common()]


def file_under_test(index: Index, path: str) -> tuple[str, bool]:
    """Return the file that a test file tests, and whether their names match; "" if no file stands out."""
    uses = index.neighbours.uses.get(index.base_of(path), {})
    stem = stem_of(path).lower()
    rows = []
    for target, times in uses.items():
        other = index.path_of_base(target)
        if not other or index.category_of(other) not in _ABOUT or "test" in other.rpartition("/")[0]:
            continue
        alike = stem_of(other).lower() == stem
        weight = (1 + math.log2(times)) / math.log2(2 + len(index.neighbours.users.get(target, ())))
        rows.append((alike, weight, other))
    rows.sort(key=lambda row: (not row[0], -row[1], row[2]))
    if not rows or not (rows[0][0] or rows[0][1] > _STANDS_OUT):
        return "", False
    return rows[0][2], rows[0][0]
