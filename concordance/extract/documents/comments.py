"""Comments as documentation: finds the comment that documents a definition, and its text.

In: the comments of a file as byte ranges. Out: text without comment markers. A comment documents a definition if it
ends on the line above it, or if it is on the same line and marked as such (`///<`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container

from concordance.extract.text.source_text import Source

_BLOCK = re.compile(r"(?:/\*+!?|\(\*+|<!--+|\{-|#\[=*\[)")
_LINE_SIGN = re.compile(r"^[ \t]*(?://[/!]*<?|#+!?:?|--+|;+|%+|\.\.|rem\b)[ \t]?", re.I | re.M)
_STAR = re.compile(r"^[ \t]*\*(?!/)[ \t]?", re.M)
_RULE = re.compile(r"^[ \t]*[-=*#~/_+.]{3,}[ \t]*$", re.M)
_LEGAL = re.compile(
    r"copyright|\(c\)\s*\d{4}|©|licen[cs]ed? |spdx-|all rights reserved|redistribution and use|permission is hereby|"
    r"without warranty|see the license|license file|public domain",
    re.I,
)
_MACHINE = re.compile(
    r"\A\s*(?:#!|-\*-|.{0,20}coding[:=]|vim?:|pylint:|flake8|mypy:|ruff:|noqa|eslint|clang-format|type:\s*ignore|"
    r"go:[a-z]|\+build |@ts-|prettier-ignore|jshint |istanbul )"
)


def is_legal(words: str) -> bool:
    """True if a comment states rights or a licence rather than what the code does."""
    return _LEGAL.search(words) is not None


_PREAMBLE = re.compile(rb"\s*+(?:<\?[^>]*\?>|#![^\r\n]*+|#pragma once)?+\s*+")


def strip_markers(comment: str) -> str:
    """Return the text of a comment without comment markers, separator lines and common indentation."""
    text = comment.expandtabs(4).replace("\r\n", "\n")
    block = _BLOCK.match(text.lstrip())
    if block:
        text = _without_closing(text.strip()[block.end() :])
        text = text.lstrip("<") if text.startswith("<") else text
        lines = text.split("\n")
        if len(lines) > 1 and all(not line.strip() or line.lstrip().startswith("*") for line in lines[1:]):
            text = _STAR.sub("", text)
    else:
        text = _LINE_SIGN.sub("", text)
    text = _RULE.sub("", text)
    lines = [line.rstrip() for line in text.split("\n")]
    first = lines[0].strip() if lines else ""
    rest = lines[1:]
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first, *(line[margin:] for line in rest)]).strip("\n").strip()


def _without_closing(text: str) -> str:
    """Return the inside of a block comment without the marker that ends it.

    A regular expression would try every star of a long separator line.
    """
    bare = text.rstrip()
    if bare.endswith(("*/", "*)")):
        return bare[:-1].rstrip("*")
    if bare.endswith("-->"):
        return bare[:-1].rstrip("-")
    if bare.endswith("-}"):
        return bare[:-2]
    if bare.endswith("]") and bare[:-1].rstrip("=").endswith("]"):
        return bare[:-1].rstrip("=")[:-1]
    return text


class Comments:
    """A file's comments, in the order of the text."""

    def __init__(self, source: Source, spans: list[tuple[int, int]]) -> None:
        self.source = source
        self.spans = sorted(spans)
        # The last line of each comment; some grammars include the line end in the comment.
        self.ends = [source.line(max(start, end - 1)) for start, end in self.spans]
        self.starts = [source.line(start) for start, _ in self.spans]
        self._beside: dict[int, str] = {}  # by line; several definitions may be on one line
        self._above: dict[int, str] = {}

    def above(self, line: int) -> str:
        """Return the comment that ends on the line above, including the comment lines before it that it continues."""
        if line not in self._above:
            self._above[line] = self._read_above(line)
        return self._above[line]

    def _read_above(self, line: int) -> str:
        at = bisect_left(self.ends, line) - 1
        if at < 0 or self.ends[at] != line - 1 or not self.stands_alone(at):
            return ""
        first = at
        line_comment = self._is_line_comment(at)
        while (
            line_comment and first > 0 and self.ends[first - 1] == self.starts[first] - 1
            and self._is_line_comment(first - 1) and self.stands_alone(first - 1)
        ):  # fmt: skip
            first -= 1
        words = self._words(first, at)
        return "" if _LEGAL.search(words) or _MACHINE.match(words) else words

    def beside(self, line: int) -> str:
        """Return the comment on a definition's own line that is marked as documenting it."""
        if line not in self._beside:
            self._beside[line] = self._read_beside(line)
        return self._beside[line]

    def _read_beside(self, line: int) -> str:
        at = bisect_left(self.starts, line)
        while at < len(self.spans) and self.starts[at] == line:
            raw = self.source.slice(*self.spans[at])
            if raw.startswith(("///<", "//!<", "/**<", "/*!<")):
                return strip_markers(raw)
            at += 1
        return ""

    def leading(self, defined: Container[int]) -> str:
        """Return what the file's first comments say about the file; a comment right above a definition belongs to that.

        Licences and instructions to tools are left out.
        """
        said = []
        at = 0
        while at < len(self.spans) and self.stands_alone(at):
            between = self.source.data[self.spans[at - 1][1] if at else 0 : self.spans[at][0]]
            if not _PREAMBLE.fullmatch(between):
                break
            last = at
            while (
                last + 1 < len(self.spans) and self.starts[last + 1] == self.ends[last] + 1
                and self._is_line_comment(last + 1) and self._is_line_comment(last)
            ):  # fmt: skip
                last += 1
            words = self._words(at, last)
            ours = self.ends[last] + 1 not in defined
            if words and ours and not _LEGAL.search(words) and not _MACHINE.match(words):
                said.append(words)
            at = last + 1
        return "\n\n".join(said)

    def texts(self) -> list[tuple[int, str]]:
        """Return the line and text of every comment."""
        return [
            (line, strip_markers(self.source.slice(*span))) for line, span in zip(self.starts, self.spans, strict=True)
        ]

    def _words(self, first: int, last: int) -> str:
        return strip_markers(
            "\n".join(self.source.slice(*self.spans[at]).strip("\r\n") for at in range(first, last + 1))
        )

    def stands_alone(self, at: int) -> bool:
        """True if there is only white space before the comment on its line."""
        start = self.spans[at][0]
        if at and self.starts[at - 1] == self.starts[at] and self.spans[at - 1][0] < start:
            return False  # another comment precedes it
        return not self.source.data[self.source.line_bytes[self.starts[at] - 1] : start].strip()

    def _is_line_comment(self, at: int) -> bool:
        return not self.source.data.startswith((b"/*", b"<!--", b"(*", b"{-", b"#[[", b"#[="), self.spans[at][0])
