"""Legal text in comments: copyright notices and licences, which say nothing about what the code does.

In: the text of a comment. Out: whether it states rights, and the text without the paragraphs that do.
"""

from __future__ import annotations

import re
from itertools import takewhile

_BLANK = re.compile(r"\n[ \t]*\n")
# Words that any copyright notice or licence has, and some other comments
_RIGHTS = re.compile(
    r"copyright|\(c\)\s*\d{4}|©|licen[cs]ed? |spdx-|all rights reserved|redistribution and use|permission is hereby|"
    r"without warranty|see the license|license file|public domain|"
    r"/licen[cs]e\b|licen[cs]e\.(?:md|txt|html)",
    re.I,
)
# Every match of `_RIGHTS` in plain ASCII contains one of these.
_RIGHTS_WORDS = (
    "copyright", "(c)", "licen", "spdx-", "rights reserved", "redistribution", "permission", "warranty",
    "public domain",
)  # fmt: skip
_MENTIONS_RIGHTS = re.compile(r"licen[cs]|copyright|warrant", re.I)
_LOWER_WORD = re.compile(r"(?<![\w@./<-])[a-z][a-z']+(?![\w@]|[./]\w)")
# The beginning of a line that is a notice by itself
_LEGAL_LINE = re.compile(
    r"\W*(?:copyright\b|\(c\)\s|©|spdx-|all rights reserved|licen[cs]ed? (?:under|to)\b|"
    r"(?:licen[cs]e|copying|authors?)\s*:|"
    r"this (?:source code|file|software|program|code) is (?:licen[cs]ed|distributed|free software|part of)|"
    r"(?:modifications?|portions)(?: of this (?:file|code|software))? (?:copyright|are)|see (?:the )?licen[cs]e)",
    re.I,
)
# Phrases that only occur in notices and licences
_LEGAL = re.compile(
    r"copyright\s+(?:\(c\)|©|\d{4}|holder|owner|notice)|\(c\)\s*\d{4}|©\s*\d{4}|all rights reserved|licen[cs]ed under|"
    r"permission is hereby|permission to use|redistributions? (?:and|of|in)|without (?:any )?warrant|"
    r"warranties or conditions|"
    r"provided [\"'“`]*as[- ]is|required by applicable law|may not use this file|obtain a copy of|see the licen[cs]e|"
    r"licen[cs]e file (?:in|for)|licen[cs]e that can be found|general public licen[cs]e|free software|merchantability|"
    r"spdx-licen|apache licen[cs]e|bsd[- ](?:style )?licen[cs]e|mit licen[cs]e|mozilla public|neither the name|"
    r"in no event|the author of this software is|contributed to .{3,60} by|"
    r"following conditions|following disclaimer|root directory of this source tree|public domain|mit-style|"
    r"used freely for any purpose|derived versions of this",
    re.I,
)
_BESIDE_LICENCE = re.compile(  # paragraphs that say no more than the licence around them
    r"(?:(?:you (?:can|may)|please|to)\s+)?contact\s+(?:the\s+)?(?:authors?|maintainers?|us|me)\b.*"
    r"|<?\w+://\S+|[\w.+ -]{2,40}\blicen[cs]e\W*",
    re.I | re.S,
)
_NAMED_TITLE = re.compile(r"\s*\S[\w.+/ ]{1,40}\s(?:--?|–|—|:)\s+\w+(?: +\w+)+")  # `name - What it is`
# The beginning of a line that continues the sentence above it
_CONTINUES = re.compile(r"\W*(?:and|at|by|for|from|in|of|on|or|the|to|under|which|with)\b")

_LEGAL_WORDS = (
    "copyright", "licen", "(c)", "©", "rights reserved", "redistribut", "warrant", "public domain", "spdx",
    "permission",
    "free software", "merchantab", "in no event", "following conditions", "neither the name",
    "author of this software", "contributed to", "used freely", "derived versions",
)  # fmt: skip


def is_legal(words: str) -> bool:
    """True if a comment states rights or a licence rather than what the code does."""
    # Most comments have none of the words; looking for these is several times as fast as the expression.
    if words.isascii() and not any(map(words.lower().__contains__, _RIGHTS_WORDS)):
        return False
    return _RIGHTS.search(words) is not None


def descriptive_paragraphs(header: str) -> str:
    """Return the paragraphs of a file's header that describe it: no legal text, and beside it no names of people."""
    if not is_legal(header):
        return header
    title = _title_above_notice(_BLANK.split(header)[0].split("\n"))
    kept = [words for words in _BLANK.split(without_licence(header)) if not _MENTIONS_RIGHTS.search(words)]
    return "\n\n".join(words for words in kept if words == title or len(_LOWER_WORD.findall(words)) > 2)


def without_licence(doc: str) -> str:
    """Return a comment without the paragraphs that state a copyright or a licence."""
    small = doc.lower()
    if not any(word in small for word in _LEGAL_WORDS):
        return doc
    kept: list[str] = []
    title = ""
    legal = False  # True once a licence was seen: what follows may be more of it
    for paragraph in _BLANK.split(doc):
        phrases = len({match[0].lower() for match in _LEGAL.finditer(paragraph)})
        lines = paragraph.split("\n")
        opens = _LEGAL_LINE.match(paragraph) is not None
        if (opens and phrases) or phrases > 1 or (phrases and (legal or not kept)):
            ours = _without_legal_lines(lines)
            rest = "\n".join(ours).strip("\n")
            legal = True
            if phrases <= 2 and opens and len(ours) < len(lines) and _has_prose(rest):
                kept.append(rest)
            elif not opens and not kept and (title := _title_above_notice(lines)):
                kept.append(title)
        elif opens:
            legal = True
            rest = "\n".join(line for line in lines if not _LEGAL_LINE.match(line))
            kept += [rest] if _has_prose(rest) else []
        elif paragraph.strip() and not (legal and _BESIDE_LICENCE.fullmatch(paragraph.strip())):
            kept.append(paragraph)
    return "\n\n".join(kept) if title or any(map(_has_prose, kept)) else ""


def _title_above_notice(lines: list[str]) -> str:
    """Return what stands above a copyright notice in the same paragraph, `name - title` for example; "" if the notice
    does not begin a line, or what is above it states rights itself or names people."""
    above = list(takewhile(lambda line: not _LEGAL_LINE.match(line), lines))
    title = "\n".join(above)
    if len(above) == len(lines) or _LEGAL.search(title) or re.search(r"@|\b\d{4}\b", title):
        return ""
    return title if len(_LOWER_WORD.findall(title)) > 1 or _NAMED_TITLE.match(title) else ""


def _without_legal_lines(lines: list[str]) -> list[str]:
    """Return the lines of a paragraph without those that state rights, and without what continues their sentence."""
    kept: list[str] = []
    continues = False
    for line in lines:
        is_legal_line = _LEGAL_LINE.match(line) or _LEGAL.search(line)
        if not is_legal_line and not (continues and _CONTINUES.match(line)):
            kept.append(line)
            continues = False
        else:
            continues = not line.rstrip().endswith(".")
    return kept


def _has_prose(text: str) -> bool:
    """True if a text has at least a few words that are not a list of people or addresses."""
    words = [word for word in re.findall(r"(?<![\w@./<])[A-Za-z][a-z']+(?![\w@]|[./]\w)", text) if word.islower()]
    return len(words) >= 2 or (
        len(text.split()) < 8 and any(c.isalpha() for c in text) and not re.search(r"@|\d{4}", text)
    )
