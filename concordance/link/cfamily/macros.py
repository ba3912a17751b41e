"""The macros of a repository's C-family files, by name.

In: where each is defined. Out: a macro's `Entry`. Drivers define millions that nobody names: each takes two numbers,
found by the hash of its name, and only those that are asked for become entries. Most names that are asked for are no
macros': a bit for each hash says so at once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable

from concordance.link.cfamily.scopes import MACRO, MASK, SHIFT, CScope, ScopeMember
from concordance.link.world import LoadedFlow

_SPARSE = 16  # bits for each macro: of other names, one in sixteen is looked for in vain
_WORD = 1 << 64


class Macros:
    """All macros."""

    def __init__(self, root: CScope, load: Callable[[int], LoadedFlow]) -> None:
        """`load` gives a file by its number."""
        self._root, self._load = root, load
        self._hashes, self._codes = array("Q"), array("Q")  # of definitions; rising, once all are there
        self._bits, self._mask = bytearray(1), 0
        self._made: dict[str, ScopeMember] = {}  # those that were asked for, or are defined elsewhere since
        self._left: set[int] = set()  # files that were read again: what they define is in `_made`

    def enter(self, name: str, code: int) -> None:
        """Takes a definition, before all are there."""
        self._hashes.append(hash(name) % _WORD)
        self._codes.append(code)

    def settle(self) -> None:
        """All definitions are there: from now on they are looked for."""
        rows = sorted([one << 64 | code for one, code in zip(self._hashes, self._codes, strict=True)])
        for place, row in enumerate(rows):
            self._hashes[place], self._codes[place] = row >> 64, row % _WORD
        size = 1 << (_SPARSE * len(rows) // 8 + 1).bit_length()
        self._bits, self._mask = bytearray(size), size - 1
        for one in self._hashes:
            self._bits[one >> 3 & self._mask] |= 1 << (one & 7)

    def get(self, name: str) -> ScopeMember | None:
        """A macro."""
        number = hash(name) % _WORD
        if not self._bits[number >> 3 & self._mask] >> (number & 7) & 1:
            return None
        found = self._made.get(name)
        codes = self._defined(name, number) if found is None else []
        if codes:
            found = self._made[name] = ScopeMember(self._root, name, MACRO)
            found.codes = codes if len(codes) > 1 else (codes[0],)
        return found

    def _defined(self, name: str, number: int) -> list[int]:
        """The definitions of a name, in the order of their files; another name may have the same hash."""
        found: list[int] = []
        place = bisect_left(self._hashes, number)
        while place < len(self._hashes) and self._hashes[place] == number:
            code = self._codes[place]
            if code >> SHIFT not in self._left:
                file = self._load(code >> SHIFT)
                if file.names[file.symbol_name[code & MASK]] == name:
                    found.append(code)
            place += 1
        return found

    def add(self, name: str, code: int) -> ScopeMember:
        """Takes one more definition, of a file that was read again."""
        found = self.get(name)
        if found is None:
            found = self._made[name] = ScopeMember(self._root, name, MACRO)
            number = hash(name) % _WORD
            self._bits[number >> 3 & self._mask] |= 1 << (number & 7)
        found.add(code)
        return found

    def leave(self, number: int, names: Iterable[str]) -> list[ScopeMember]:
        """Takes out what a file defines, by its names; gives those that others define as well, where they were asked
        for."""
        self._left.add(number)
        left: list[ScopeMember] = []
        for name in names:
            made = self._made.get(name)
            if made is not None:
                made.codes = [code for code in made.codes if code >> SHIFT != number]
                if made.codes:
                    left.append(made)
                else:
                    del self._made[name]
        return left

    def forget(self) -> None:
        """Forgets the entries that can be made again."""
        if not self._left:
            self._made.clear()
