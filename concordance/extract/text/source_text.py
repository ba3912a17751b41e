"""One file's text, and the one place that turns byte offsets into lines and columns.

In: decoded text. Out: the same text beside the UTF-8 bytes that the parsers read. Parsers count
bytes, readers count code points; most files are ASCII, where the two are the same, so the map
between them is made only for the others.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate

_CONTINUATION = re.compile(rb"[\x80-\xbf]")


class Source:
    """Text and bytes of one file."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        # A lone surrogate cannot be encoded; "?" keeps what follows it in place.
        self.data = text.encode("utf-8", "replace")
        lines = self.data.splitlines(keepends=True)  # of bytes: at \n, \r and \r\n only, as editors number them
        self.line_bytes = [0, *accumulate(map(len, lines))]
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            del self.line_bytes[-1]
        self.ascii = len(self.data) == len(text)
        self._continuations = [] if self.ascii else [m.start() for m in _CONTINUATION.finditer(self.data)]

    @property
    def line_count(self) -> int:
        """Lines as an editor numbers them; an end of line at the end of the file opens no new one."""
        return len(self.line_bytes) - (self.line_bytes[-1] == len(self.data))

    def line(self, at: int) -> int:
        """The 1-based line of a byte offset."""
        return bisect_right(self.line_bytes, at)

    def position(self, at: int) -> tuple[int, int]:
        """The 1-based line and column of a byte offset."""
        line = bisect_right(self.line_bytes, at)
        return line, self.offset(at) - self.offset(self.line_bytes[line - 1]) + 1

    def offset(self, at: int) -> int:
        """The code point at a byte offset."""
        return at if self.ascii else at - bisect_left(self._continuations, at)

    def byte(self, at: int) -> int:
        """The byte offset of a code point."""
        return at if self.ascii else len(self.text[:at].encode("utf-8", "replace"))

    def offsets(self, starts: list[int]) -> array[int]:
        """The code points at ascending byte offsets."""
        return array("I", starts) if self.ascii else array("I", map(self.offset, starts))

    def slice(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def line_text(self, line: int) -> str:
        """A whole line, without its end."""
        start = self.line_bytes[line - 1]
        end = self.line_bytes[line] if line < len(self.line_bytes) else len(self.data)
        return self.slice(start, end).rstrip("\r\n")
