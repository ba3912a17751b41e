"""Comments as documentation: finds the comment that documents a definition, and its text.

In: the comments of a file as byte ranges. Out: text without comment markers. A comment documents a definition if it
ends on the line above it, or if it is on the same line and marked as such (`///<`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from concordance.extract.documents.legal_text import descriptive_paragraphs, is_legal
from concordance.extract.text.source_text import Source

_BLOCK = re.compile(r"(?:/\*+!?|\(\*+|<!--+|\{-|#\[=*\[(?:\.rst:?$)?)", re.M)
_LINE_SIGN = re.compile(r"^[ \t]*(?://[/!]*<?|#+!?:?|--+|;+|%+|\.\.|rem\b)[ \t]?", re.I | re.M)
_STAR = re.compile(r"^[ \t]*\*(?!/)[ \t]?", re.M)
_RULE = re.compile(r"^[ \t]*(?!\.{3}[ \t]*$)[-=*#~/_+.]{3,}[ \t]*$", re.M)  # three dots leave something out
_MARKED = (b"/**", b"/*!", b"///", b"//!", b"#:", b"##")
_TOOL_LINE = re.compile(  # instructions to tools, and lists of owners
    r"\s*+(?:#!|.{0,20}coding[:=]|vim?:|pylint:|flake8|mypy:|pyre-|ruff:|isort:|fmt:|noqa|eslint|"
    r"jshint |clang-(?:format|tidy)|type:\s*+ignore|go:[a-z]|\+build |@ts-|prettier-ignore|istanbul |shellcheck |"
    r"nolint|iwyu |hadolint|yaml-language-server|yamllint|pragma:|c?spell-?check|cython:|distutils:|syntax=|nosec|"
    r"owner\(s\)|(?:begin|end) ?repeat|#\w++ ?=|@(?:lint-|nolint|format\b|flow\b|oncall\b|emails\b)|"
    r"bats \w+=|globals? \w+(?:,|$)|\$[a-z]\w++(?:: [^$]*+)?\$\s*$)",
    re.I,
)
# A line of code that was commented out
_CODE_LINE = re.compile(
    r"(?:import|from) [\w.]+(?: import\b|;?$)|(?:def|class|fn|func|var|let|const|return|if|for|while)\b.*[({:;=]$|"
    r".*[;{}]$|[\w.\[\]]+ ?[-+*/|&]?= ?\S+$"
)
_SCRIPT_METADATA = re.compile(r"^/// [\w-]+$.*", re.M | re.S)  # dependencies of a Python script; its end is a ruler
_WORD = re.compile(r"[^\W\d_][\w'’-]*[.,:;!?]*$")
_RULER = re.compile(r"[-=*#~/_+]{4,}")
_SECTION = re.compile(  # the title of a part of a file
    r"(?!(?:get|set|return|add|register|parse|check|define|run|list|all|the)s?\b)(?:[\w/&-]+ ){0,2}(?:imports|includes|"
    r"functions|methods|macros|constants|declarations|definitions|helpers|utilities|routines|types|typedefs|structs|"
    r"classes|variables|globals|tests|settings|options|defaults|properties|accessors|getters|setters|constructors|"
    r"operators|internals|prototypes|data|implementations?|api|fields|members)\W*",
    re.I,
)
# The beginning of a remark that does not describe the definition below it
_ASIDE = re.compile(
    r"(?:NB|N\.B\.|[Nn][Oo][Tt][Ee]s?|W[Aa][Rr][Nn][Ii][Nn][Gg]|IMPORTANT|TODO|FIXME|XXX|HACK|See|Must)\b"
)
_DISABLED_CODE = re.compile(r"#\s*(?:include|import|define|undef|if|ifn?def|pragma)\b|using [\w:]+;|[\w.:]+\([^()]*\);")
_SHELL_SETTING = re.compile(r"(?:stop|exit|fail|abort|echo|print|show|enable|strict|be|turn)\b", re.I)
# The beginning of a comment that is about the whole file: `This module …`
_OF_FILE = re.compile(
    r"(?:this|the|an?) (?:\w+ ){0,2}(?:file|module|script|header|package|folder|workflow|template|program|library)\b",
    re.I,
)
_ABOUT_CODE_BELOW = re.compile(r"\b(?:below|these|those|following|moved)\b", re.I)
_PREAMBLE = re.compile(rb"\s*+(?:<\?[^>]*\?>|#![^\r\n]*+|#pragma once)?+\s*+")
_OPENING_LINE = re.compile(  # what may follow the comment that describes a file without a blank line between them
    rb"\s*+(?:#\s*+(?:include|import|pragma|(?:ifndef|define)\s++\w*(?:_H|_HH|_HPP|_HXX|_INC|INCLUDED|GUARD)_*+\b)|import\b|from\b|package\b|use\b|using\b|module\b|"
    rb"set [-+]|source |set\(|cmake_|include|project\(|['\"]use strict|@echo|FROM\b|ARG\b|export\b|require|syntax\b|"
    rb"load\(|name:|version:|namespace\b|extern\b|template\b|\.\w|:|<|\{|\[|-)",
    re.I,
)
# A comment right above another directive is about that, unless it is too long to be.
_DIRECTIVE = re.compile(rb"#\s*+(?:ifn?def|if|define|undef)\b")
_MIN_WORDS_ABOVE_DIRECTIVE = 20
_BUILD_CONSTRAINT = re.compile(r"//[ \t]*(?:go:build|\+build)\b")
_TITLE_OF_PART = re.compile(r"(?:\S+ ){0,2}\S+\.\s+[A-Z]")  # Public names. Think twice before adding one.
_MIN_WORDS = 12  # of a comment between the imports and the first definition that describes the file
_MIN_WORDS_OF_BLOCK = 4  # of one sentence in a block comment of three lines or more
_LAST_LINE = 80  # such a comment is not searched for below this line


def reads_like_prose(lines: list[str], least: int = 5) -> bool:
    """True if most tokens are words, there are enough of them in all and in each line, and no line is code."""
    words = [word for line in lines for word in line.split()]
    letters = sum(1 for word in words if _WORD.match(word.lstrip("\"'(").rstrip("\"')")))
    enough = len(words) >= least and letters >= 0.7 * len(words) and len(words) >= 3 * len(lines)
    return enough and not any(_CODE_LINE.match(line.strip()) for line in lines)


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
        text = _LINE_SIGN.sub("", text, text.count("\n") + 1)  # once in a line at most: most comments are one line
    if "\n" not in text:
        return "" if _RULE.match(text) else text.strip()
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
        return bare[:-1].rstrip("=")[:-1].removesuffix("#")  # many write `#]]`, to mirror the start
    return text


def _without_tool_lines(words: str) -> str:
    """Return the text of a comment without the lines that are instructions to tools."""
    return "\n".join(line for line in words.split("\n") if not _TOOL_LINE.match(line) and "-*-" not in line).strip()


_OF_FUNCTION = re.compile(rb"^[ \t*]*@(?:param|returns?|throws)\b", re.M)
_TAG = re.compile(
    rb"^[ \t*]*@(?:param|arg|returns?|throws|type|private|public|protected|api|class|method|function)\b", re.M
)


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

    def above(self, line: int, tool_lines: bool = False) -> str:
        """Return the comment that ends on the line above, including the comment lines before it that it continues.

        Lines that are instructions to tools are left out, unless `tool_lines` is True.
        """
        if line not in self._above:
            self._above[line] = self._read_above(line)
        return self._above[line] if tool_lines else _without_tool_lines(self._above[line])

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
        if line_comment and first > 0 and self._is_documentation_above(first):
            first = at = first - 1  # the line between it and the definition is a remark: `//@Immutable`
        words = self._words(first, at)
        return "" if is_legal(words) or self._is_section_title(first, at, words) else words

    def _is_documentation_above(self, place: int) -> bool:
        """True if a documentation comment in a block ends right above a line comment that is not marked as one."""
        data, (start, _), (above, _) = self.source.data, self.spans[place], self.spans[place - 1]
        return (
            data.startswith(b"/**", above) and not data.startswith(_MARKED, start) and self.stands_alone(place - 1)
            and self.ends[place - 1] == self.starts[place] - 1
        )  # fmt: skip

    def apart(self, line: int, name: str) -> str:
        """Return the first of the comments above the one on a definition, a blank line between each, that opens with
        the definition's name: the one on the definition itself may only add to it.
        """
        at, paragraph = bisect_left(self.ends, line) - 1, ""
        while at > 0:
            while at > 0 and self.ends[at - 1] == self.starts[at] - 1 and self.stands_alone(at - 1):
                at -= 1
            gap = self.starts[at] - 1
            at -= 1
            if at < 0 or self._line(gap) or self.ends[at] != gap - 1 or not self._is_line_comment(at):
                break
            words = self._read_above(gap)
            opening = words.partition("\n\n")[0]
            if not words or "." not in opening:
                break
            paragraph = words if re.search(rf"\b{re.escape(name)}\b", opening) else paragraph
        return paragraph

    def block_apart(self, line: int, name: str) -> tuple[str, int]:
        """Return the documentation comment (`/** … */`) that blank lines separate from a definition, and the line below
        it; "" and 0 if there is none.

        It must have tags, or contain the definition's name (if that is given); then there may be line comments between
        the two as well.
        """
        data, at, below = self.source.data, bisect_left(self.ends, line) - 1, line
        while at >= 0 and self.stands_alone(at) and not any(map(self._line, range(self.ends[at] + 1, below))):
            start, end = self.spans[at]
            if data.startswith(b"/**", start):
                has_tags = self.ends[at] == line - 2 and _TAG.search(data, start, end)
                is_named = name and re.search(rf"\b{re.escape(name)}\b".encode(), data[start:end])
                words = self._read_above(self.ends[at] + 1) if has_tags or is_named else ""
                return words, self.ends[at] + 1 if words else 0
            if not self._is_line_comment(at):
                break
            below, at = self.starts[at], at - 1
        return "", 0

    def is_marked(self, line: int) -> bool:
        """True if the comment that ends on the line above is marked as documentation of what follows: `/**`, `///`."""
        at = bisect_left(self.ends, line) - 1
        return at >= 0 and self.ends[at] == line - 1 and self.source.data.startswith(_MARKED, self.spans[at][0])

    def _is_section_title(self, first: int, last: int, words: str) -> bool:
        """True if a comment is the title of a part of the file, not about the definition below it."""
        if "\n" in words or words.endswith((".", ":")) or len(words.split()) > 6:
            return False
        raw = self.source.slice(self.spans[first][0], self.spans[last][1])
        if self.source.data.startswith(_MARKED, self.spans[last][0]) and "\n" not in raw:
            return False
        if words.isupper() and len(words) > 3 and not self.source.data.startswith(_MARKED, self.spans[last][0]):
            return True
        return _RULER.search(raw) is not None or _SECTION.fullmatch(words) is not None

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

    def leading(self, defined: Collection[int]) -> str:
        """Return what the file's first comments say about the file.

        Licences, instructions to tools, asides and titles of sections are left out. A comment right above a definition
        belongs to that, and one right above other code to this code, unless it is a block comment or files usually
        begin with such a line. If the file does not begin with its description, it is the first long comment between
        blank lines above the first definition.
        """
        comments: list[str] = []
        at = int(bool(self.spans) and self.source.data.startswith(b"#!") and self.spans[0][0] == 0)
        while at < len(self.spans) and self.stands_alone(at):
            between = self.source.data[self.spans[at - 1][1] if at else 0 : self.spans[at][0]]
            if not _PREAMBLE.fullmatch(between):
                break
            last = self._end_of_group(at)
            words = self._about_file(at, last, defined)
            # A comment directly above code, after the file's description, is about that code.
            if words and not (comments and self._line(self.ends[last] + 1)):
                comments.append(words)
            at = last + 1
        return "\n\n".join(comments) or self._below_imports(at, defined)

    def _below_imports(self, at: int, defined: Collection[int]) -> str:
        """Return the first long comment between blank lines above the first definition; "" if there is none."""
        end = min((*defined, _LAST_LINE))
        while at < len(self.spans) and self.starts[at] < end:
            last = self._end_of_group(at)
            at_margin = self.spans[at][0] == self.source.line_bytes[self.starts[at] - 1]
            if at_margin and not self._line(self.starts[at] - 1) and not self._line(self.ends[last] + 1):
                words = self._about_file(at, last, defined)
                opening = words.split("\n\n")[0]
                about_code = _ABOUT_CODE_BELOW.search(opening) or _TITLE_OF_PART.match(opening)
                about_file = _OF_FILE.search(opening) or not about_code
                is_long = len(words.split()) >= _MIN_WORDS or self._is_block_of_sentence(at, last, words)
                if about_file and is_long and reads_like_prose(opening.split("\n"), _MIN_WORDS_OF_BLOCK):
                    return words
            at = last + 1
        return ""

    def _is_block_of_sentence(self, first: int, last: int, words: str) -> bool:
        """True if a short comment is a sentence that was given lines of its own, and no title of a part of the file."""
        lines = self.ends[last] - self.starts[first] + 1
        is_sentence = lines > 2 and not self._is_line_comment(first) and words.endswith(".")
        return is_sentence and _SECTION.fullmatch(words) is None

    def _end_of_group(self, at: int) -> int:
        """Return the last of the line comments that follow one another without other lines between them."""
        while (
            at + 1 < len(self.spans) and self.starts[at + 1] == self.ends[at] + 1
            and self._is_line_comment(at + 1) and self._is_line_comment(at) and self.stands_alone(at + 1)
        ):  # fmt: skip
            at += 1
        return at

    def _about_file(self, first: int, last: int, defined: Collection[int]) -> str:
        """Return the words of a group of comments, without legal text; "" if they do not describe the file."""
        header = _SCRIPT_METADATA.sub("", _without_tool_lines(self._words(first, last))).strip()
        states_rights = is_legal(header)  # no definition has a licence of its own
        if not states_rights and _BUILD_CONSTRAINT.match(self.source.slice(*self.spans[last])):
            return ""  # it gives the reason for the constraint
        if self.ends[last] + 1 in defined and not states_rights:
            return ""
        if self.source.data.startswith(b"/**", self.spans[first][0]) and _OF_FUNCTION.search(
            self.source.data, self.spans[first][0], self.spans[last][1]
        ):
            return ""
        words = descriptive_paragraphs(header)
        if not words or self._is_section_title(first, last, words) or _DISABLED_CODE.match(words):
            return ""
        below = self._line(self.ends[last] + 1)
        if below.startswith(b"set ") and _SHELL_SETTING.match(words):
            return ""
        if _ASIDE.match(words) and (below or not _OF_FILE.search(words)):
            return ""
        is_apart = not below or states_rights or not self._is_line_comment(last) or bool(_OPENING_LINE.match(below))
        if not is_apart and _DIRECTIVE.match(below):
            is_apart = len(words.split()) >= _MIN_WORDS_ABOVE_DIRECTIVE
        return words if is_apart or _OF_FILE.match(words) else ""

    def _line(self, number: int) -> bytes:
        """Return a line without surrounding white space; b"" before the first and after the last line."""
        starts = self.source.line_bytes
        if not 0 < number <= len(starts):
            return b""
        end = starts[number] if number < len(starts) else len(self.source.data)
        return self.source.data[starts[number - 1] : end].strip()

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
