"""`PatternFile`, the view of a file in which patterns are searched: definitions by parent, and text without comments.

In: a file's facts and lines. Out: look-ups, each computed when a pattern first needs it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import FileFacts, Kind, Symbol

TYPE_KINDS = frozenset((Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.UNION))
_LINE_END = re.compile(r"\n")
_LONG = {  # multi-line strings and comments, by their opening mark
    '"""': re.compile(r'"""(?:[^\\"]++|\\.|"(?!""))*+"""', re.S),
    "'''": re.compile(r"'''(?:[^\\']++|\\.|'(?!''))*+'''", re.S),
    "/*": re.compile(r"/\*.*?\*/", re.S),
}


class PatternPlace(NamedTuple):
    """One place that shows a pattern."""

    line: int
    place: int = -1  # the position of the symbol concerned, -1 if it is not a symbol
    name: str = ""  # the name of what is concerned if it is not a symbol
    words: str = ""  # a detail, such as "frozen"


class PatternFile:
    """A file in which patterns are searched."""

    def __init__(self, facts: FileFacts, path: str, lines: Sequence[str]) -> None:
        self.facts, self.path, self.lines = facts, path, lines
        self.symbols = facts.symbols

    @cached_property
    def members(self) -> dict[int, dict[str, int]]:
        """The symbols directly inside of each symbol (-1: the file), by name; the first of each name."""
        found: dict[int, dict[str, int]] = {}
        for place, symbol in enumerate(self.symbols):
            found.setdefault(symbol.parent, {}).setdefault(symbol.name, place)
        return found

    @cached_property
    def classes(self) -> list[tuple[int, Symbol]]:
        """The types that the file defines."""
        return [(n, s) for n, s in enumerate(self.symbols) if s.kind in TYPE_KINDS and not s.declaration]

    @cached_property
    def functions(self) -> list[tuple[int, Symbol]]:
        """The functions and methods, including declarations."""
        return [(n, s) for n, s in enumerate(self.symbols) if s.kind in FUNCTION_KINDS]

    @cached_property
    def decorated(self) -> list[tuple[int, Symbol, str]]:
        """Each symbol with each of its decorators, without arguments."""
        found = []
        for place, symbol in enumerate(self.symbols):
            found += [(place, symbol, one.partition("(")[0].strip()) for one in symbol.modifiers]
        return found

    def of(self, place: int) -> dict[str, int]:
        """Return the members of a symbol by name."""
        return self.members.get(place, {})

    def shown(self, place: int, words: str = "") -> PatternPlace:
        """Return the place of a symbol that shows a pattern."""
        return PatternPlace(self.symbols[place].line, place, "", words)

    # --- text

    @cached_property
    def plain(self) -> str:
        """The unchanged text."""
        return "\n".join(self.lines)

    @cached_property
    def hashed(self) -> str:
        """The text without multi-line strings, for languages with `#` comments; line numbers are preserved."""
        return self._without('"""', "'''")

    @cached_property
    def slashed(self) -> str:
        """The text without `/* */` comments, for languages with `//` comments; line numbers are preserved."""
        return self._without("/*")

    def _without(self, *marks: str) -> str:
        text, reached = self.plain, 0
        pieces: list[str] = []
        opened = {mark: at for mark in marks if (at := text.find(mark)) >= 0}
        while opened:
            mark = min(opened, key=opened.__getitem__)
            match = _LONG[mark].match(text, opened[mark])
            if match is None:  # not closed, and neither is any later one
                del opened[mark]
                continue
            pieces += (text[reached : match.start()], "\n" * match[0].count("\n"))
            reached = match.end()
            nearest = {mark: at if at >= reached else text.find(mark, reached) for mark, at in opened.items()}
            opened = {mark: at for mark, at in nearest.items() if at >= 0}
        return "".join((*pieces, text[reached:])) if pieces else text

    def found(self, pattern: re.Pattern[str], text: str, *words: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield the number and match of each line that a pattern matches from its beginning.

        If words are given, only lines that contain one of them are tried: searching for words first takes a hundredth
        of the time. A word that begins with a line end must be at the beginning of the line.
        """
        begins = set() if words else {0, *(match.end() for match in _LINE_END.finditer(text))}
        for word in words:
            own = word.startswith("\n")
            if own and text.startswith(word[1:]):
                begins.add(0)
            at = text.find(word)
            while at >= 0:
                begins.add(at + 1 if own else text.rfind("\n", 0, at) + 1)
                end = at + 1 if own else text.find("\n", at)  # a line that contains a word several times is tried once
                at = text.find(word, end) if end >= 0 else -1
        line, before = 1, 0
        for begin in sorted(begins):
            match = pattern.match(text, begin)
            if match:
                line += text.count("\n", before, begin)
                before = begin
                yield line, match

    def around(self, line: int) -> int:
        """Return the position of the innermost function around a line, -1 if there is none."""
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
        """For each function, the last line of it and all before it, which tells `around` when to stop searching."""
        return list(accumulate((self.symbols[place].end_line for _, place in self._lines_of_functions), max))

    def body(self, symbol: Symbol) -> str:
        """Return the text of a symbol."""
        return "\n".join(self.lines[symbol.start_line - 1 : symbol.end_line])
