"""Ids of files and symbols: given once, and kept for as long as the file or symbol exists.

A file and its symbols, in the order of the text, get consecutive ids when the file is first read. A symbol that is
added later gets an id after all others, so nothing else is renumbered; from then on, the ids of its file are listed one
by one, and the file owns several ranges of ids.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class SymbolIds:
    """The ids of one file and its symbols. A symbol's place is its index in the order of the text; the file's is -1.

    Iterating gives the symbols; `in` is true of the file's own id, too.
    """

    def __init__(self, file: int, ids: Sequence[int]) -> None:
        self.file, self.ids = file, ids

    @classmethod
    def unpack(cls, file: int, count: int, listed: bytes | None) -> SymbolIds:
        """Decode the ids of a file from its own id, the number of its symbols, and the ids as `pack` encodes them."""
        return cls(file, range(file + 1, file + 1 + count) if listed is None else array("I", listed))

    def pack(self) -> bytes | None:
        """Encode the ids; None if they are consecutive."""
        if isinstance(self.ids, range) or list(self.ids) == list(range(self.file + 1, self.file + 1 + len(self.ids))):
            return None
        return array("I", self.ids).tobytes()

    def id_at(self, place: int) -> int:
        """Return the id of the symbol at a place."""
        return self.ids[place] if place >= 0 else self.file

    def place_of(self, identity: int) -> int:
        """Return the place of one of the file's ids; others raise a LookupError or ValueError."""
        if identity == self.file:
            return -1
        return self.ids.index(identity) if isinstance(self.ids, range) else self._places[identity]

    def range_starts(self) -> Iterator[int]:
        """Yield the first id of each range of consecutive ids, ascending."""
        if isinstance(self.ids, range):
            yield self.file
            return
        last = -1
        for identity in sorted((self.file, *self.ids)):
            if identity != last + 1:
                yield identity
            last = identity

    def __contains__(self, identity: object) -> bool:
        known = self.ids if isinstance(self.ids, range) else self._places
        return identity == self.file or identity in known

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {identity: place for place, identity in enumerate(self.ids)}


class IdOwners(Generic[Owner]):
    """Finds what an id belongs to; one that belongs to nothing any more counts for the owner of the range before it."""

    def __init__(self, ranges: Iterable[tuple[int, Owner]]) -> None:
        """`ranges` are the first ids of all ranges, ascending, each with what owns the range."""
        self.starts, self.owners = list[int](), list[Owner]()  # a list: searching an array makes an int at every step
        self.extend(ranges)

    def extend(self, ranges: Iterable[tuple[int, Owner]]) -> None:
        """Add ranges after all others."""
        rows = list(ranges)
        self.starts.extend([start for start, _ in rows])
        self.owners.extend([owner for _, owner in rows])

    def __getitem__(self, identity: int) -> Owner:
        return self.owners[bisect_right(self.starts, identity) - 1]


def owner_by_id(owners: IdOwners[int], top: int) -> array[int]:
    """Return the owner of every id below `top`, for look-ups of very many; 0 for what is before the first range."""
    owners_ = array("I", [0]) * min(top, owners.starts[0] if owners.starts else top)
    for start, end, owner in zip(owners.starts, [*owners.starts[1:], top], owners.owners, strict=False):
        owners_.extend(array("I", [owner]) * (end - start))
    return owners_
