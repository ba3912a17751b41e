"""The macros of a repository's C-family files, by name.

In: the place of each definition. Out: a macro's `ScopeMember`. Hardware drivers define millions of macros that are
never used, so an object for each would take too much memory. Instead, each takes two numbers, found by the hash of its
name, and only those that are looked up become objects. Most names that are looked up are not macros: a Bloom filter,
with one bit for each hash, rejects them at once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable

from concordance.link.cfamily.scopes import MACRO, MASK, SHIFT, CScope, ScopeMember
from concordance.link.world import LoadedFlow

_SPARSE = 16  # bits for each macro: of other names, one in sixteen is searched in vain
_WORD = 1 << 64


class Macros:
    """All macros of the repository."""

    def __init__(self, root: CScope, load: Callable[[int], LoadedFlow]) -> None:
        """`load` returns a file by its number."""
        self._root, self._load = root, load
        self._hashes, self._codes = array("Q"), array("Q")  # of definitions; sorted once all are entered
        self._bits, self._mask = bytearray(1), 0
        self._made: dict[str, ScopeMember] = {}  # macros that were looked up, or that files read again define
        self._left: set[int] = set()  # files that were read again: their definitions are in `_made`

    def enter(self, name: str, code: int) -> None:
        """Add a definition while the table is being filled."""
        self._hashes.append(hash(name) % _WORD)
        self._codes.append(code)

    def settle(self) -> None:
        """Sort the definitions, once all are entered, so that they can be searched."""
        rows = sorted([one << 64 | code for one, code in zip(self._hashes, self._codes, strict=True)])
        for place, row in enumerate(rows):
            self._hashes[place], self._codes[place] = row >> 64, row % _WORD
        size = 1 << (_SPARSE * len(rows) // 8 + 1).bit_length()
        self._bits, self._mask = bytearray(size), size - 1
        for one in self._hashes:
            self._bits[one >> 3 & self._mask] |= 1 << (one & 7)

    def get(self, name: str) -> ScopeMember | None:
        """Return a macro, or None."""
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
        """Return the definitions of a name, in the order of their files; another name may have the same hash."""
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
        """Add a definition from a file that was read again."""
        found = self.get(name)
        if found is None:
            found = self._made[name] = ScopeMember(self._root, name, MACRO)
            number = hash(name) % _WORD
            self._bits[number >> 3 & self._mask] |= 1 << (number & 7)
        found.add(code)
        return found

    def leave(self, number: int, names: Iterable[str]) -> list[ScopeMember]:
        """Remove a file's definitions, by their names; return the macros in use that other files also define."""
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
        """Drop the objects that can be rebuilt."""
        if not self._left:
            self._made.clear()
