"""Says on which lines of a TOML file each key stands, which the standard library's reader does not.

In: text that `tomllib` has read without complaint. Out: the first and the last line of each key with its value, by the
key's path; elements of arrays and tables of a list are numbered. Only what a valid file may hold is looked at, so this
is much shorter than a reader.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import NamedTuple

Path = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t]*+")
_BETWEEN = re.compile(r"(?:[ \t\n]|#[^\n]*+)*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.S), re.compile(r"'''(?:[^']|'(?!''))*+'{3,5}"),
    re.compile(r'"(?:[^"\\]|\\.)*+"'), re.compile(r"'[^']*+'"),
)  # fmt: skip
_PLAIN = re.compile(r"[^,\]}#\n]*+")


class Lines(NamedTuple):
    """Where a key and its value stand."""

    first: int
    last: int


def key_lines(text: str) -> dict[Path, Lines]:
    """The lines of every key, by its path."""
    scan = _Scan(text.replace("\r\n", "\n"))
    scan.document()
    return scan.found


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Path, Lines] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._listed: dict[Path, int] = {}  # how many tables a list of tables has

    def document(self) -> None:
        """Goes through the whole text."""
        table: Path = ()
        self._skip(_BETWEEN)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BETWEEN)

    def _line(self) -> int:
        return bisect_right(self._starts, self.at)

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _header(self) -> Path:
        line, in_list = self._line(), self.text.startswith("[[", self.at)
        self.at += 2 if in_list else 1
        keys = self._keys()
        self.at += 2 if in_list else 1
        path: Path = ()
        for place, key in enumerate(keys):
            path = (*path, key)
            if place + 1 == len(keys) and in_list:
                number = self._listed[path] = self._listed.get(path, -1) + 1
                self.found.setdefault(path, Lines(line, line))
                path = (*path, number)
            elif path in self._listed:
                path = (*path, self._listed[path])
            self.found.setdefault(path, Lines(line, line))
        return path

    def _keys(self) -> list[str]:
        """The parts of a dotted key, without the marks around them."""
        found = []
        while True:
            self._skip(_SPACE)
            start = self.at
            self._skip(next((one for one in (_BARE, *_STRINGS[2:]) if one.match(self.text, self.at)), _BARE))
            written = self.text[start : self.at]
            found.append(tomllib.loads(f"key={written}")["key"] if written[0] in "\"'" else written)
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return found
            self.at += 1

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self.found.setdefault(path, Lines(line, line))
        self.at += 1  # the sign between them
        self._skip(_SPACE)
        self._value(path)
        self.found[path] = Lines(line, self._line())

    def _value(self, path: Path) -> None:
        begins = self.text[self.at]
        if begins == "[":
            self._array(path)
        elif begins == "{":
            self.at += 1
            self._skip(_BETWEEN)
            while self.text[self.at] != "}":
                self._pair(path)
                self._skip(_BETWEEN)
                self.at += self.text[self.at] == ","
                self._skip(_BETWEEN)
            self.at += 1
        else:
            self._skip(next((one for one in _STRINGS if one.match(self.text, self.at)), _PLAIN))

    def _array(self, path: Path) -> None:
        self.at += 1
        self._skip(_BETWEEN)
        number = 0
        while self.text[self.at] != "]":
            line = self._line()
            self._value((*path, number))
            self.found[(*path, number)] = Lines(line, self._line())
            self._skip(_BETWEEN)
            self.at += self.text[self.at] == ","
            self._skip(_BETWEEN)
            number += 1
        self.at += 1
