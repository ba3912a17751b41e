"""Splits Markdown into blocks: headings, prose, code, raw HTML and comments.

In: the lines of a file. Out: `Block`s in the order of the text, following CommonMark: quotes and list items contain
blocks of their own, the content of a fence is not parsed, and an underline turns the paragraph above it into a
heading. The parser is written by hand because only the kind of each line matters here, and building a grammar's
syntax tree takes ten times as long. `Directives` reads the Sphinx directives in fences. `find_fences` is for readers
of prose that only need to know which lines are code: it looks at single lines, in any format of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.extract.documents.prose import is_relative
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

_FIRST = re.compile(r"[\s>]*[`~]{3,}[ \t]*\{([\w:.-]+)\}[ \t]*(.*)$")
_NESTED = re.compile(r"\s*\.\.[ \t]+([\w:.-]+)::[ \t]*(.*)$")
_OPTION = re.compile(r"\s*(?::[\w-]+:|[\w-]+:\s|---)")
_TITLED = re.compile(r"<([^<>`]+)>\s*$")
_FILES = frozenset(("include", "literalinclude", "image", "figure"))
_LISTS = frozenset(("toctree", "autosummary"))


class Block(NamedTuple):
    """A run of lines of one kind; lines count from 0, and `last` is included."""

    kind: str  # "heading", "prose", "code", "html", "comment"
    first: int
    last: int
    level: int = 0  # of a heading
    text: str = ""  # a heading's text as written, or a fence's language


_ATX = re.compile(r"(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_RULE = re.compile(r"(?:\*[ \t]*){3,}$|(?:-[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_SETEXT = re.compile(r"(=+|-+)[ \t]*$")
_MARKER = re.compile(r"([-+*]|(\d{1,9})[.)])( +|$)")
_REFERENCE = re.compile(r"\[(?!\^)[^\[\]]+\]:\s*\S+")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|"
    "track|ul"
)
_RAW = "script|pre|style|textarea"
# Start and end pattern of HTML blocks; None means a blank line. The last kind cannot interrupt a paragraph.
_HTML = (
    (re.compile(rf"<(?:{_RAW})(?:\s|>|$)", re.I), re.compile(rf"</(?:{_RAW})>", re.I)),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", re.I), None),
    (re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>\s*$"), None),
)
_COMMENT, _ANY_TAG = 1, 6
_QUOTE = -1
_DEEPEST = 100  # containers; only hostile files nest deeper


class Fence(NamedTuple):
    """A fenced code block; lines count from 0."""

    first: int  # the line that opens it
    last: int  # the line that closes it; the number of lines if none does
    info: str  # what follows the opening fence: usually a language


_FENCE_LINE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]*)$")


def find_fences(lines: Iterable[str]) -> Iterator[Fence]:
    """Yield the fenced code blocks of a document."""
    opened, first, info, number, above = "", 0, "", -1, ""
    for number, line in enumerate(lines):
        match = _FENCE_LINE.match(line) if "```" in line or "~~~" in line else None
        above, title = line.strip(), above
        if match is None:
            continue
        if not opened:
            # In reST, tildes below a line of text that they are long enough for make it a heading.
            if match[1][0] != "~" or match[2].strip() or not 0 < len(title) <= len(match[1]):
                opened, first, info = match[1], number, match[2].strip()
        elif match[1].startswith(opened) and not match[2].strip():
            yield Fence(first, number, info)
            opened = ""
    if opened:
        yield Fence(first, number + 1, info)


def front_matter_length(lines: list[str]) -> int:
    """Return the number of lines of front matter at the start of a file."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
        if number == 1 and (":" not in line and not line.startswith("#")):
            return 0
    return 0


def split_blocks(lines: list[str]) -> list[Block]:
    """Return the blocks of a file."""
    reader = _Reader()
    start = front_matter_length(lines)
    for number in range(start, len(lines)):
        line = lines[number]
        reader.line(number, line.expandtabs(4) if "\t" in line else line)
    reader.finish(len(lines) - 1)
    return reader.blocks


class _Reader:
    """Reads line by line, keeping a stack of open containers and at most one open leaf block."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.containers: list[int] = []  # `_QUOTE`, or the width of a list item's indentation
        self.leaf = ""  # "", "prose", "fence", "html", "indented"
        self.first = 0
        self.depth = 0  # number of containers around the leaf
        self.fence = ""
        self.language = ""
        self.html = 0
        self.headed: list[str] = []  # lines of the open paragraph

    def line(self, number: int, line: str) -> None:
        """Process the next line."""
        at, matched = self._match_containers(line)
        rest = line[at:]
        if matched < self.depth and self.leaf in ("fence", "html", "indented"):
            self.finish(number - 1)
        if self.leaf in ("fence", "html") and self._goes_on(number, rest):
            return
        at, opened = self._open_containers(line, at, matched, number)
        rest = line[at:]
        bare = rest.lstrip(" ")
        indent = len(rest) - len(bare)
        if not bare.strip(" "):
            if self.leaf == "prose":
                self.finish(number - 1)
            return
        if self.leaf == "indented" and indent < 4:
            self.finish(number - 1)
        unmatched = matched if matched < len(self.containers) and not opened else -1
        if self.leaf == "prose":
            if indent >= 4 or not self._starts_leaf(number, bare, unmatched):
                self.headed.append(bare)  # lazy continuation: a paragraph's line may lack its containers' markers
            return
        if unmatched >= 0:
            del self.containers[unmatched:]
        if indent >= 4:
            if self.leaf != "indented":
                self._open("indented", number)
        elif not self._starts_leaf(number, bare, -1):
            self._open("prose", number)
            self.headed = [bare]

    def finish(self, last: int) -> None:
        """Close the open leaf block; `last` is its last line."""
        if self.leaf == "prose":
            self.blocks.append(Block("prose", self.first, last))
        elif self.leaf in ("fence", "indented"):
            self.blocks.append(Block("code", self.first, last, 0, self.language))
        elif self.leaf == "html":
            self.blocks.append(Block("comment" if self.html == _COMMENT else "html", self.first, last))
        self.leaf, self.language, self.depth = "", "", 0

    def _open(self, leaf: str, number: int) -> None:
        self.leaf, self.first, self.depth = leaf, number, len(self.containers)

    def _match_containers(self, line: str) -> tuple[int, int]:
        """Return how many columns of a line the open containers take, and how many of them continue."""
        at = matched = 0
        for width in self.containers:
            rest = line[at:]
            bare = rest.lstrip(" ")
            indent = len(rest) - len(bare)
            if width == _QUOTE:
                if indent > 3 or not bare.startswith(">"):
                    break
                at += indent + 1 + bare.startswith("> ")
            elif not bare:
                at = len(line)
            elif indent >= width:
                at += width
            else:
                break
            matched += 1
        return at, matched

    def _open_containers(self, line: str, at: int, matched: int, number: int) -> tuple[int, bool]:
        """Open the quotes and list items that start on a line."""
        opened = False
        while True:
            rest = line[at:]
            bare = rest.lstrip(" ")
            indent = len(rest) - len(bare)
            if indent > 3 or not bare or len(self.containers) > _DEEPEST:
                return at, opened
            if bare[0] == ">":
                width, taken = _QUOTE, indent + 1 + bare.startswith("> ")
            else:
                marker = _MARKER.match(bare)
                if marker is None or _RULE.match(bare):
                    return at, opened
                in_paragraph = self.leaf == "prose" and not opened and matched == self.depth
                if in_paragraph and (not bare[marker.end() :].strip() or marker[2] not in (None, "1")):
                    return at, opened
                spaces = len(marker[3])
                blank = not bare[marker.end() :].strip()
                width = indent + len(marker[1]) + (1 if blank or spaces > 4 else spaces)
                taken = min(width, len(rest))
            if not opened:
                self.finish(number - 1)
                del self.containers[matched:]
            self.containers.append(width)
            matched += 1
            opened = True
            at += taken

    def _goes_on(self, number: int, rest: str) -> bool:
        """True if the line belongs to the open fence or HTML block."""
        bare = rest.strip()
        if self.leaf == "fence":
            indent = len(rest) - len(rest.lstrip(" "))
            if indent < 4 and bare.startswith(self.fence) and not bare.strip(bare[0]):
                self.finish(number)
            return True
        end = _HTML[self.html][1]
        if end is None and not bare:
            self.finish(number - 1)
            return False
        if end is not None and end.search(rest):
            self.finish(number)
        return True

    def _starts_leaf(self, number: int, bare: str, unmatched: int) -> bool:
        """Open or add the block that starts on a line; return False if none does."""
        sign = bare[0]
        if self.leaf == "prose" and unmatched < 0 and sign in "=-" and _SETEXT.match(bare) and self._has_words():
            self.blocks.append(Block("heading", self.first, number, 1 if sign == "=" else 2, "\n".join(self.headed)))
            self.leaf = ""
            return True
        if sign == "#" and (atx := _ATX.match(bare)):
            self._interrupt(number, unmatched)
            self.blocks.append(Block("heading", number, number, len(atx[1]), _atx_text(bare[atx.end() :])))
            return True
        if sign in "`~" and (fence := _FENCE.match(bare)):
            self._interrupt(number, unmatched)
            self._open("fence", number)
            self.fence = fence[1] or fence[3]
            self.language = (fence[2] or fence[4] or "").strip().partition(" ")[0]
            return True
        if sign in "*-_" and _RULE.match(bare):
            self._interrupt(number, unmatched)
            return True
        return sign == "<" and self._starts_html(number, bare, unmatched)

    def _has_words(self) -> bool:
        """True if the open paragraph is more than link reference definitions, which cannot become a heading."""
        return not all(_REFERENCE.match(line) for line in self.headed)

    def _starts_html(self, number: int, bare: str, unmatched: int) -> bool:
        for kind, (start, end) in enumerate(_HTML):
            if (kind != _ANY_TAG or self.leaf != "prose") and start.match(bare):
                self._interrupt(number, unmatched)
                self._open("html", number)
                self.html = kind
                if end is not None and end.search(bare, 2 if kind != _COMMENT else 4):
                    self.finish(number)
                return True
        return False

    def _interrupt(self, number: int, unmatched: int) -> None:
        """Close the paragraph that a line interrupts, and the containers whose markers the line lacks."""
        self.finish(number - 1)
        if unmatched >= 0:
            del self.containers[unmatched:]


def _atx_text(rest: str) -> str:
    """Return the text of an ATX heading after its opening hashes, without the closing ones."""
    text = rest.strip(" \t")
    bare = text.rstrip("#")
    closed = len(bare) < len(text) and (not bare or bare[-1] in " \t")
    return bare.rstrip(" \t") if closed else text


# Sphinx directives in Markdown: a fenced block whose language is in braces (```` ```{toctree} ````), or reST in one
# (`{eval-rst}`). They become imports whose form is the directive's name, as in the reST reader: documents, included
# files, Python modules, and Python names together with the current module.


class Directives:
    """Reads the directive fences of one file, in order."""

    def __init__(self, draft: Draft, lines: list[str]) -> None:
        self._draft = draft
        self._source: Source = draft.source
        self._lines = lines
        self._module = ""  # the current module
        self._list = ""  # the directive whose entries follow

    def read(self, first: int, last: int) -> None:
        """Read one block, including its fence."""
        match = _FIRST.match(self._lines[first])
        if match is None:
            return
        self._list = ""
        if match[1] != "eval-rst":
            self._directive(first, match[1], match[2].strip())
        for number in range(first + 1, last):
            line = self._lines[number]
            nested = _NESTED.match(line)
            if nested:
                self._directive(number, nested[1], nested[2].strip())
            elif self._list and line.strip() and not _OPTION.match(line):
                titled = _TITLED.search(line)
                self._add(number, titled[1] if titled else line.strip().lstrip("~"), self._list)

    def _directive(self, number: int, name: str, argument: str) -> None:
        short = name.rpartition(":")[2]
        self._list = short if short in _LISTS else ""
        if short in ("currentmodule", "module") and argument:
            self._module = "" if argument == "None" else argument
            self._add(number, self._module, short)
        elif short in _FILES or (short.startswith("auto") and not self._list):
            self._add(number, argument.partition("(")[0].strip(), short)
            self._module = argument if short == "automodule" and argument else self._module

    def _add(self, number: int, words: str, form: str) -> None:
        code = form.startswith("auto")
        if not words or not (code or is_relative(words)):
            return
        raw = self._lines[number]
        start = max(0, raw.find(words))
        at = self._source.line_bytes[number] + len(raw[:start].encode("utf-8", "replace"))
        named = code and form != "automodule" and self._module and not words.startswith(f"{self._module}.")
        self._draft.add_import(at, self._module if named else words, name=words if named else "", form=form)
