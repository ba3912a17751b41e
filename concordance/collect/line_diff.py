"""Which lines of a text are those of an earlier one.

In: the lines of both. Out: for each of the later ones the place of the earlier one that it is. Lines that stand once in
both hold the two texts together; what is between two of them is compared in the same way, and in the end line by line,
as long as that is little work: texts of others must not keep us for long. Lines that are left over count as new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import pairwise

from concordance.base.config import Config
from concordance.base.errors import Unreadable
from concordance.base.model import Skip
from concordance.collect import walk
from concordance.collect.revisions import Blobs, sides

Stretch = tuple[int, int]  # the first and the last line
_WHOLE = (1, 1 << 30)
_DEEPEST = 12  # stretches within stretches
_CELLS = 1_000_000  # pairs of lines that are compared one by one, in all

Pair = tuple[int, int]


def aligned(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """For each new line the place of the old one that it is; -1 where it is none of them. The places rise."""
    found = [-1] * len(new)
    left = _CELLS
    waiting = [(0, len(old), 0, len(new), 0)]
    while waiting:
        a, b, c, d, depth = waiting.pop()
        while a < b and c < d and old[a] == new[c]:
            found[c] = a
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            found[d] = b
        cells = (b - a) * (d - c)
        pairs = _single(old[a:b], new[c:d]) if cells and depth < _DEEPEST else []
        if pairs:
            ends = [(-1, -1), *pairs, (b - a, d - c)]
            for one, other in pairs:
                found[c + other] = a + one
            for (begin, first), (end, last) in pairwise(ends):
                waiting.append((a + begin + 1, a + end, c + first + 1, c + last, depth + 1))
        elif 0 < cells <= left:
            left -= cells
            for one, other in _longest(old[a:b], new[c:d]):
                found[c + other] = a + one
    return found


def _single(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """Lines that stand once in both, as many as are in the same order."""
    times, times_new = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(old) if times[line] == 1 == times_new[line]}
    pairs = [(places[line], place) for place, line in enumerate(new) if line in places]
    ends: list[int] = []  # by length: the least place that a row of so many ends with …
    last: list[int] = []  # … and which pair that is
    before = [-1] * len(pairs)
    for at, (one, _) in enumerate(pairs):
        length = bisect_left(ends, one)
        before[at] = last[length - 1] if length else -1
        ends[length : length + 1] = [one]
        last[length : length + 1] = [at]
    found = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _longest(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """The longest row of lines that both have, pair by pair."""
    table = [[0] * (len(new) + 1)]
    for one in reversed(old):
        below, row = table[-1], [0] * (len(new) + 1)
        for at in range(len(new) - 1, -1, -1):
            row[at] = below[at + 1] + 1 if one == new[at] else max(below[at], row[at + 1])
        table.append(row)
    table.reverse()
    found, a, c = [], 0, 0
    while a < len(old) and c < len(new):
        if old[a] == new[c]:
            found.append((a, c))
            a, c = a + 1, c + 1
        elif table[a + 1][c] >= table[a][c + 1]:
            a += 1
        else:
            c += 1
    return found


# ---
# Which lines of the work tree differ from the last commit.
#
# In: a repository's folder. Out: by path, the stretches of lines that were changed or added, as they are now; where
# lines were only taken out, the line before. A file that git does not know yet is changed as a whole. Git is asked
# for what was committed and not to compare: for that it would run the filters that a repository's settings name.


def changed_lines(root: str) -> dict[str, list[Stretch]]:
    """The changed lines of each file; UserError where the folder has no commit to compare with."""
    before, now, _ = sides(root, ("HEAD",), Config())
    found: dict[str, list[Stretch]] = {}
    with closing(Blobs(root)) as blobs:
        for path, entry in now.entries.items():
            was = before.entries.get(path)
            if was is None or was.skip is not entry.skip:
                found[path] = [_WHOLE]
            elif was.blob != entry.blob and entry.skip is Skip.NONE:
                with suppress(Unreadable):
                    stretches = _stretches(_lines(blobs.get(was.blob)), _lines(walk.read(root, entry)))
                    found.update({path: stretches} if stretches else {})
    return found


def _lines(data: bytes) -> list[bytes]:
    """Lines without their ends, which git may have changed when it laid the file out."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return lines if lines[-1] else lines[:-1]


def _stretches(old: list[bytes], new: list[bytes]) -> list[Stretch]:
    found: list[Stretch] = []
    last, first = -1, 0  # the old line that the one before is, and the first of those since that are none
    for number, place in enumerate([*aligned(old, new), len(old)], 1):
        if place < 0:
            first = first or number
            continue
        if first:
            found.append((first, number - 1))
        elif place > last + 1:  # lines were only taken out
            found.append((max(1, number - 1), max(1, number - 1)))
        last, first = place, 0
    return found
