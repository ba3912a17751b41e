"""`PatternContext`, a file as a pattern finder sees it: its definitions by parent, its syntax tree, its code.

In: a file's draft and facts. Out: look-ups, each computed when a pattern first needs it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tree_sitter import Node

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import FileFacts, Kind, Symbol
from concordance.extract.reading.draft import Draft
from concordance.extract.reading.rule_context import RuleContext

TYPE_KINDS = frozenset((Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.UNION))
_LINE_END = re.compile(r"\n")
_BLANK = bytes(c if c == ord("\n") else ord(" ") for c in range(256))


class Place(NamedTuple):
    """A place that shows a pattern: a `PatternPlace` without the pattern's name."""

    line: int
    symbol: int = -1
    subject: str = ""
    detail: str = ""


Finder = Callable[["PatternContext"], Iterator[Place]]


class PatternContext(RuleContext):
    """A file in which patterns are searched."""

    def __init__(self, draft: Draft, facts: FileFacts) -> None:
        super().__init__(draft, facts)
        self.symbols = facts.symbols

    @cached_property
    def members(self) -> dict[int, dict[str, int]]:
        """The symbols directly inside of each symbol (-1: the file), by name; the first of each name."""
        members: dict[int, dict[str, int]] = {}
        for place, symbol in enumerate(self.symbols):
            members.setdefault(symbol.parent, {}).setdefault(symbol.name, place)
        return members

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
        return [
            (place, symbol, modifier.partition("(")[0].strip())
            for place, symbol in enumerate(self.symbols)
            for modifier in symbol.modifiers
        ]

    def members_of(self, place: int) -> dict[str, int]:
        """Return the members of a symbol by name."""
        return self.members.get(place, {})

    def classes_with_base(self, matches: Callable[[str], object]) -> Iterator[tuple[int, str]]:
        """Yield each type that has a base that fits, with the first such base."""
        for place, symbol in self.classes:
            base = next(filter(matches, symbol.bases), "")
            if base:
                yield place, base

    def class_members(self, *names: str) -> Iterator[int]:
        """Yield the members of types that have one of the given names, type by type."""
        for place, _ in self.classes:
            yield from (self.members_of(place)[name] for name in names if name in self.members_of(place))

    def symbol(self, place: int, detail: str = "") -> Place:
        """Return a symbol as a place that shows a pattern."""
        return Place(self.symbols[place].line, place, "", detail)

    def in_function(self, line: int, name: str) -> Place:
        """Return a line as a place: a detail of the function around it if there is one, otherwise a name by itself."""
        place = self.function_at(line)
        return Place(line, place, "", name) if place >= 0 else Place(line, -1, name)

    def function_at(self, line: int) -> int:
        """Return the position of the innermost function around a line, -1 if there is none."""
        at = bisect_right(self._function_starts, (line, len(self.symbols))) - 1
        while at >= 0 and self._function_ends[at] >= line:
            place = self._function_starts[at][1]
            if self.symbols[place].end_line >= line:
                return place
            at -= 1
        return -1

    @cached_property
    def _function_starts(self) -> list[tuple[int, int]]:
        return sorted((symbol.start_line, place) for place, symbol in self.functions if not symbol.declaration)

    @cached_property
    def _function_ends(self) -> list[int]:
        """For each function, the last line of it and all before it, which tells `function_at` when to stop."""
        return list(accumulate((self.symbols[place].end_line for _, place in self._function_starts), max))

    # --- the syntax tree

    def line(self, node: Node) -> int:
        """Return the line on which a node starts."""
        return self.source.line(node.start_byte)

    def field(self, node: Node | None, *names: str) -> Node | None:
        """Follow fields of the tree from a node; None if one of them is missing."""
        for name in names:
            node = node.child_by_field_name(name) if node is not None else None
        return node

    def nodes(self, types: tuple[str, ...], *words: bytes) -> Iterator[Node]:
        """Yield the nodes of some types that start with one of the given words.

        Only where a word occurs is the tree walked, from its root down, so a file without the words costs nothing.
        """
        for word in words:
            at = self.data.find(word)
            while at >= 0:
                for node in self.path(at):
                    if node.start_byte == at and node.type in types:
                        yield node
                        break
                at = self.data.find(word, at + len(word))

    # --- the text, where a pattern is a matter of lines: preprocessor directives, macros, build files

    @cached_property
    def code(self) -> str:
        """The text with its comments blanked; offsets of lines are preserved."""
        pieces: list[bytes] = []
        reached = 0
        for start, end in sorted(self.draft.comments):
            if start >= reached:
                pieces += (self.data[reached:start], self.data[start:end].translate(_BLANK))
                reached = end
        return b"".join((*pieces, self.data[reached:])).decode("utf-8", "replace")

    def matches(self, pattern: re.Pattern[str], *words: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield the number and match of each line of the code that a pattern matches from its beginning.

        If words are given, only lines that contain one of them are tried: searching for words first takes a hundredth
        of the time.
        """
        text = self.code
        begins = set() if words else {0, *(match.end() for match in _LINE_END.finditer(text))}
        for word in words:
            at = text.find(word)
            while at >= 0:
                begins.add(text.rfind("\n", 0, at) + 1)
                end = text.find("\n", at)  # a line that contains a word several times is tried once
                at = text.find(word, end) if end >= 0 else -1
        line, before = 1, 0
        for begin in sorted(begins):
            match = pattern.match(text, begin)
            if match:
                line += text.count("\n", before, begin)
                before = begin
                yield line, match

    def body(self, symbol: Symbol) -> str:
        """Return the code of a symbol."""
        return "\n".join(self._code_lines[symbol.start_line - 1 : symbol.end_line])

    @cached_property
    def _code_lines(self) -> list[str]:
        return self.code.split("\n")
