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
    here, there = lines[first : len(lines) - last], expected[first : len(expected) - last]
    places = _places(here, there, first + 1)
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


def _places(here: Sequence[str], there: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    if len(here) == len(there):  # most falsehoods are in a line
        for at, (one, other) in enumerate(zip(here, there, strict=True)):
            if one != other:
                yield start + at, _expected([one], [other])
        return
    if len(here) + len(there) > _MAX_LINES:
        yield start, f"{_expected(here[:1], there[:1])}; up to line {start + len(here):,} more lines differ"
        return
    for tag, a, b, c, d in SequenceMatcher(None, here, there, autojunk=False).get_opcodes():
        if tag == "replace" and b - a == d - c:
            yield from _places(here[a:b], there[c:d], start + a)
        elif tag != "equal":
            yield start + a, _expected(here[a:b], there[c:d])


def _expected(here: Sequence[str], there: Sequence[str]) -> str:
    """Say what should be in the place of some lines."""
    if not there:
        return "this line should not be there" if len(here) == 1 else f"these {len(here):,} lines should not be there"
    quoted = next((line for line in there if line.strip()), "").strip()
    if len(quoted) > _LONGEST:
        quoted = f"{quoted[: _LONGEST - 1]}…"
    text = f"“{quoted}”" if quoted else "an empty line"
    more = f" and {len(there) - 1:,} more {'line' if len(there) == 2 else 'lines'}" if len(there) > 1 else ""
    return f"{text}{more} {'should be here' if here else 'is missing before this line'}"
