"""Tables over all symbols that hold millions of rows in little memory, and that forked workers share.

In: texts and ids. Out: `StringColumn`, a text for each id; `IdsByText`, the ids that have a text; `NumbersByText`, the
numbers that were given for each of many texts.

The obvious ways, a list of strings and a dictionary of lists, take 100 to 250 bytes for each symbol. They are not even
shared: reading a string changes its reference count, so each worker copies what it reads. Here the texts are one buffer
and the ids one array, without an object for each.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain
from zlib import crc32

from concordance.facts.links.graph import sorted_numbers

_LOW = (1 << 32) - 1


class StringColumn:
    """A text for each id below a limit; ids without one have "". Changed texts are kept apart from the others."""

    def __init__(self, rows: Iterable[tuple[int, str]], top: int) -> None:
        """`rows` are ids and their texts, in the order of ids."""
        data, sizes = bytearray(), array("I", bytes(4 * (top + 1)))
        for identity, text in rows:
            encoded = text.encode()
            data += encoded
            sizes[identity + 1] = len(encoded)
        self._data, self._starts = data, array("I", accumulate(sizes))
        self._changed: dict[int, str] = {}

    def __getitem__(self, identity: int) -> str:
        if self._changed and identity in self._changed:
            return self._changed[identity]
        starts = self._starts
        return self._data[starts[identity] : starts[identity + 1]].decode()

    def _original(self, identity: int) -> str:
        starts = self._starts
        return self._data[starts[identity] : starts[identity + 1]].decode()

    def __setitem__(self, identity: int, text: str) -> None:
        if text != self._original(identity):
            self._changed[identity] = text
        else:
            self._changed.pop(identity, None)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def grow(self, top: int) -> None:
        """Let all ids below `top` have a text, at first ""."""
        self._starts.extend([self._starts[-1]] * (top - len(self)))


class IdsByText:
    """The ids that have a text, such as the symbols of a name. The texts themselves are not stored: a look-up finds the
    ids whose texts have the same checksum, and compares. So an id whose text has changed is not found any more."""

    def __init__(self, rows: Iterable[tuple[str, int]], text_of: Callable[[int], str]) -> None:
        """`text_of` returns the current text of an id."""
        self._numbers = sorted_numbers(crc32(text.encode()) << 32 | identity for text, identity in rows)
        self._text_of = text_of
        self._added: dict[str, list[int]] = {}

    def get(self, text: str, is_wanted: Callable[[int], bool] = lambda identity: True) -> list[int]:
        """Return the ids that have a text, in no particular order.

        `is_wanted` is checked first, because thousands of ids may have a text, and comparing takes longer.
        """
        numbers = self._numbers
        checksum = crc32(text.encode("utf-8", "surrogatepass"))
        first = last = bisect_left(numbers, checksum << 32)
        while last < len(numbers) and numbers[last] >> 32 == checksum:
            last += 1
        if first == last and not self._added:
            return []
        some = chain([number & _LOW for number in numbers[first:last]], self._added.get(text, ()))
        return [identity for identity in some if is_wanted(identity) and self._text_of(identity) == text]

    def add(self, text: str, identity: int) -> None:
        """Let an id be found by the text that it has now."""
        if identity not in self.get(text):
            self._added.setdefault(text, []).append(identity)


class _TextSet:
    """Distinct texts, each with its position: a hash table in arrays."""

    def __init__(self) -> None:
        self._data, self._starts = bytearray(), array("I", [0])
        self._slots = array("I", [0]) * 1024  # positions plus one, by checksum; 0 is empty

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: int) -> str:
        return self._data[self._starts[place] : self._starts[place + 1]].decode("utf-8", "surrogatepass")

    def find(self, text: str) -> int:
        """Return the position of a text; -1 if it is not there."""
        return self._slots[self._slot(text.encode("utf-8", "surrogatepass"))] - 1

    def add(self, text: str) -> int:
        """Return the position of a text, which is added if it is not there."""
        data = text.encode("utf-8", "surrogatepass")
        slot = self._slot(data)
        if not self._slots[slot]:
            self._data += data
            self._starts.append(len(self._data))
            self._slots[slot] = len(self)
            if 3 * len(self) > 2 * len(self._slots):
                self._grow()
            return len(self) - 1
        return self._slots[slot] - 1

    def _slot(self, data: bytes | bytearray) -> int:
        """Return the slot that has a text, or the empty one where it belongs."""
        slots, starts, texts, last = self._slots, self._starts, self._data, len(self._slots) - 1
        at = crc32(data) & last
        while (place := slots[at]) and texts[starts[place - 1] : starts[place]] != data:
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        self._slots = array("I", [0]) * (2 * len(self._slots))
        starts, texts, last = self._starts, self._data, len(self._slots) - 1
        for place in range(1, len(starts)):
            at = crc32(texts[starts[place - 1] : starts[place]]) & last
            while self._slots[at]:
                at = (at + 1) & last
            self._slots[at] = place


class NumbersByText:
    """The numbers that were given for each text, in their order."""

    def __init__(self, rows: Iterable[tuple[str, int]]) -> None:
        self._texts = _TextSet()
        places, numbers = array("I"), array("I")
        for text, number in rows:
            places.append(self._texts.add(text))
            numbers.append(number)
        counts = array("I", [0]) * (len(self._texts) + 1)
        for place in places:
            counts[place + 1] += 1
        self._starts = array("I", accumulate(counts))
        following, self._numbers = self._starts[:], array("I", [0]) * len(numbers)
        for place, number in zip(places, numbers, strict=True):
            self._numbers[following[place]] = number
            following[place] += 1

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return map(self._texts.__getitem__, range(len(self._texts)))

    def text_at(self, place: int) -> str:
        """Return the text at a place, in the order in which they are iterated."""
        return self._texts[place]

    def get(self, text: str) -> array[int]:
        """Return the numbers of a text; none if it has none."""
        place = self._texts.find(text)
        return self._numbers[self._starts[place] : self._starts[place + 1]] if place >= 0 else array("I")
