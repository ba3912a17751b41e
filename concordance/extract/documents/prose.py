"""Code shared by the readers of Markdown, reStructuredText and plain text.

In: headings with their levels, code spans, link targets, paragraphs. Out: headings with their extents, the code
names that a span mentions, whether a target is in the repository, and a document's opening paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.base.model import Kind
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

NAME_IN_CODE = re.compile(r"[A-Za-z_]\w*+(?:(?:\.|::)[A-Za-z_]\w*+)*+")
_DOTTED = re.compile(r"(?<![\w./:@-])[A-Za-z_]\w*+(?:(?:\.|::)[A-Za-z_]\w*+)++(?![\w/-])")
_CALL = re.compile(r"\s*\(.*\)\s*$|\s*$", re.S)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_NO_WORDS = re.compile(r"[\W_]*+$")


class DocumentHeading(NamedTuple):
    """A heading; offsets are in bytes."""

    level: int
    name: str  # without markup
    text: str  # as written
    at: int
    start: int


class ByteOffsets:
    """Converts offsets in a block's lines, joined by one character, to byte offsets in the file.

    Offsets must be given in ascending order, so that the text between two of them is only encoded once: a single
    line can be a whole file.
    """

    def __init__(self, source: Source, lines: list[str], first: int) -> None:
        self.source, self.lines, self.line = source, lines, first
        self.start = 0  # offset of the current line
        self.reached = 0  # last offset in the current line
        self.width = 0  # bytes before it in the line

    def __call__(self, offset: int) -> int:
        while offset > self.start + len(self.lines[self.line]) and self.line + 1 < len(self.lines):
            self.start += len(self.lines[self.line]) + 1
            self.line += 1
            self.reached = self.width = 0
        at = offset - self.start
        if at < self.reached:
            raise ValueError("offsets must ascend")
        text = self.lines[self.line]
        self.width += byte_length(text[self.reached : at])
        self.reached = at
        return self.source.line_bytes[self.line] + self.width


def byte_length(text: str) -> int:
    """Return the length of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def add_headings(draft: Draft, headings: list[DocumentHeading]) -> None:
    """Define headings, each extending to the next one of the same or a higher level."""
    size = len(draft.source.data)
    ends = [size] * len(headings)
    open_: list[int] = []
    for number, heading in enumerate(headings):
        while open_ and headings[open_[-1]].level >= heading.level:
            ends[open_.pop()] = heading.start
        open_.append(number)
    for heading, end in zip(headings, ends, strict=True):
        if heading.name:
            draft.define(
                Kind.HEADING, heading.name, heading.at, heading.start, end, signature=heading.text, occurs=False
            )


def code_names(start: int, code: str) -> Iterator[tuple[int, str]]:
    """Yield the names that a code span mentions: itself if it is a name or a call, otherwise the dotted names in it."""
    lead = len(code) - len(code.lstrip())
    match = NAME_IN_CODE.match(code, lead)
    if match and _CALL.match(code, match.end()):
        yield start + lead, match[0]
        lead = match.end()
        for inner in _DOTTED.finditer(code, lead):
            yield start + inner.start(), inner[0]
        return
    for match in _DOTTED.finditer(code):
        yield start + match.start(), match[0]


def is_relative(target: str) -> bool:
    """True if a link's target is in this repository: it has no scheme and no host."""
    return bool(target) and not _SCHEME.match(target)


def opening_paragraph(paragraphs: Iterable[str]) -> str:
    """Return the first paragraph that contains words and says more than that the work is not finished."""
    return next((words for words in paragraphs if not (_NO_WORDS.match(words) or _UNFINISHED.match(words))), "")


_UNFINISHED = re.compile(
    r"\W*(?:(?:this|it) (?:\w+ )?is (?:still )?)?(?:an? )?"
    r"(?:work[- ]in[- ]progress|under (?:construction|development)|WIP)\W*\Z",
    re.I,
)
