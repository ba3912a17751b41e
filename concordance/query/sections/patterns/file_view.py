"""A file as patterns are looked for in it: its definitions by what they stand in, and its lines without comments.

In: a file's facts and lines. Out: look-ups, each made when a pattern first asks for it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from concordance.base.model import FileFacts, Kind, Symbol

TYPES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.UNION))
_LINE_END = re.compile(r"\n")
RUNS = frozenset((Kind.FUNCTION, Kind.METHOD))
_LONG = {  # text that runs over lines and is no code, by what opens it
    '"""': re.compile(r'"""(?:[^\\"]++|\\.|"(?!""))*+"""', re.S),
    "'''": re.compile(r"'''(?:[^\\']++|\\.|'(?!''))*+'''", re.S),
    "/*": re.compile(r"/\*.*?\*/", re.S),
}


class PatternPlace(NamedTuple):
    """One place that shows a pattern."""

    line: int
    place: int = -1  # of the symbol that it is about, -1 for none
    name: str = ""  # of what it is about, where that is no symbol
    words: str = ""  # what is to be said of it


class PatternFile:
    """A file that is looked through."""

    def __init__(self, facts: FileFacts, path: str, lines: Sequence[str]) -> None:
        self.facts, self.path, self.lines = facts, path, lines
        self.symbols = facts.symbols

    @cached_property
    def members(self) -> dict[int, dict[str, int]]:
        """The symbols directly inside of each (-1: the file), by name; of one name the first."""
        found: dict[int, dict[str, int]] = {}
        for place, symbol in enumerate(self.symbols):
            found.setdefault(symbol.parent, {}).setdefault(symbol.name, place)
        return found

    @cached_property
    def classes(self) -> list[tuple[int, Symbol]]:
        """The types that are defined here."""
        return [(n, s) for n, s in enumerate(self.symbols) if s.kind in TYPES and not s.declaration]

    @cached_property
    def functions(self) -> list[tuple[int, Symbol]]:
        """The functions and methods."""
        return [(n, s) for n, s in enumerate(self.symbols) if s.kind in RUNS]

    @cached_property
    def decorated(self) -> list[tuple[int, Symbol, str]]:
        """Each decorator of a symbol without its arguments."""
        found = []
        for place, symbol in enumerate(self.symbols):
            found += [(place, symbol, one.partition("(")[0].strip()) for one in symbol.modifiers]
        return found

    def of(self, place: int) -> dict[str, int]:
        """The members of a symbol."""
        return self.members.get(place, {})

    def shown(self, place: int, words: str = "") -> PatternPlace:
        """A symbol as what shows a pattern."""
        return PatternPlace(self.symbols[place].line, place, "", words)

    # --- text

    @cached_property
    def plain(self) -> str:
        """The text as it is."""
        return "\n".join(self.lines)

    @cached_property
    def hashed(self) -> str:
        """The text of a language with `#` for comments, without strings that run over lines."""
        return self._without('"""', "'''")

    @cached_property
    def slashed(self) -> str:
        """The text of a language with `//` for comments, without comments that run over lines."""
        return self._without("/*")

    def _without(self, *marks: str) -> str:
        text, reached = self.plain, 0
        pieces: list[str] = []
        opened = {mark: at for mark in marks if (at := text.find(mark)) >= 0}
        while opened:
            mark = min(opened, key=opened.__getitem__)
            match = _LONG[mark].match(text, opened[mark])
            if match is None:  # nothing closes it, nor any later one
                del opened[mark]
                continue
            pieces += (text[reached : match.start()], "\n" * match[0].count("\n"))
            reached = match.end()
            nearest = {mark: at if at >= reached else text.find(mark, reached) for mark, at in opened.items()}
            opened = {mark: at for mark, at in nearest.items() if at >= 0}
        return "".join((*pieces, text[reached:])) if pieces else text

    def found(self, pattern: re.Pattern[str], text: str, *words: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Where a pattern fits the beginning of a line that holds one of some words, or of any line without words:
        lines and matches. To look for words first costs a hundredth. One that begins with a line end begins a line."""
        begins = set() if words else {0, *(match.end() for match in _LINE_END.finditer(text))}
        for word in words:
            own = word.startswith("\n")
            if own and text.startswith(word[1:]):
                begins.add(0)
            at = text.find(word)
            while at >= 0:
                begins.add(at + 1 if own else text.rfind("\n", 0, at) + 1)
                end = at + 1 if own else text.find("\n", at)  # a line that holds a word often is looked at once
                at = text.find(word, end) if end >= 0 else -1
        line, before = 1, 0
        for begin in sorted(begins):
            match = pattern.match(text, begin)
            if match:
                line += text.count("\n", before, begin)
                before = begin
                yield line, match

    def around(self, line: int) -> int:
        """The innermost function around a line: its place, -1 for none."""
        place = bisect_right(self._lines_of_functions, (line, len(self.symbols))) - 1
        while place >= 0 and self._last_lines[place] >= line:
            symbol = self.symbols[self._lines_of_functions[place][1]]
            if symbol.end_line >= line:
                return self._lines_of_functions[place][1]
            place -= 1
        return -1

    @cached_property
    def _lines_of_functions(self) -> list[tuple[int, int]]:
        return sorted((symbol.start_line, place) for place, symbol in self.functions if not symbol.declaration)

    @cached_property
    def _last_lines(self) -> list[int]:
        """The last line of each function and those before it: none that ends earlier has to be looked at."""
        return list(accumulate((self.symbols[place].end_line for _, place in self._lines_of_functions), max))

    def body(self, symbol: Symbol) -> str:
        """The lines of a symbol."""
        return "\n".join(self.lines[symbol.start_line - 1 : symbol.end_line])
