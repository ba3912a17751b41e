"""INI files and similar formats (.cfg, .properties, .editorconfig, .gitconfig, .desktop): sections and keys.

A comment line starts with `;`, `#` or `!`. A line that is indented further than the key above it continues that
key's value, as in Python's configparser, and so does a line after one that ends in a backslash. A single word is a
key only inside a section (git's flags). Some files with these extensions use another syntax (blocks in braces,
tags); only their comments are read, because nothing in them can be identified as a key with certainty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from concordance.base.model import Category, Kind, Language
from concordance.extract.documents.keyed import pair_signature
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "ini",
    "INI",
    extensions=(".ini", ".cfg", ".conf", ".properties", ".editorconfig", ".gitconfig", ".desktop"),
    filenames=(
        "setup.cfg", ".editorconfig", ".gitconfig", ".gitmodules", ".flake8", ".pylintrc", "pylintrc", ".coveragerc",
        ".npmrc", ".pypirc", ".hgrc", "*.service", "*.lektorproject",
    ),
    category=Category.CONFIGURATION,
    aliases=("conf",),
    is_keyed=True,
)  # fmt: skip

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_SECTION = re.compile(rb"[ \t]*\[([^\r\n]+?)\][ \t]*(?:[;#][^\r\n]*)?[\r\n]*\Z")
_KEY = re.compile(rb"[ \t]*+((?:\\.|[^=:\\\r\n \t]|[ \t]++(?![=:]))++)[ \t]*+([=:])[ \t]*+")
_FLAG = re.compile(rb"[ \t]*([\w.-]+)[ \t]*[\r\n]*\Z")
_FOREIGN_SYNTAX = re.compile(rb"^[ \t]*(?:[^#;=\s][^\r\n#;=]*\{[ \t]*\r?$|<[/\w?!][^\r\n]*>[ \t]*\r?$)", re.M)


def read(source: Source) -> Draft:
    """Parse one INI file into a `Draft`."""
    reading = _Reading(Draft(source), bool(_FOREIGN_SYNTAX.search(source.data)))
    for match in _LINE.finditer(source.data):
        if match.end() > match.start():
            reading.line(match.start(), match[0])
    reading.close(len(source.data))
    return reading.draft


@dataclass(slots=True)
class _Reading:
    draft: Draft
    foreign: bool  # the file uses another syntax
    section: Definition | None = None
    key: Definition | None = None
    value: tuple[int, int] = (0, 0)  # extent of the key's value
    indent: int = 0  # of the key's line
    continued: bool = False  # the line above ends in a backslash

    def line(self, at: int, raw: bytes) -> None:
        words = raw.strip()
        if not words:
            self.continued = False
            return
        if words[:1] in b";#!" and not self.continued:
            start = at + raw.index(words)
            self.draft.comments.append((start, start + len(words)))
            return
        if self.foreign:
            return
        indent = len(raw) - len(raw.lstrip())
        is_continuation = self.continued or (self.key is not None and indent > self.indent)
        backslashes = len(words) - len(words.rstrip(b"\\"))
        self.continued = backslashes % 2 == 1 and (is_continuation or b"=" in words or b":" in words)
        if self.key is not None and is_continuation:
            self.key.end = at + len(raw.rstrip())
            self.value = (self.value[0], self.key.end)
            return
        self._entry(at, raw, indent)

    def _entry(self, at: int, raw: bytes, indent: int) -> None:
        source = self.draft.source
        end = at + len(raw.rstrip())
        section = _SECTION.match(raw)
        if section:
            self.close(at)
            start = at + section.start(1)
            name = source.slice(start, at + section.end(1))
            self.section = self.draft.define(Kind.KEY, name, start, at + indent, end, signature=f"[{name}]")
            return
        self._close_key()
        match = _KEY.match(raw) or (_FLAG.match(raw) if self.section is not None else None)
        if match is None:
            return
        start = at + match.start(1)
        name = source.slice(start, at + match.end(1))
        self.key = self.draft.define(Kind.KEY, name, start, at + indent, end)
        self.value = (min(end, at + match.end()), end)
        self.indent = indent

    def _close_key(self) -> None:
        if self.key is not None:
            self.key.signature = pair_signature(self.draft.source, self.key.name, self.value, "scalar")
        self.key = None

    def close(self, at: int) -> None:
        """End the current section, at the start of the next one or at the end of the file."""
        self._close_key()
        if self.section is not None:
            data = self.draft.source.data
            last = self.draft.definitions[-1].end
            self.section.end = max(self.section.end, min(last, len(data), at))
        self.section = None
