"""Reads statements off the page of a file and checks them against the text of that file.

In: a page in Markdown, and the file that it is about. Out: the lines of the page that the file contradicts. Nothing is
parsed and the store is not used, so a mistake of a reader or of the page writer that is made in every build, and
therefore also in a page that is rendered anew, shows here. What is checked:

- size, digest, number of lines and of blank lines;
- the copy of the source, line by line;
- each definition: its name is on the line that is given for it, and the words of its signature are in the file, unless
  a macro may make them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from concordance.base import characters
from concordance.base.blocks import count_noun

_SIZE = re.compile(r"- \*\*Size\*\*: ([\d,]+) bytes?\b")
_LINES = re.compile(r"- \*\*Lines\*\*: ([\d,]+)(?: \((?:.*, )?([\d,]+) blank\))?")
_DIGEST = re.compile(r"- \*\*Digest\*\*: `([0-9a-f]+)`")
_METADATA, _SOURCE = "## File Metadata", "## Original Source"
_FENCE = re.compile(r"`{3,}")
_DEFINITION = re.compile(
    r'<a id="def-([^"]*)"></a>(?:[a-z ]+ )?'  # the anchor, and the kind where the signature does not tell it
    r"(`+)(.+?)\2(?!`) "  # the signature
    r"(?:\[L(\d+)\](?:\([^)]*\)|\[\d+\])|L(\d+))"  # the line, with its address or a reference to it
)
_WORD = re.compile(r"[^\W\d]\w*")
_SUFFIX = re.compile(r"\+\d+$")  # of the second definition with one key
_DIRECTIVE = re.compile(r"\s*#\s*(?:define|include)\b")  # a file with these may use macros
_MACRO = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")
_ESCAPE = re.compile(r"\\u[0-9a-f]{4}|\\U[0-9a-f]{8}")  # of a hidden character


class SourceText(NamedTuple):
    """The current content of a file."""

    why: str  # why the file cannot be read; "" if it can
    digest: str = ""
    lines: Sequence[str] = ()
    length: int = 0  # number of lines, at least 1
    size: int = 0  # bytes

    @property
    def own_lines(self) -> Sequence[str]:
        """Return the lines without the empty one after the last line end."""
        return self.lines[:-1] if self.lines and not self.lines[-1] else self.lines


def check_statements(page: Sequence[str], source: SourceText) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file's page that its source contradicts, each with what is wrong."""
    words, section, after_copy = _FileWords(source.lines), "", 0
    for number, line in enumerate(page, 1):
        if number <= after_copy:
            continue
        if line.startswith("## "):
            section = line
        elif section == _METADATA:
            yield from _check_metadata(number, line, source)
        elif section == _SOURCE and not after_copy and (fence := _FENCE.match(line)):
            after_copy = next((end for end in range(number, len(page)) if page[end] == fence[0]), len(page)) + 1
            yield from _check_copy(page[number : after_copy - 1], number + 1, source)
        if 'id="def-' in line:
            yield from _check_definitions(number, line, words)


def _check_copy(lines: Sequence[str], start: int, source: SourceText) -> Iterator[tuple[int, str]]:
    # The source may have other line ends than the page.
    copied = characters.lines("".join(f"{line}\n" for line in lines))[:-1]
    own = source.own_lines
    if copied != own:
        place = next((at for at, pair in enumerate(zip(copied, own, strict=False)) if pair[0] != pair[1]), len(own))
        yield start + min(place, len(lines)), f"line {place + 1:,} of the source is not copied as it is"


def _check_metadata(number: int, line: str, source: SourceText) -> Iterator[tuple[int, str]]:
    if (size := _SIZE.match(line)) and _number(size[1]) != source.size:
        yield number, f"the file has {count_noun(source.size, 'byte')}"
    if (digest := _DIGEST.match(line)) and digest[1] != source.digest:
        yield number, f"the digest of the file is {source.digest}"
    if source.lines and (lines := _LINES.match(line)):
        own = source.own_lines
        blank = sum(not text.strip(" \t\v\f") for text in own)
        if _number(lines[1]) != len(own):
            yield number, f"the file has {count_noun(len(own), 'line')}"
        elif lines[2] and _number(lines[2]) != blank:
            yield number, f"the file has {count_noun(blank, 'blank line')}"


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _check_definitions(number: int, line: str, words: _FileWords) -> Iterator[tuple[int, str]]:
    for key, _, signature, linked, plain in _DEFINITION.findall(line):
        at = int(linked or plain)
        text = words.lines[at - 1] if at <= len(words.lines) else ""
        name = _SUFFIX.sub("", key).rpartition(".")[2]
        if name.isidentifier() and name not in text and not words.may_be_made_by_macro(name, text):
            yield number, f"line {at:,} of the file does not name {name}"
            continue
        for word in _WORD.findall(_ESCAPE.sub(" ", signature)):
            if word not in text and word not in words.all and not words.may_be_made_by_macro(word, text):
                yield number, f"the signature has the word {word}, which is not in the file"
                break


class _FileWords:
    """The words of a file."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @cached_property
    def all(self) -> set[str]:
        return set(_WORD.findall("\n".join(self.lines)))

    @cached_property
    def has_macros(self) -> bool:
        return any(_DIRECTIVE.match(line) for line in self.lines)

    def may_be_made_by_macro(self, word: str, line: str) -> bool:
        """True if a macro on this line may produce the word, in its body or by pasting tokens together."""
        if not self.has_macros:
            return False
        return bool(_MACRO.search(line)) or any(len(part) > 2 and part in word for part in _WORD.findall(line))
