"""Which file that is gone is which that has come: renamed or moved files.

In: the files of one side only, with their lines. Out: pairs. First those of the same content, those of one name before
others; then those that share most of their lines. A file is looked at beside those only that have a line in common
with it that is not common.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence

from concordance.query.diff.moves import alike

_LEAST = 0.5  # the share of lines in common, as git has it
_COMMON = 20  # files that have a line, above which it tells nothing


def same_content(gone: Mapping[str, str], come: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of paths of one content; both sides have the content's id by path."""
    named: dict[tuple[str, str], deque[str]] = {}
    there: dict[str, deque[str]] = {}
    for path, blob in sorted(come.items()):
        named.setdefault((blob, path.rpartition("/")[2]), deque()).append(path)
        there.setdefault(blob, deque()).append(path)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for by_name in (True, False):
        for path, blob in sorted(gone.items()):
            left = named.get((blob, path.rpartition("/")[2])) if by_name else there.get(blob)
            while left and left[0] in taken:
                left.popleft()
            if left and path not in pairs:
                pairs[path] = left.popleft()
                taken.add(pairs[path])
    return sorted(pairs.items())


def alike_content(gone: Mapping[str, Sequence[int]], come: Mapping[str, Sequence[int]]) -> list[tuple[str, str]]:
    """Pairs of paths whose lines are mostly the same, the most alike first."""
    having: dict[int, list[str]] = {}
    for path, lines in come.items():
        for line in set(lines):
            having.setdefault(line, []).append(path)
    rows = []
    for path, lines in gone.items():
        shared: Counter[str] = Counter()
        for line in set(lines):
            there = having.get(line, ())
            if len(there) <= _COMMON:
                shared.update(there)
        for other, _ in shared.most_common(_COMMON):
            score = alike(lines, come[other])
            if score >= _LEAST:
                named = path.rpartition("/")[2] == other.rpartition("/")[2]
                rows.append((-score, not named, path, other))
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, path, other in sorted(rows):
        if path not in pairs and other not in taken:
            pairs[path] = other
            taken.add(other)
    return sorted(pairs.items())
