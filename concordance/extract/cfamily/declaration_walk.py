"""What the walk over a C-family file's declarations carries with it.

In: a tree's nodes, the file's scan, its blanked text. Out: definitions in a `Draft`, each with its
condition, its access and its start (macros that the parser did not see included). `cclasses`,
`cfunctions` and `cdeclarations` build on it, in this order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from concordance.base.model import Kind
from concordance.extract.cfamily.directives import Lines
from concordance.extract.cfamily.macro_blanking import Blanked
from concordance.extract.cfamily.macros import KEYWORDS
from concordance.extract.draft import Definition, Draft
from concordance.extract.trees import one_line

SPECIFIERS = {
    "class_specifier": Kind.CLASS,
    "struct_specifier": Kind.STRUCT,
    "union_specifier": Kind.UNION,
    "enum_specifier": Kind.ENUM,
}
_WORDS = frozenset(word.decode() for word in KEYWORDS)  # what no tree, however broken, makes a name
_UNSAID = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.)*', re.S | re.M)


class Context(NamedTuple):
    """What stands around a declaration."""

    owner: str = ""  # the class whose body it is in
    access: str = ""
    start: int = -1  # of the template header or linkage word before it
    linkage: bool = False
    hidden: bool = False  # in an anonymous namespace
    broken: bool = False  # inside a stretch that the parser gave up on
    friend: bool = False

    def inner(self) -> Context:
        """The same for a part of the declaration: without its start."""
        return self._replace(start=-1)


@dataclass(slots=True)
class Level:
    """The state of one walk over one tree."""

    draft: Draft
    lines: Lines
    blanked: Blanked
    plain_c: bool
    stack: list[tuple[Node, Context]] = field(default_factory=list)
    bodies: set[int] = field(default_factory=set)  # where functions' bodies start: no scopes of their own
    seen: set[int] = field(default_factory=set)  # where types start that were met as declarations

    def _inside(self, node: Node, context: Context) -> None:
        self.stack.extend((child, context) for child in node.named_children)

    def _error(self, node: Node, context: Context) -> None:
        broken = context._replace(start=-1, broken=True)
        self.stack.extend((child, broken) for child in node.named_children)

    def _define(self, kind: str, name: str, at: int, node: Node, context: Context, **more: object) -> Definition | None:
        start = self._start(node, context)
        end = more.pop("end", node.end_byte)
        if name in _WORDS:
            return None
        definition = self.draft.define(
            kind, name, at, start, end,  # type: ignore[arg-type]
            condition=self.lines.condition(at),
            public=not (context.hidden or context.access == "private"),
            **more,
        )  # fmt: skip
        if context.access in ("private", "protected"):
            definition.modifiers = (context.access, *definition.modifiers)
        return definition

    def _start(self, node: Node, context: Context) -> int:
        """Where a declaration starts, the macros before it that the parser did not see included."""
        start = context.start if context.start >= 0 else node.start_byte
        specifiers = self.blanked.specifiers
        while specifiers:
            before = self.draft.source.data[max(0, start - 200) : start].rstrip()
            earlier = specifiers.get(max(0, start - 200) + len(before))
            if earlier is None:
                break
            start = earlier
        return start

    def _head(self, start: int, end: int) -> str:
        """A declaration on one line, without the comments and directives that stand in it."""
        words = self.draft.source.slice(start, end)
        if "#" in words or "/" in words:
            words = _UNSAID.sub(lambda match: match[1] or " ", words)
        return one_line(words).rstrip(" {:;=")
