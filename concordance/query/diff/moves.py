"""Finds moved and renamed definitions and files among those that exist on one side only.

In: symbols that are on one side only. Out: pairs of them. A symbol was moved if one of the same name is found elsewhere
and most of their text is the same; for a value, all of it. It was renamed if a symbol of the same kind is in its place
with the same text but for the name, or nearly the same text (for a class, nearly the same members) and no other
candidate comes close; or if a long text is found unchanged elsewhere. The members of a class that moved are compared
with its former members, and are not reported as moved.

Files are paired by content first, those of the same name before others, and then by the share of common lines. A file
is compared only with files that share a rare line with it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, KINDS, TYPE_KINDS, Kind
from concordance.query.diff.symbol_pairs import pair_symbols
from concordance.query.diff.symbols import VALUES, ComparableSymbol, bare_signature

_MIN_COMMON_LINES = 0.5  # the least share of common lines of renamed files, as in git
_MAX_FILES_OF_RARE_LINE = 20  # a line found in more files than this is not rare
_MIN_SIMILARITY = 0.6  # least share of common text …
_MIN_SIMILARITY_SAME_SIGNATURE = 0.4  # … and the least if the signatures are the same
_MIN_RENAME_SIMILARITY = 0.8
_SHORT_TEXT = 60  # characters of text below which all of it must be the same
_LONG_TEXT = 150  # characters of text that identify a symbol by themselves
_MAX_CANDIDATES = 20  # candidates of the same name and text that are compared
_MAX_PAIRS = 10_000  # pairs of candidates that are compared
_GROUPS = (
    frozenset((*EXECUTABLE_KINDS,)),
    frozenset((*TYPE_KINDS, Kind.TYPE)),
    frozenset(VALUES),
    frozenset((Kind.HEADING,)),
)
MOVABLE_KINDS = frozenset(KINDS) - {Kind.KEY, Kind.LABEL, Kind.NAMESPACE, Kind.ENUMERATOR}  # no short, frequent names
_VALUE_LENGTH = 10  # characters of a value that identify it
_MEMBERS = 3  # common members of two classes, at least


class UnpairedSymbols(NamedTuple):
    """Symbols without a counterpart in the same place on the other side."""

    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


class MovedSymbols(NamedTuple):
    """How such symbols were paired, and which remain."""

    moved: list[tuple[ComparableSymbol, ComparableSymbol]]
    renamed: list[tuple[ComparableSymbol, ComparableSymbol]]
    inside: list[tuple[ComparableSymbol, ComparableSymbol]]  # pairs inside of what was moved or renamed
    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


def find_moves(unpaired: Sequence[UnpairedSymbols], files: dict[str, str]) -> MovedSymbols:
    """Find moved and renamed symbols; `files` maps the old paths of renamed files to the new ones."""
    pools = _Pools(unpaired, files)
    pools.rename(sure=True)
    for kinds in (TYPE_KINDS, MOVABLE_KINDS):  # classes first, as their members go with them
        pools.move(kinds)
        pools.rename(sure=False, kinds=kinds)
    pools.rename_elsewhere()
    return MovedSymbols(
        pools.moved, pools.renamed, pools.inside, sorted(pools.removed.values(), key=_order),
        sorted(pools.added.values(), key=_order),
    )  # fmt: skip


def _order(part: ComparableSymbol) -> tuple[str, int]:
    return part.path, part.place


def _position(part: ComparableSymbol) -> tuple[str, int]:
    return part.path, part.place


def _group(part: ComparableSymbol) -> int:
    return next(
        (n for n, kinds in enumerate(_GROUPS) if part.kind in kinds), len(_GROUPS) + KINDS.index(Kind(part.kind))
    )


class _Pools:
    """The symbols of both sides that are not paired yet."""

    def __init__(self, unpaired: Sequence[UnpairedSymbols], files: dict[str, str]) -> None:
        self.removed = {_position(part): part for symbol in unpaired for part in symbol.removed}
        self.added = {_position(part): part for symbol in unpaired for part in symbol.added}
        self._files = files
        self._old = _by_parent(self.removed.values())
        self._new = _by_parent(self.added.values())
        self.moved: list[tuple[ComparableSymbol, ComparableSymbol]] = []
        self.renamed: list[tuple[ComparableSymbol, ComparableSymbol]] = []
        self.inside: list[tuple[ComparableSymbol, ComparableSymbol]] = []

    def _join(
        self, before: ComparableSymbol, after: ComparableSymbol, pairs: list[tuple[ComparableSymbol, ComparableSymbol]]
    ) -> None:
        """Accept a pair, and pair the members of the two."""
        pairs.append((before, after))
        del self.removed[_position(before)], self.added[_position(after)]
        old, new = _descendants(self._old, before), _descendants(self._new, after)
        if not old or not new:
            return
        for one, other in pair_symbols(old, new, (before.place, after.place)).pairs:
            if _position(one) in self.removed and _position(other) in self.added:
                self.inside.append((one, other))
                del self.removed[_position(one)], self.added[_position(other)]

    # --- moved

    def move(self, kinds: frozenset[Kind]) -> None:
        """Pair symbols that have the same name elsewhere, containers before their members."""
        by_name: dict[tuple[str, int], list[ComparableSymbol]] = {}
        by_shape: dict[tuple[str, int, int], list[ComparableSymbol]] = {}
        for part in self.added.values():
            if part.kind in kinds:
                by_shape.setdefault((part.name, _group(part), part.shape), []).append(part)
                by_name.setdefault((part.name, _group(part)), []).append(part)
        moved = []
        times = Counter((part.name, _group(part)) for part in self.removed.values())
        for part in self.removed.values():
            name = (part.name, _group(part))
            there = by_name.get(name, []) if part.kind in kinds else []
            if len(there) * times[name] > _MAX_PAIRS:
                there = by_shape.get((*name, part.shape), [])[:_MAX_CANDIDATES]
            for other in there:
                alone = len(there) == 1 == times[name]
                score = self._similarity(part, other, alone)
                if score:
                    moved.append((part.key.count("."), -score, _position(part), _position(other)))
        for _, _, here, where in sorted(moved):
            if here in self.removed and where in self.added:
                self._join(self.removed[here], self.added[where], self.moved)

    def _similarity(self, before: ComparableSymbol, after: ComparableSymbol, alone: bool) -> float:
        """Return the similarity of two symbols of the same name; 0 if it is too low."""
        same = bare_signature(before.signature) == bare_signature(after.signature)
        if before.kind in VALUES:
            return 1.0 if same and alone and len(before.signature) >= len(before.name) + _VALUE_LENGTH else 0.0
        if before.shape == after.shape and (alone or _size(before) >= _SHORT_TEXT):
            return 1.0
        if before.declaration != after.declaration or min(_size(before), _size(after)) < _SHORT_TEXT:
            return 0.0
        score = symbol_similarity(before, after)
        return score if score >= (_MIN_SIMILARITY_SAME_SIGNATURE if same and alone else _MIN_SIMILARITY) else 0.0

    # --- renamed

    def rename(self, sure: bool, kinds: frozenset[Kind] = MOVABLE_KINDS) -> None:
        """Pair symbols in the same place; if `sure`, only those with the same text."""
        places: dict[tuple[str, str], tuple[list[ComparableSymbol], list[ComparableSymbol]]] = {}
        for part in self.removed.values():
            if part.kind not in kinds:
                continue
            parent = (self._files.get(part.path, part.path), part.qualified[: -len(part.relative)])
            places.setdefault(parent, ([], []))[0].append(part)
        for part in self.added.values():
            parent = (part.path, part.qualified[: -len(part.relative)])
            if parent in places and part.kind in kinds:
                places[parent][1].append(part)
        for before, after in places.values():
            for one, other in self._alike(before, after, sure):
                if _position(one) in self.removed and _position(other) in self.added:
                    self._join(one, other, self.renamed)

    def rename_elsewhere(self) -> None:
        """Pair symbols with another name and place, if their text is long enough and occurs once on each side."""
        sets = [[part for part in side.values() if _size(part) >= _LONG_TEXT] for side in (self.removed, self.added)]
        for one, other in _same_shape(*sets):
            if _position(one) in self.removed and _position(other) in self.added:
                self._join(one, other, self.renamed)

    def _alike(
        self, before: list[ComparableSymbol], after: list[ComparableSymbol], sure: bool
    ) -> list[tuple[ComparableSymbol, ComparableSymbol]]:
        if sure:
            return _same_shape(before, after)
        if not before or len(before) * len(after) > _MAX_PAIRS:
            return []
        rows = sorted(
            (-self._likeness(one, other), n, m)
            for n, one in enumerate(before) if one.kind not in VALUES and _size(one) >= _LONG_TEXT
            for m, other in enumerate(after) if _group(one) == _group(other) and one.declaration == other.declaration
        )  # fmt: skip
        rivals = Counter(
            (side, at)
            for score, n, m in rows
            if -score >= _MIN_RENAME_SIMILARITY - 0.2
            for side, at in ((0, n), (1, m))
        )
        return [
            (before[n], after[m]) for score, n, m in rows
            if -score >= _MIN_RENAME_SIMILARITY and rivals[0, n] == 1 and rivals[1, m] == 1
        ]  # fmt: skip

    def _likeness(self, before: ComparableSymbol, after: ComparableSymbol) -> float:
        """Return the similarity of two symbols in the same place: by text or, for classes, by the names of members."""
        score = symbol_similarity(before, after)
        if before.kind in TYPE_KINDS and after.kind in TYPE_KINDS:
            sets = [
                {part.name for part in side.get(_position(symbol), ())}
                for side, symbol in ((self._old, before), (self._new, after))
            ]
            common = len(sets[0] & sets[1])
            if common >= _MEMBERS:
                score = max(score, 2 * common / (len(sets[0]) + len(sets[1])))
        return score


def _same_shape(
    before: list[ComparableSymbol], after: list[ComparableSymbol]
) -> list[tuple[ComparableSymbol, ComparableSymbol]]:
    """Return pairs whose text is the same but for the name, is long enough, and occurs once on each side."""
    shapes = Counter((0, part.shape) for part in before) + Counter((1, part.shape) for part in after)
    theirs = {(part.shape, _group(part)): part for part in after}
    return [
        (part, theirs[part.shape, _group(part)]) for part in before
        if (part.shape, _group(part)) in theirs and shapes[0, part.shape] == shapes[1, part.shape] == 1
        and _size(part) >= _SHORT_TEXT
    ]  # fmt: skip


def _by_parent(side: Iterable[ComparableSymbol]) -> dict[tuple[str, int], list[ComparableSymbol]]:
    parts: dict[tuple[str, int], list[ComparableSymbol]] = {}
    for part in side:
        parts.setdefault((part.path, part.parent), []).append(part)
    return parts


def _descendants(
    side: Mapping[tuple[str, int], list[ComparableSymbol]], around: ComparableSymbol
) -> list[ComparableSymbol]:
    """Return everything inside of a symbol; parents come before their members."""
    parts = list(side.get(_position(around), ()))
    for part in parts:
        parts += side.get(_position(part), ())
    return parts


def _size(part: ComparableSymbol) -> int:
    return sum(line & 255 for line in part.lines)


def symbol_similarity(before: ComparableSymbol, after: ComparableSymbol) -> float:
    """Return the share of two symbols' text that is the same, line by line."""
    return similarity(before.lines, after.lines)


def similarity(before: Sequence[int], after: Sequence[int]) -> float:
    """Return the share of two texts that is the same; lines are numbers whose last byte is the length."""
    whole = sum(line & 255 for line in before) + sum(line & 255 for line in after)
    if not whole:
        return 0.0
    common = Counter(before) & Counter(after)
    return 2 * sum((line & 255) * times for line, times in common.items()) / whole


# Pairing renamed and moved files.


def pair_equal_files(removed: Mapping[str, str], added: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return pairs of paths with the same content; both arguments map paths to content ids."""
    named: dict[tuple[str, str], deque[str]] = {}
    there: dict[str, deque[str]] = {}
    for path, blob in sorted(added.items()):
        named.setdefault((blob, path.rpartition("/")[2]), deque()).append(path)
        there.setdefault(blob, deque()).append(path)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for by_name in (True, False):
        for path, blob in sorted(removed.items()):
            left = named.get((blob, path.rpartition("/")[2])) if by_name else there.get(blob)
            while left and left[0] in taken:
                left.popleft()
            if left and path not in pairs:
                pairs[path] = left.popleft()
                taken.add(pairs[path])
    return sorted(pairs.items())


def pair_similar_files(
    removed: Mapping[str, Sequence[int]], added: Mapping[str, Sequence[int]]
) -> list[tuple[str, str]]:
    """Return pairs of paths whose lines are mostly the same; the most similar ones are paired first."""
    having: dict[int, list[str]] = {}
    for path, lines in added.items():
        for line in set(lines):
            having.setdefault(line, []).append(path)
    rows = []
    for path, lines in removed.items():
        shared: Counter[str] = Counter()
        for line in set(lines):
            there = having.get(line, ())
            if len(there) <= _MAX_FILES_OF_RARE_LINE:
                shared.update(there)
        for other, _ in shared.most_common(_MAX_FILES_OF_RARE_LINE):
            score = similarity(lines, added[other])
            if score >= _MIN_COMMON_LINES:
                named = path.rpartition("/")[2] == other.rpartition("/")[2]
                rows.append((-score, not named, path, other))
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, path, other in sorted(rows):
        if path not in pairs and other not in taken:
            pairs[path] = other
            taken.add(other)
    return sorted(pairs.items())
