"""Tables over all symbols that hold millions of rows in little memory, and that forked workers share.

In: texts and ids. Out: `StringColumn`, a text for each id, and `IdsByText`, the ids that have a text.

The obvious ways, a list of strings and a dictionary of lists, take 100 to 250 bytes for each symbol. They are not even
shared: reading a string changes its reference count, so each worker copies what it reads. Here the texts are one buffer
and the ids one array, without an object for each.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from zlib import crc32

_LOW = (1 << 32) - 1


class StringColumn:
    """A text for each id below a limit; ids without one have "". Changed texts are kept apart from the others."""

    def __init__(self, rows: Iterable[tuple[int, str]], top: int) -> None:
        """`rows` are ids and their texts, in the order of ids."""
        data, starts = bytearray(), array("I")
        for identity, text in rows:
            while len(starts) <= identity:
                starts.append(len(data))
            data += text.encode()
        starts.extend([len(data)] * (top + 1 - len(starts)))
        self._data, self._starts = bytes(data), starts
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
        numbers = [crc32(text.encode()) << 32 | identity for text, identity in rows]
        numbers.sort()
        self._numbers = array("Q", numbers)
        self._text_of = text_of
        self._added: dict[str, list[int]] = {}

    def get(self, text: str, is_wanted: Callable[[int], bool] = lambda one: True) -> list[int]:
        """Return the ids that have a text, in no particular order.

        `is_wanted` is asked first, because thousands of ids may have a text, and comparing takes longer.
        """
        numbers = self._numbers
        checksum = crc32(text.encode("utf-8", "surrogatepass"))
        first = last = bisect_left(numbers, checksum << 32)
        while last < len(numbers) and numbers[last] >> 32 == checksum:
            last += 1
        if first == last and not self._added:
            return []
        some = chain([one & _LOW for one in numbers[first:last]], self._added.get(text, ()))
        return [one for one in some if is_wanted(one) and self._text_of(one) == text]

    def add(self, text: str, identity: int) -> None:
        """Let an id be found by the text that it has now."""
        if identity not in self.get(text):
            self._added.setdefault(text, []).append(identity)
