"""One file's text and bytes, and the only place that converts byte offsets to lines and columns.

In: decoded text. Out: the same text together with its UTF-8 bytes, which the parsers read. Parsers count bytes,
people count characters (code points). Most files are ASCII, where the two are the same, so the mapping is only built
for other files.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from operator import sub

_CONTINUATION = re.compile(rb"[\x80-\xbf]")


class Source:
    """The text and bytes of one file."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        # A lone surrogate cannot be encoded; "?" keeps the offsets after it correct.
        self.data = text.encode("utf-8", "replace")
        lines = self.data.splitlines(keepends=True)  # bytes split at \n, \r and \r\n only, as editors number lines
        self.line_bytes = [0, *accumulate(map(len, lines))]
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            del self.line_bytes[-1]
        self.ascii = len(self.data) == len(text)
        self._continuations = [] if self.ascii else [m.start() for m in _CONTINUATION.finditer(self.data)]

    @property
    def line_count(self) -> int:
        """Number of lines as an editor counts them; a line end at the end of the file does not start a new line."""
        return len(self.line_bytes) - (self.line_bytes[-1] == len(self.data))

    @property
    def line_lengths(self) -> list[int]:
        """The number of characters of each line, including its end; the last line may have none."""
        ends = self.line_bytes if self.line_bytes[-1] == len(self.data) else [*self.line_bytes, len(self.data)]
        offsets = self.offsets(ends)
        return list(map(sub, offsets[1:], offsets))

    def line(self, at: int) -> int:
        """Return the 1-based line of a byte offset."""
        return bisect_right(self.line_bytes, at)

    def position(self, at: int) -> tuple[int, int]:
        """Return the 1-based line and column of a byte offset."""
        line = bisect_right(self.line_bytes, at)
        return line, self.offset(at) - self.offset(self.line_bytes[line - 1]) + 1

    def offset(self, at: int) -> int:
        """Return the character offset of a byte offset."""
        return at if self.ascii else at - bisect_left(self._continuations, at)

    def byte(self, at: int) -> int:
        """Return the byte offset of a character offset."""
        return at if self.ascii else len(self.text[:at].encode("utf-8", "replace"))

    def offsets(self, starts: list[int]) -> array[int]:
        """Return the character offsets of ascending byte offsets."""
        return array("I", starts) if self.ascii else array("I", map(self.offset, starts))

    def slice(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def line_text(self, line: int) -> str:
        """Return a whole line without its line end."""
        start = self.line_bytes[line - 1]
        end = self.line_bytes[line] if line < len(self.line_bytes) else len(self.data)
        return self.slice(start, end).rstrip("\r\n")


class OffsetRanges:
    """Ranges of a text, which may be nested; `in` tells whether an offset lies in one of them."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._starts, self._ends = list[int](), list[int]()
        for start, end in sorted(ranges):
            if not self._ends or end > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and at < self._ends[place]
