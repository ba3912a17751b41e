"""The places where a page differs from what should be there.

In: the lines of a page, and those of the same page rendered anew. Out: for each place its line, and in words what
should be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice

_MAX_PLACES = 20  # most places that are listed for one page
_MAX_LINES = 3_000  # of differing stretches with more lines, only the first line is listed: comparing takes too long
_LONGEST = 200  # longest text that is quoted, in characters


def find_differences(lines: Sequence[str], expected: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines of a page that are not as expected, and what should be there."""
    first = _common_length(lines, expected)
    last = min(_common_length(lines[::-1], expected[::-1]), len(lines) - first, len(expected) - first)
    places = _places(lines[first : len(lines) - last], expected[first : len(expected) - last], first + 1)
    differences = list(islice(places, _MAX_PLACES))
    more = sum(1 for _ in places)
    if more:
        line, problem = differences[-1]
        differences[-1] = line, f"{problem}; {more:,} more {'place differs' if more == 1 else 'places differ'} below"
    return differences


def _common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the beginning are equal."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _places(actual: Sequence[str], expected: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    if len(actual) == len(expected):  # most falsehoods are in a line
        for at, (line, expected_line) in enumerate(zip(actual, expected, strict=True)):
            if line != expected_line:
                yield start + at, _expected([line], [expected_line])
        return
    if len(actual) + len(expected) > _MAX_LINES:
        yield start, f"{_expected(actual[:1], expected[:1])}; up to line {start + len(actual):,} more lines differ"
        return
    for tag, a, b, c, d in SequenceMatcher(None, actual, expected, autojunk=False).get_opcodes():
        if tag == "replace" and b - a == d - c:
            yield from _places(actual[a:b], expected[c:d], start + a)
        elif tag != "equal":
            yield start + a, _expected(actual[a:b], expected[c:d])


def _expected(actual: Sequence[str], expected: Sequence[str]) -> str:
    """Say what should be in the place of some lines."""
    if not expected:
        return (
            "this line should not be there" if len(actual) == 1 else f"these {len(actual):,} lines should not be there"
        )
    quoted = next((line for line in expected if line.strip()), "").strip()
    if len(quoted) > _LONGEST:
        quoted = f"{quoted[: _LONGEST - 1]}…"
    text = f"“{quoted}”" if quoted else "an empty line"
    more = f" and {len(expected) - 1:,} more {'line' if len(expected) == 2 else 'lines'}" if len(expected) > 1 else ""
    return f"{text}{more} {'should be here' if actual else 'is missing before this line'}"
