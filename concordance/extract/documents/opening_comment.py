"""Finds the comment that describes a file in a programming language that has no reader.

In: the text of a file and its language. Out: the words of a comment. It is the first that describes something at the
top of the file, before any code but package and import lines; else the documentation of the first type, as most such
languages have one type per file; else the only documentation comment of the file. Other comments may be about anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

_LINES = 400  # lines that are searched


class _Style(NamedTuple):
    """How a language writes comments."""

    line: str = ""  # a regular expression for what begins a line comment
    opens: str = ""  # for what opens and closes a block comment
    closes: str = ""
    documents: str = ""  # for what begins a documentation comment
    is_titled: bool = False  # documentation begins with a title, which at the top of a file is that of the file


_C = _Style(r"//[/!]?", r"/\*[*!]?", r"\*+/", r"/\*[*!](?!/)|//[/!]")
_HASH = _Style(r"#+'?(?!!)", documents=r"#'")
_DASH = _Style(r"--+[ ]?\|?", r"\{-(?!#)[ ]?\|?", r"-\}", r"--+[ ]?\||\{-[ ]?\|")
_STYLES = MappingProxyType(
    {
        **dict.fromkeys(("csharp", "dart", "groovy", "hack", "kotlin", "php", "scala", "solidity", "swift", "zig"), _C),
        **dict.fromkeys(("crystal", "elixir", "julia", "nim", "perl", "ruby", "tcl"), _HASH),
        "r": _HASH._replace(is_titled=True),
        **dict.fromkeys(("ada", "elm", "haskell", "purescript"), _DASH),
        "lua": _Style(r"--+", r"--\[=*\[", r"\]=*\]", r"---"),
    }
)
LANGUAGES = frozenset(_STYLES)
_BEFORE_CODE = re.compile(  # lines that may be above the comment that describes a file
    r"\s*(?:<\?php\b|#!|(?:package|namespace|using|use|import|open|require|library|declare|module|pragma)\b|@file:)"
)
_TYPE = re.compile(
    r"\s*(?:(?:abstract|final|open|public|internal|sealed|data|readonly|static|partial|case|export)\s+)*"
    r"(?:class|interface|trait|enum|struct|object|protocol|actor|record|defmodule|contract|mixin|extension type)\s+\w"
)
_ATTRIBUTE = re.compile(r"\s*(?:@|#\[|\[)")
_FIELD = re.compile(r"\s*(?:Module|Copyright|License|Maintainer|Stability|Portability|Author)\s*:")
_LEGAL = re.compile(r"\bcopyright\b|\(c\) |\blicen[cs]ed?\b|\ball rights reserved\b", re.I)
_WORDS = re.compile(r"\w+\W+\w+\W+\w+")


class _Comment(NamedTuple):
    """A comment that begins at the start of a line."""

    words: str
    documents: bool
    is_first: bool  # True if no code is above it
    before: str  # the line of code that follows


def opening_comment(text: str, language: str) -> str:
    """Return the words of the comment that describes a file; "" if there is none."""
    comments = [
        comment for comment in _comments(text.split("\n")[:_LINES], _STYLES[language]) if _WORDS.search(comment.words)
    ]
    documented = [comment for comment in comments if comment.documents]
    first = (comment for comment in comments if comment.is_first)
    types = (comment for comment in documented if _TYPE.match(comment.before))
    alone = documented if len(documented) == 1 else []
    return next((comment.words for group in (first, types, alone) for comment in group), "")


def _comments(lines: list[str], style: _Style) -> Iterator[_Comment]:
    """Yield the comments that begin at the start of a line, without their markers."""
    number, is_first = 0, True
    while number < len(lines):
        line = lines[number].rstrip("\r")
        start = number
        if line.startswith("{-#"):  # a pragma of Haskell, of several lines
            while number < len(lines) and "#-}" not in lines[number]:
                number += 1
            number += 1
            continue
        if style.opens and re.match(style.opens, line):
            while number < len(lines) and not re.search(style.closes, lines[number]):
                number += 1
        elif style.line and re.match(style.line, line):
            while number + 1 < len(lines) and re.match(style.line, lines[number + 1]):
                number += 1
        else:
            is_first = is_first and (not line.strip() or _BEFORE_CODE.match(line) is not None)
            number += 1
            continue
        number += 1
        block = lines[start:number]
        documents = bool(style.documents and re.match(style.documents, line))
        rest = (following for following in lines[number:] if following.strip() and not _ATTRIBUTE.match(following))
        alone = is_first and ((documents and style.is_titled) or _stands_alone(lines, number))
        yield _Comment(_words(block, style), documents, alone, next(rest, ""))


def _stands_alone(lines: list[str], behind: int) -> bool:
    """True if a comment is not attached to what follows it: an empty line is between them, or only imports follow."""
    follows = lines[behind].strip() if behind < len(lines) else ""
    return not follows or _BEFORE_CODE.match(follows) is not None or _TYPE.match(follows) is not None


def _words(block: list[str], style: _Style) -> str:
    """Return the words of a comment; "" if it states a copyright or a licence."""
    lines = []
    for line in block:
        bare = re.sub(rf"\A(?:{style.opens})", "", line) if style.opens else line
        bare = re.sub(rf"(?:{style.closes})\s*\Z", "", bare) if style.closes else bare
        bare = re.sub(rf"\A(?:{style.line})", "", bare) if style.line and bare == line else bare
        bare = re.sub(r"\A\s*\*+ ?", "", bare) if style.opens.startswith("/") else bare
        lines.append("" if _FIELD.match(bare) else bare.strip())
    words = "\n".join(lines).strip()
    return "" if _LEGAL.search(words) else words
