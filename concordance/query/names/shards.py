"""Divides an alphabetical list of names into parts that fit on a page.

In: names, with an estimate of the length of each entry. Out: `Shards`. The parts do not depend on the order in which
files were read, so that the same repository has the same parts everywhere. An update looks only at the parts of the
changed names; the result equals that of dividing all names again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

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


def by_letter(names: Iterable[str]) -> dict[str, list[str]]:
    """Sort names and group them by letter."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=_sort_key):
        found.setdefault(letter_of(name), []).append(name)
    return {letter: found[letter] for letter in sorted(found, key=str.lower)}


class NameChange(NamedTuple):
    """A change of a name's entry."""

    before: int | None  # its size; None if it is new …
    after: int | None  # … or was removed

    @property
    def more(self) -> int:
        """By how much it is longer now."""
        return (self.after or 0) - (self.before or 0)


def _update_names(names: list[str], changes: Mapping[str, NameChange]) -> None:
    """Remove deleted names from a sorted list and insert new ones."""
    for name, (before, after) in changes.items():
        if before is None or after is None:
            at = bisect_left(names, _sort_key(name), key=_sort_key)
            names[at : at + (after is None)] = [name] if before is None else []


class _Part:
    """The names with a common prefix: its own, and those of the smaller parts that were split off."""

    def __init__(self, name: str, names: list[str], sizes: Mapping[str, int]) -> None:
        """`names` must be sorted."""
        self.name, self.names = name, names
        self.total = sum([sizes[one] for one in names])
        self.length = len(name) + 1
        self.weights: dict[str, int] = {}  # sizes by prefixes one letter longer, if it is too large
        self.split_off: dict[str, _Part] = {}
        self.own = names
        self._mark: int | None = None
        if self.is_large:
            self._share(sizes)

    @property
    def is_large(self) -> bool:
        """True if it is too large for a page and can be divided."""
        return self.total > PAGE_BYTES and self.name not in (DIGITS, OTHER)

    def _share(self, sizes: Mapping[str, int]) -> None:
        following: dict[str, list[str]] = {}
        for name in self.names:
            start = name.lower()[: self.length]
            if len(start) == self.length:
                following.setdefault(start, []).append(name)
        self.weights = {start: sum([sizes[name] for name in inside]) for start, inside in following.items()}
        for start in self._largest():
            self.split_off[start] = _Part(start[:1].upper() + start[1:], following[start], sizes)
        self.own = [name for name in self.names if name.lower()[: self.length] not in self.split_off]

    def _largest(self) -> list[str]:
        """Return the largest prefixes to split off, each into a part of its own, until the rest fits on a page."""
        total, found = self.total, []
        for start in sorted(self.weights, key=lambda start: (-self.weights[start], start)):
            if total <= PAGE_BYTES or self.weights[start] < PAGE_BYTES // 10:
                break
            total -= self.weights[start]
            found.append(start)
        return found

    @property
    def mark(self) -> int:
        """A checksum of its own names."""
        if self._mark is None:
            self._mark = crc32(repr(self.own).encode("utf-8", "backslashreplace"))
        return self._mark

    def parts(self) -> Iterator[_Part]:
        """Yield the parts that were split off from this one, recursively, and then this one."""
        for part in self.split_off.values():
            yield from part.parts()
        yield self

    def renew(self, changes: Mapping[str, NameChange], sizes: Mapping[str, int]) -> bool:
        """Apply changes; return False if the part must be divided in another way."""
        was_large = self.is_large
        _update_names(self.names, changes)
        self.total += sum(change.more for change in changes.values())
        if not was_large and not self.is_large:
            self._mark = None
            return True  # all names are its own
        inner: dict[str, dict[str, NameChange]] = {}
        for name, change in changes.items():
            inner.setdefault(name.lower()[: self.length], {})[name] = change
        for start, inside in inner.items():
            if len(start) == self.length:
                weight = self.weights.pop(start, 0) + sum(change.more for change in inside.values())
                self.weights.update({start: weight} if weight else {})
        if was_large != self.is_large or set(self._largest()) != self.split_off.keys():
            return False
        for start, inside in inner.items():
            if start not in self.split_off:
                _update_names(self.own, inside)
                self._mark = None
            elif not self.split_off[start].renew(inside, sizes):
                self.split_off[start] = _Part(self.split_off[start].name, self.split_off[start].names, sizes)
        return True


class Shards:
    """The parts of a long alphabetical list, each of which fits on a page.

    Parts are formed by first letter, and by longer prefixes if a letter has too many names. A part is called after the
    common prefix; names of parts differ even if case is ignored, as they become file names.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._letters = {letter: _Part(letter, names, sizes) for letter, names in by_letter(sizes).items()}
        self.names: dict[str, list[str]] = {}  # by part
        self.marks: dict[str, int] = {}  # a checksum of the names of each part
        self._gather()

    def _gather(self) -> None:
        letters = sorted(self._letters, key=str.lower)
        found = {part.name: part for letter in letters for part in self._letters[letter].parts()}
        self.names = {part: found[part].own for part in sorted(found, key=_sort_key)}
        self.marks = {part: found[part].mark for part in self.names}

    def renew(self, changes: Mapping[str, NameChange], sizes: Mapping[str, int]) -> None:
        """Update after the entries of the given names changed; `sizes` are those of all names now."""
        by_letter: dict[str, dict[str, NameChange]] = {}
        for name, change in changes.items():
            by_letter.setdefault(letter_of(name), {})[name] = change
        for letter, inside in by_letter.items():
            part = self._letters.get(letter) or _Part(letter, [], sizes)
            self._letters[letter] = part if part.renew(inside, sizes) else _Part(letter, part.names, sizes)
            if not part.names:
                del self._letters[letter]
        if changes:
            self._gather()
