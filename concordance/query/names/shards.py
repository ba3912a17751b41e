"""Divides an alphabetical list of names into parts that fit on a page.

In: names, with an estimate of the length of each entry. Out: `Shards`. The parts do not depend on the order in which
files were read, so that the same repository has the same parts everywhere. An update looks only at the parts of the
changed names; the result equals that of dividing all names again. A large repository has millions of names, so those of
a part are stored encoded.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import msgspec

MAX_FILES = 24  # files that an entry lists one by one
PAGE_BYTES = 300_000  # approximate bytes of a page
DIGITS, OTHER = "0-9", "#"


class NameEntry(NamedTuple):
    """One name in the alphabetical index."""

    name: str
    ids: Sequence[int]  # the symbols that have the name …
    files: Sequence[str] = ()  # … and the files that it is a concept of
    stands_for: str = ""  # the long form of an acronym


def letter_of(name: str) -> str:
    """Return the letter under which a name is listed: its first letter, `_`, `0-9`, or `#` for other characters."""
    first = name[:1].upper()
    if first.isascii() and (first.isalpha() or first == "_"):
        return first
    return DIGITS if first.isdecimal() and first.isascii() else OTHER


def _sort_key(name: str) -> tuple[str, str]:
    return name.lower(), name


def by_letter(sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Group names with their sizes by letter."""
    counts: dict[str, dict[str, int]] = {}
    for name, size in sizes.items():
        counts.setdefault(letter_of(name), {})[name] = size
    return counts


class _SizedNames:
    """Names in order, each with the size of its entry."""

    def __init__(self, names: list[str], sizes: Iterable[int]) -> None:
        self._count, self._packed, self.sizes = len(names), msgspec.msgpack.encode(names), array("I", sizes)

    def __len__(self) -> int:
        return self._count

    def decode(self) -> list[str]:
        """Return the names."""
        return msgspec.msgpack.decode(self._packed, type=list[str])

    def replaced(self, changes: Mapping[str, int | None]) -> _SizedNames:
        """Return the names after an update: the sizes of some of them now, or None for names that are removed."""
        names, sizes = self.decode(), self.sizes[:]
        for name, size in changes.items():
            at = bisect_left(names, _sort_key(name), key=_sort_key)
            known = at < len(names) and names[at] == name
            names[at : at + known] = [name] if size is not None else []
            sizes[at : at + known] = array("I", [size] if size is not None else [])
        return _SizedNames(names, sizes)


class _Part:
    """The names with a common prefix: its own, and those of the smaller parts that were split off."""

    def __init__(self, name: str, names: list[str], sizes: Mapping[str, int]) -> None:
        """`names` must be sorted."""
        self.name = name
        self.total = sum([sizes[one] for one in names])
        self.length = len(name) + 1
        self.weights: dict[str, int] = {}  # sizes by prefixes one letter longer, if it is too large
        self.split_off: dict[str, _Part] = {}
        self._mark: int | None = None
        if self.is_large:
            names = self._share(names, sizes)
        self.own = _SizedNames(names, [sizes[one] for one in names])

    @property
    def is_large(self) -> bool:
        """True if it is too large for a page and can be divided."""
        return self.total > PAGE_BYTES and self.name not in (DIGITS, OTHER)

    def _share(self, names: list[str], sizes: Mapping[str, int]) -> list[str]:
        """Split smaller parts off, and return the names that are left."""
        following: dict[str, list[str]] = {}
        for name in names:
            start = name.lower()[: self.length]
            if len(start) == self.length:
                following.setdefault(start, []).append(name)
        self.weights = {start: sum([sizes[name] for name in inside]) for start, inside in following.items()}
        for start in self._largest():
            self.split_off[start] = _Part(start[:1].upper() + start[1:], following[start], sizes)
        return [name for name in names if name.lower()[: self.length] not in self.split_off]

    def _largest(self) -> list[str]:
        """Return the largest prefixes to split off, each into a part of its own, until the rest fits on a page."""
        total, largest = self.total, []
        for start in sorted(self.weights, key=lambda start: (-self.weights[start], start)):
            if total <= PAGE_BYTES or self.weights[start] < PAGE_BYTES // 10:
                break
            total -= self.weights[start]
            largest.append(start)
        return largest

    @property
    def mark(self) -> int:
        """A checksum of its own names."""
        if self._mark is None:
            self._mark = crc32(repr(self.own.decode()).encode("utf-8", "backslashreplace"))
        return self._mark

    def parts(self) -> Iterator[_Part]:
        """Yield the parts that were split off from this one, recursively, and then this one."""
        for part in self.split_off.values():
            yield from part.parts()
        yield self

    def renewed(self, changes: Mapping[str, int | None]) -> _Part:
        """Return the part after an update (`changes` as in `Shards.renew`): this one, or a new one if it is divided in
        another way now."""
        was_large = self.is_large
        inner: dict[str, dict[str, int | None]] = {}
        for name, size in changes.items():
            inner.setdefault(name.lower()[: self.length] if was_large else "", {})[name] = size
        for start, inside in inner.items():
            before = self.total
            if start in self.split_off:
                part = self.split_off[start]
                self.total -= part.total
                self.split_off[start] = part.renewed(inside)
                self.total += self.split_off[start].total
            else:
                self.total -= sum(self.own.sizes)
                self.own, self._mark = self.own.replaced(inside), None
                self.total += sum(self.own.sizes)
            if was_large and len(start) == self.length:
                weight = self.weights.pop(start, 0) + self.total - before
                self.weights.update({start: weight} if weight else {})
        if was_large == self.is_large and set(self._largest()) == self.split_off.keys():
            return self
        sizes = {
            name: size for part in self.parts() for name, size in zip(part.own.decode(), part.own.sizes, strict=True)
        }
        return _Part(self.name, sorted(sizes, key=_sort_key), sizes)


class Shards:
    """The parts of a long alphabetical list, each of which fits on a page.

    Parts are formed by first letter, and by longer prefixes if a letter has too many names. A part is called after the
    common prefix; names of parts differ even if case is ignored, as they become file names.
    """

    def __init__(self, letters: Iterable[tuple[str, Mapping[str, int]]]) -> None:
        """`letters` are all letters, each with its names and their sizes. They are taken one by one, because millions
        of names and sizes take a gigabyte."""
        self._letters: dict[str, _Part] = {}
        for letter, sizes in letters:
            names = sorted(sizes)
            names.sort(key=str.lower)  # in two steps, as a key for both would make a tuple for each name
            self._letters[letter] = _Part(letter, names, sizes)
        self._parts: dict[str, _Part] = {}  # by name, in order
        self.marks: dict[str, int] = {}  # a checksum of the names of each part
        self._gather()

    def _gather(self) -> None:
        letters = sorted(self._letters, key=str.lower)
        parts = {part.name: part for letter in letters for part in self._letters[letter].parts()}
        self._parts = {part: parts[part] for part in sorted(parts, key=_sort_key)}
        self.marks = {name: part.mark for name, part in self._parts.items()}

    @property
    def parts(self) -> list[str]:
        """The names of all parts, in order."""
        return list(self._parts)

    def count(self, part: str) -> int:
        """Return the number of names in a part."""
        return len(self._parts[part].own)

    def names(self, part: str) -> dict[str, int]:
        """Return the names of a part, in order, each with the size of its entry."""
        own = self._parts[part].own
        return dict(zip(own.decode(), own.sizes, strict=True))

    def renew(self, changes: Mapping[str, int | None]) -> None:
        """Update the parts: the sizes of changed and new entries by name, None for those that were removed."""
        by_letter: dict[str, dict[str, int | None]] = {}
        for name, size in changes.items():
            by_letter.setdefault(letter_of(name), {})[name] = size
        for letter, inside in by_letter.items():
            part = (self._letters.get(letter) or _Part(letter, [], {})).renewed(inside)
            self._letters[letter] = part
            if not part.total:
                del self._letters[letter]
        if changes:
            self._gather()
