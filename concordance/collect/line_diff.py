"""Aligns the lines of a text with those of an earlier version, and finds the changed lines of a work tree.

In: the lines of both versions. Out: for each new line the index of the old line that it is.

A complete comparison takes time quadratic in the lines, and untrusted texts must not keep us busy. So lines that occur
once in both versions are matched first (as in a patience diff); the parts between them are compared in the same way,
and finally line by line as long as that is little work. Lines left over count as new.

`changed_lines` gets the last commit's contents from git and compares them here: if git compared, it would run the
filters that a repository's settings name.
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

Stretch = tuple[int, int]  # first and last line
_WHOLE = (1, 1 << 30)
_DEEPEST = 12  # maximum nesting of parts
_CELLS = 1_000_000  # total number of line pairs to compare one by one

Pair = tuple[int, int]


def align_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[int]:
    """Return for each new line the index of the old line that it is, -1 if none; the indexes ascend."""
    aligned = [-1] * len(new)
    left = _CELLS
    waiting = [(0, len(old), 0, len(new), 0)]
    while waiting:
        a, b, c, d, depth = waiting.pop()
        while a < b and c < d and old[a] == new[c]:
            aligned[c] = a
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            aligned[d] = b
        cells = (b - a) * (d - c)
        pairs = _single(old[a:b], new[c:d]) if cells and depth < _DEEPEST else []
        if pairs:
            ends = [(-1, -1), *pairs, (b - a, d - c)]
            for line, other in pairs:
                aligned[c + other] = a + line
            for (begin, first), (end, last) in pairwise(ends):
                waiting.append((a + begin + 1, a + end, c + first + 1, c + last, depth + 1))
        elif 0 < cells <= left:
            left -= cells
            for line, other in _longest(old[a:b], new[c:d]):
                aligned[c + other] = a + line
    return aligned


def _single(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """Return lines that occur once in both, as many as are in the same order (longest increasing subsequence)."""
    times, times_new = Counter(old), Counter(new)
    places = {line: place for place, line in enumerate(old) if times[line] == 1 == times_new[line]}
    pairs = [(places[line], place) for place, line in enumerate(new) if line in places]
    ends: list[int] = []  # by length: the smallest index that a sequence of that length ends with …
    last: list[int] = []  # … and the pair that it is
    before = [-1] * len(pairs)
    for at, (old_line, _) in enumerate(pairs):
        length = bisect_left(ends, old_line)
        before[at] = last[length - 1] if length else -1
        ends[length : length + 1] = [old_line]
        last[length : length + 1] = [at]
    subsequence = []
    at = last[-1] if last else -1
    while at >= 0:
        subsequence.append(pairs[at])
        at = before[at]
    return subsequence[::-1]


def _longest(old: Sequence[bytes], new: Sequence[bytes]) -> list[Pair]:
    """Return the longest common subsequence of lines, as pairs."""
    table = [[0] * (len(new) + 1)]
    for line in reversed(old):
        below, row = table[-1], [0] * (len(new) + 1)
        for at in range(len(new) - 1, -1, -1):
            row[at] = below[at + 1] + 1 if line == new[at] else max(below[at], row[at + 1])
        table.append(row)
    table.reverse()
    pairs, a, c = [], 0, 0
    while a < len(old) and c < len(new):
        if old[a] == new[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        elif table[a + 1][c] >= table[a][c + 1]:
            a += 1
        else:
            c += 1
    return pairs


# --- lines of the work tree that differ from the last commit


def changed_lines(root: str) -> dict[str, list[Stretch]]:
    """Return the changed or added lines of each file, as they are now; raise UserError if there is no commit.

    If lines were only removed, the line before them counts as changed. An untracked file is changed as a whole.
    """
    before, now, _ = sides(root, ("HEAD",), Config())
    lines_by_path: dict[str, list[Stretch]] = {}
    with closing(Blobs(root)) as blobs:
        for path, entry in now.entries.items():
            was = before.entries.get(path)
            if was is None or was.skip is not entry.skip:
                lines_by_path[path] = [_WHOLE]
            elif was.blob != entry.blob and entry.skip is Skip.NONE:
                with suppress(Unreadable):
                    stretches = _stretches(_lines(blobs.get(was.blob)), _lines(walk.read(root, entry)))
                    lines_by_path.update({path: stretches} if stretches else {})
    return lines_by_path


def _lines(data: bytes) -> list[bytes]:
    """Split into lines without their ends, which git may have changed at checkout."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return lines if lines[-1] else lines[:-1]


def _stretches(old: list[bytes], new: list[bytes]) -> list[Stretch]:
    stretches: list[Stretch] = []
    last, first = -1, 0  # the old index of the previous line, and the first new line since then
    for number, place in enumerate([*align_lines(old, new), len(old)], 1):
        if place < 0:
            first = first or number
            continue
        if first:
            stretches.append((first, number - 1))
        elif place > last + 1:  # lines were only removed
            stretches.append((max(1, number - 1), max(1, number - 1)))
        last, first = place, 0
    return stretches
