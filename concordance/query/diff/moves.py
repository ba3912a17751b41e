"""What moved to another file or place, and what has another name now, among what is gone and what has come.

In: symbols that are on one side only. Out: pairs of them. A symbol moved where one of the same name is found elsewhere
and most of their text is the same; of a value, where all of it is. It was renamed where one of the same kind stands in
its place with the same text but for the name, or with nearly the same text, or of a class nearly the same members, and
nothing else comes near; elsewhere where all of a long text is the same. What is in a class that moved is compared with
what was in it, and does not move by itself.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from concordance.base.model import KINDS, RUN, TYPES, Kind
from concordance.query.diff.symbol_pairs import paired
from concordance.query.diff.symbols import VALUES, ComparableSymbol, bare

_LEAST = 0.5  # the share of lines in common, as git has it
_COMMON = 20  # files that have a line, above which it tells nothing
_MOVED, _MOVED_AS_SIGNED = 0.6, 0.4  # the share of text in common, and where signatures are the same
_RENAMED = 0.8
_SHORT = 60  # characters of text below which all of it must be the same
_LONG = 150  # characters of text that tell by themselves
_FEW = 20  # of one name and text, that are looked at
_MOST = 10_000  # pairs in one place that are looked at
_GROUPS = (frozenset((*RUN,)), frozenset((*TYPES, Kind.TYPE)), frozenset(VALUES), frozenset((Kind.HEADING,)))
EVERY = frozenset(KINDS) - {Kind.KEY, Kind.LABEL, Kind.NAMESPACE, Kind.ENUMERATOR}  # but for short names in all places
_TELLING = 10  # characters of a value that is not any value
_MEMBERS = 3  # that two classes have in common, at least


class RemovedSymbols(NamedTuple):
    """Symbols of which the other side has none in their place."""

    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


class MovedSymbols(NamedTuple):
    """What became of them."""

    moved: list[tuple[ComparableSymbol, ComparableSymbol]]
    renamed: list[tuple[ComparableSymbol, ComparableSymbol]]
    inside: list[tuple[ComparableSymbol, ComparableSymbol]]  # pairs in what moved or was renamed
    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


def elsewhere(gone: Sequence[RemovedSymbols], files: dict[str, str]) -> MovedSymbols:
    """Finds them; `files` has for each path before the path after."""
    pools = _Pools(gone, files)
    pools.rename(sure=True)
    for kinds in (TYPES, EVERY):  # classes first: what is in one goes with it
        pools.move(kinds)
        pools.rename(sure=False, kinds=kinds)
    pools.rename_elsewhere()
    return MovedSymbols(
        pools.moved, pools.renamed, pools.inside, sorted(pools.removed.values(), key=_order),
        sorted(pools.added.values(), key=_order),
    )  # fmt: skip


def _order(part: ComparableSymbol) -> tuple[str, int]:
    return part.path, part.place


def _at(part: ComparableSymbol) -> tuple[str, int]:
    return part.path, part.place


def _group(part: ComparableSymbol) -> int:
    return next(
        (n for n, kinds in enumerate(_GROUPS) if part.kind in kinds), len(_GROUPS) + KINDS.index(Kind(part.kind))
    )


class _Pools:
    """What is left on both sides."""

    def __init__(self, gone: Sequence[RemovedSymbols], files: dict[str, str]) -> None:
        self.removed = {_at(part): part for one in gone for part in one.removed}
        self.added = {_at(part): part for one in gone for part in one.added}
        self._files = files
        self._old = _by_parent(self.removed.values())
        self._new = _by_parent(self.added.values())
        self.moved: list[tuple[ComparableSymbol, ComparableSymbol]] = []
        self.renamed: list[tuple[ComparableSymbol, ComparableSymbol]] = []
        self.inside: list[tuple[ComparableSymbol, ComparableSymbol]] = []

    def _join(
        self, before: ComparableSymbol, after: ComparableSymbol, into: list[tuple[ComparableSymbol, ComparableSymbol]]
    ) -> None:
        """Takes a pair, and pairs what is in it."""
        into.append((before, after))
        del self.removed[_at(before)], self.added[_at(after)]
        old, new = _inside(self._old, before), _inside(self._new, after)
        if not old or not new:
            return
        for one, other in paired(old, new, (before.place, after.place)).pairs:
            if _at(one) in self.removed and _at(other) in self.added:
                self.inside.append((one, other))
                del self.removed[_at(one)], self.added[_at(other)]

    # --- moved

    def move(self, kinds: frozenset[Kind]) -> None:
        """Joins what has the same name elsewhere, containers before what is in them."""
        by_name: dict[tuple[str, int], list[ComparableSymbol]] = {}
        by_shape: dict[tuple[str, int, int], list[ComparableSymbol]] = {}
        for part in self.added.values():
            if part.kind in kinds:
                by_shape.setdefault((part.name, _group(part), part.shape), []).append(part)
                by_name.setdefault((part.name, _group(part)), []).append(part)
        found = []
        times = Counter((part.name, _group(part)) for part in self.removed.values())
        for part in self.removed.values():
            name = (part.name, _group(part))
            there = by_name.get(name, []) if part.kind in kinds else []
            if len(there) * times[name] > _MOST:
                there = by_shape.get((*name, part.shape), [])[:_FEW]
            for other in there:
                alone = len(there) == 1 == times[name]
                score = self._moved(part, other, alone)
                if score:
                    found.append((part.key.count("."), -score, _at(part), _at(other)))
        for _, _, here, where in sorted(found):
            if here in self.removed and where in self.added:
                self._join(self.removed[here], self.added[where], self.moved)

    def _moved(self, before: ComparableSymbol, after: ComparableSymbol, alone: bool) -> float:
        """How alike two of one name are; 0 where that is not enough."""
        same = bare(before.signature) == bare(after.signature)
        if before.kind in VALUES:
            return 1.0 if same and alone and len(before.signature) >= len(before.name) + _TELLING else 0.0
        if before.shape == after.shape and (alone or _size(before) >= _SHORT):
            return 1.0
        if before.declaration != after.declaration or min(_size(before), _size(after)) < _SHORT:
            return 0.0
        score = likeness(before, after)
        return score if score >= (_MOVED_AS_SIGNED if same and alone else _MOVED) else 0.0

    # --- renamed

    def rename(self, sure: bool, kinds: frozenset[Kind] = EVERY) -> None:
        """Joins what stands in the place of another; where it is to be `sure`, only what says the same."""
        places: dict[tuple[str, str], tuple[list[ComparableSymbol], list[ComparableSymbol]]] = {}
        for part in self.removed.values():
            if part.kind not in kinds:
                continue
            home = (self._files.get(part.path, part.path), part.qualified[: -len(part.relative)])
            places.setdefault(home, ([], []))[0].append(part)
        for part in self.added.values():
            home = (part.path, part.qualified[: -len(part.relative)])
            if home in places and part.kind in kinds:
                places[home][1].append(part)
        for before, after in places.values():
            for one, other in self._alike(before, after, sure):
                if _at(one) in self.removed and _at(other) in self.added:
                    self._join(one, other, self.renamed)

    def rename_elsewhere(self) -> None:
        """Joins what has another name and another place, where a text that is long enough is there but once."""
        sets = [[part for part in side.values() if _size(part) >= _LONG] for side in (self.removed, self.added)]
        for one, other in _same_shape(*sets):
            if _at(one) in self.removed and _at(other) in self.added:
                self._join(one, other, self.renamed)

    def _alike(
        self, before: list[ComparableSymbol], after: list[ComparableSymbol], sure: bool
    ) -> list[tuple[ComparableSymbol, ComparableSymbol]]:
        if sure:
            return _same_shape(before, after)
        if not before or len(before) * len(after) > _MOST:
            return []
        rows = sorted(
            (-self._likeness(one, other), n, m)
            for n, one in enumerate(before) if one.kind not in VALUES and _size(one) >= _LONG
            for m, other in enumerate(after) if _group(one) == _group(other) and one.declaration == other.declaration
        )  # fmt: skip
        rivals = Counter(
            (side, at) for score, n, m in rows if -score >= _RENAMED - 0.2 for side, at in ((0, n), (1, m))
        )
        return [
            (before[n], after[m]) for score, n, m in rows
            if -score >= _RENAMED and rivals[0, n] == 1 and rivals[1, m] == 1
        ]  # fmt: skip

    def _likeness(self, before: ComparableSymbol, after: ComparableSymbol) -> float:
        """How alike two of one place are: by their text, or, of classes, by the names of what is in them."""
        score = likeness(before, after)
        if before.kind in TYPES and after.kind in TYPES:
            sets = [
                {part.name for part in side.get(_at(one), ())}
                for side, one in ((self._old, before), (self._new, after))
            ]
            common = len(sets[0] & sets[1])
            if common >= _MEMBERS:
                score = max(score, 2 * common / (len(sets[0]) + len(sets[1])))
        return score


def _same_shape(
    before: list[ComparableSymbol], after: list[ComparableSymbol]
) -> list[tuple[ComparableSymbol, ComparableSymbol]]:
    """Those whose text is the same but for their names, where there is but one of each text, and it tells something."""
    shapes = Counter((0, part.shape) for part in before) + Counter((1, part.shape) for part in after)
    theirs = {(part.shape, _group(part)): part for part in after}
    return [
        (part, theirs[part.shape, _group(part)]) for part in before
        if (part.shape, _group(part)) in theirs and shapes[0, part.shape] == shapes[1, part.shape] == 1
        and _size(part) >= _SHORT
    ]  # fmt: skip


def _by_parent(side: Iterable[ComparableSymbol]) -> dict[tuple[str, int], list[ComparableSymbol]]:
    found: dict[tuple[str, int], list[ComparableSymbol]] = {}
    for part in side:
        found.setdefault((part.path, part.parent), []).append(part)
    return found


def _inside(side: Mapping[tuple[str, int], list[ComparableSymbol]], around: ComparableSymbol) -> list[ComparableSymbol]:
    """All that stands in a symbol; parents come before what is in them."""
    found = list(side.get(_at(around), ()))
    for part in found:
        found += side.get(_at(part), ())
    return found


def _size(part: ComparableSymbol) -> int:
    return sum(line & 255 for line in part.lines)


def likeness(before: ComparableSymbol, after: ComparableSymbol) -> float:
    """The share of two symbols' text that is the same, line by line."""
    return alike(before.lines, after.lines)


def alike(before: Sequence[int], after: Sequence[int]) -> float:
    """The share of two texts that is the same; their lines are numbers, whose last byte is the length."""
    whole = sum(line & 255 for line in before) + sum(line & 255 for line in after)
    if not whole:
        return 0.0
    common = Counter(before) & Counter(after)
    return 2 * sum((line & 255) * times for line, times in common.items()) / whole


# ---
# Which file that is gone is which that has come: renamed or moved files.
#
# In: the files of one side only, with their lines. Out: pairs. First those of the same content, those of one name
# before others; then those that share most of their lines. A file is looked at beside those only that have a line in
# common with it that is not common.


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
