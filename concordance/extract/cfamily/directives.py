"""The layer of a C-family file that needs no grammar: comments, literals and preprocessor lines.

In: bytes. Out: `ScannedLines`: where comments and literals are, every preprocessor line, and the conditional groups
that these form. It is read before parsing and does not depend on it, so macros, includes and conditions are exact even
where the syntax is broken.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

_QUOTED = rb'"(?:[^"\\\n]+|\\.)*"?'
_LINE_COMMENT = rb"/(?:[^\n\\]+|\\(?:\r?\n|.)?)*"  # after its first "/"
# The character class in front lets the search skip everything that cannot start a piece.
_PIECES = re.compile(
    rb"[/\"'#](?:"
    rb"(?<=/)(?:" + _LINE_COMMENT + rb"|\*.*?(?:\*/|\Z))"
    rb"|(?<=R\")([^()\\ \t\n]{0,16})\(.*?\)\1\""
    rb'|(?<=")(?:[^"\\\n]+|\\.)*"?'
    rb"|(?<=[^0-9A-Fa-f]')(?:[^'\\\n]|\\.)+'"
    rb"|(?<=#)(?:[^\n\\/\"]+|\\(?:\r?\n|.)?|/\*.*?(?:\*/|\Z)|/" + _LINE_COMMENT + rb"|/|" + _QUOTED + rb")*)",
    re.S,
)
_INNER_COMMENT = re.compile(_QUOTED + rb"|(/\*.*?(?:\*/|\Z)|//.*)", re.S)
_HEAD = re.compile(rb"#[ \t]*(\w*)")
_SPACE = re.compile(rb"(?:\\\r?\n|\s)+")
_OPENING = frozenset((b"if", b"ifdef", b"ifndef"))
_MIDDLE = frozenset((b"elif", b"elifdef", b"elifndef", b"else"))


@dataclass(slots=True)
class Directive:
    """A preprocessor line with its continuation lines."""

    start: int
    end: int
    word: bytes
    rest: int  # where the text after the keyword starts


@dataclass(slots=True)
class ConditionalGroup:
    """The lines from `#if` to `#endif`, in order; `#endif` is missing if the file ends first."""

    lines: list[Directive]
    closed: bool = False
    guard: bool = False  # an include guard, which says nothing about its content

    def branches(self, size: int) -> list[tuple[int, int]]:
        """Return the ranges of text between its lines."""
        ends = [line.start for line in self.lines[1:]] + ([] if self.closed else [size])
        return [(line.end, end) for line, end in zip(self.lines, ends, strict=False)]


@dataclass(slots=True)
class ScannedLines:
    """The result of scanning a file."""

    data: bytes
    comments: list[tuple[int, int]] = field(default_factory=list)
    quoted: list[tuple[int, int]] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    groups: list[ConditionalGroup] = field(default_factory=list)  # in the order of their first lines
    dead: list[tuple[int, int]] = field(default_factory=list)  # text under `#if 0`, which is not code
    _skips: list[int] = field(default_factory=list)
    _edges: list[int] = field(default_factory=list)
    _conditions: list[str] = field(default_factory=list)

    def in_code(self, at: int) -> bool:
        """True if an offset is outside of comments, literals and preprocessor lines."""
        return bisect_right(self._skips, at) % 2 == 0

    def condition(self, at: int) -> str:
        """Return the innermost condition around an offset."""
        place = bisect_right(self._edges, at) - 1
        return self._conditions[place] if place >= 0 else ""

    def is_dead(self, at: int) -> bool:
        """True if an offset is under `#if 0`."""
        return any(start <= at < end for start, end in self.dead)


def scan(data: bytes) -> ScannedLines:
    """Find the comments, literals and preprocessor lines of a file."""
    lines = ScannedLines(data)
    skips = lines._skips
    for match in _PIECES.finditer(data):
        start, end = match.span()
        first = data[start]
        if first == 47:  # "/"
            lines.comments.append((start, end))
        elif first == 35:  # "#"
            head = _HEAD.match(data, start, end)
            lines.directives.append(
                Directive(start, end, head[1], head.end()) if head else Directive(start, end, b"", end)
            )
            if data.find(b"/", start, end) >= 0:
                _comments_inside(lines, start, end)
        else:
            lines.quoted.append((start, end))
        skips.append(start)
        skips.append(end)
    if lines.directives:
        _group(lines)
    return lines


def _comments_inside(lines: ScannedLines, start: int, end: int) -> None:
    for match in _INNER_COMMENT.finditer(lines.data, start, end):
        if match[1]:
            lines.comments.append(match.span(1))


def directive_text(data: bytes, line: Directive) -> str:
    """Return a directive on one line, without comments."""
    text = data[line.rest : line.end]
    if b"/" in text:
        text = _INNER_COMMENT.sub(lambda m: b" " if m[1] else m[0], text)
    directive = _SPACE.sub(b" ", text).strip().decode("utf-8", "replace")
    return f"#{line.word.decode('ascii', 'replace')} {directive}".strip()


def _group(lines: ScannedLines) -> None:
    data = lines.data
    around: list[ConditionalGroup] = []
    conditions: list[str] = []
    edges: list[tuple[int, str]] = []
    for place, line in enumerate(lines.directives):
        if line.word in _OPENING:
            group = ConditionalGroup([line])
            around.append(group)
            lines.groups.append(group)
            group.guard = _is_guard(lines, place)
            conditions.append(
                conditions[-1] if group.guard and conditions else "" if group.guard else directive_text(data, line)
            )
        elif line.word in _MIDDLE and around:
            group = around[-1]
            group.lines.append(line)
            first = directive_text(data, group.lines[0])
            conditions[-1] = f"#else of {first}" if line.word == b"else" else directive_text(data, line)
        elif line.word == b"endif" and around:
            group = around.pop()
            group.lines.append(line)
            group.closed = True
            conditions.pop()
        else:
            continue
        edges.append((line.end, conditions[-1] if conditions else ""))
    lines._edges = [at for at, _ in edges]
    lines._conditions = [condition for _, condition in edges]
    _find_dead(lines)


def _is_guard(lines: ScannedLines, place: int) -> bool:
    """True if a group is an include guard: `#ifndef X` and `#define X` before any other directive.

    If the macro has a value, `#endif` must be the last directive, because a default value is stated the same way.
    """
    if place + 1 >= len(lines.directives) or any(
        before.word not in (b"pragma", b"if", b"ifndef") for before in lines.directives[:place][:4]
    ):
        return False
    first, second = lines.directives[place], lines.directives[place + 1]
    data = lines.data
    name = data[first.rest : first.end].split()
    if first.word == b"if":
        name = (
            data[first.rest : first.end]
            .replace(b"!", b" ")
            .replace(b"defined", b" ")
            .replace(b"(", b" ")
            .replace(b")", b" ")
            .split()
        )
    defined = data[second.rest : second.end].split()
    return (
        first.word in (b"ifndef", b"if") and second.word == b"define" and len(name) >= 1
        and name[:1] == defined[:1] and (len(defined) == 1 or _closes_last(lines, place))
    )  # fmt: skip


def _closes_last(lines: ScannedLines, place: int) -> bool:
    """True if the group that a directive opens ends with the last directive of the file."""
    depth = 0
    for number in range(place, len(lines.directives)):
        word = lines.directives[number].word
        depth += (word in _OPENING) - (word == b"endif")
        if not depth:
            return number == len(lines.directives) - 1
    return False


def _find_dead(lines: ScannedLines) -> None:
    size = len(lines.data)
    for group in lines.groups:
        if group.lines[0].word == b"if" and directive_text(lines.data, group.lines[0]) == "#if 0":
            lines.dead.append(group.branches(size)[0])
