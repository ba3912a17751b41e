"""Docstrings: the clean text of a literal, and the first sentence of a documentation comment.

In: the source of a string literal, or the text of a documentation comment. Out: text. `clean_docstring` gives the
same result as `inspect.cleandoc`, but does not use Python's own parser to evaluate the literal: that one warns about
unknown escapes and takes longer than everything else in reading the file.
"""

from __future__ import annotations

import re
import unicodedata

_PREFIX = re.compile(r"\s*([A-Za-z]{0,2})('''|\"\"\"|'|\")")
# An escape sequence in a Python string
_ESCAPE = re.compile(
    r"\\(?:(\n)|([\\'\"abfnrtv])|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^}\n]{1,100})\})"
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*+\(")
_BEHIND_SIGNATURE = re.compile(r"\A\s*[A-Za-z_][\w.]*+\([^()\n]*+\)[^\n]*?(?:\s--|\.)\s+(\w[^\n]*)")
_BRACKET = re.compile(r"[()\[\]]")
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")
_FENCES = ("```", "~~~")
_BLANK = re.compile(r"\n[ \t]*+\n")
_BRIEF = re.compile(r"[@\\](?:brief|short|summary|desc|description|details?)\b:?\s*", re.I)
# The beginning of a line that is a field or a directive, not prose
_NO_PROSE = re.compile(
    r"[@\\](?!(?:c|p|a|e|b|em|ref|link|code)\b)\w|:(?:param|type|returns?|rtype|raises?|arg|ivar|var)\b|\.\.\s|>>>|```|"
    r"(?:args|arguments|parameters|returns?|raises|yields|attributes|examples?|keyword arg\w*)\s*:{1,2}\s*$",
    re.I,
)
_SENTENCE_END = re.compile(r"`|[.!?][\"')\]]*(?=\s|$)|[。！？]")
WORD_BEFORE = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]+$")
_ABBREVIATIONS = frozenset(
    ("e.g", "eg", "i.e", "ie", "cf", "vs", "resp", "approx", "fig", "figs", "eq", "sec", "dr", "mr", "vol", "pp")
)
_SOMETIMES_LAST = frozenset(("etc", "inc", "ltd", "corp", "al", "no"))


def opens_fence(line: str, above: str) -> bool:
    """True if a stripped line opens a block of code, rather than underline the title in the line above it."""
    underlines = above and len(line) > 3 and len(line) >= len(above.strip()) - 1 and UNDERLINE.fullmatch(line)
    return line.startswith(_FENCES) and not underlines


def clean_docstring(raw_literal: str) -> str:
    """Return a literal's text without common indentation, equal to `inspect.cleandoc(ast.literal_eval(…))`."""
    match = _PREFIX.match(raw_literal)
    if match is None:
        return _dedented(raw_literal)
    quotes = match[2]
    body = raw_literal.rstrip()[match.end() :].removesuffix(quotes)
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in body and "r" not in match[1].lower():
        body = _ESCAPE.sub(_unescaped, body)
    return _dedented(body)


def _unescaped(match: re.Match[str]) -> str:
    end_of_line, simple, octal, *codes, name = match.groups()
    if end_of_line:
        return ""
    if simple:
        return _SIMPLE.get(simple, simple)
    try:
        if octal:
            return chr(int(octal, 8))
        return unicodedata.lookup(name) if name is not None else chr(int(next(filter(None, codes)), 16))
    except (KeyError, ValueError, OverflowError):
        return match[0]


def _dedented(text: str) -> str:
    lines = text.expandtabs().split("\n")
    bare = [line.lstrip() for line in lines]
    margin = min((len(line) - len(rest) for line, rest in zip(lines[1:], bare[1:], strict=True) if rest), default=0)
    lines = bare[:1] + [line[margin:] for line in lines[1:]]
    first, last = 0, len(lines)
    while last > first and not lines[last - 1]:
        last -= 1
    while first < last and not lines[first]:
        first += 1
    return "\n".join(lines[first:last])


def summary(doc: str) -> str:
    """Return the first sentence on one line; "" if a comment contains only signatures, fields or code."""
    title = ""
    for paragraph in _BLANK.split(doc):
        lines = [line.strip() for line in paragraph.strip().split("\n")]
        if len(lines) > 1 and UNDERLINE.fullmatch(lines[1]):
            title, lines = title or lines[0], lines[2:]
        while lines and (UNDERLINE.fullmatch(lines[0]) or not lines[0]):
            lines = lines[1:]
        if lines and lines[0].startswith("# "):
            title, lines = title or lines[0].strip("# "), lines[1:]
        lines = _without_signature(lines)
        if not lines:
            continue
        lines[0] = _BRIEF.sub("", lines[0], count=1) if lines[0][:1] in "@\\" else lines[0]
        kept = []
        for line in lines:
            if _NO_PROSE.match(line):
                break
            kept.append(line)
        if kept:
            return _first_sentence(" ".join(" ".join(kept).split()))
        if title:
            break
    behind = _BEHIND_SIGNATURE.search(doc) if not title else None
    return title or (_first_sentence(behind[1]) if behind else "")


def _without_signature(lines: list[str]) -> list[str]:
    """Return a paragraph's lines after the signatures that docstrings of built-in functions start with."""
    kept, depth = 0, 0
    for place, line in enumerate(lines):
        if depth == 0 and not _SIGNATURE.match(line):
            break
        close = 0
        for bracket in _BRACKET.finditer(line):
            depth += 1 if bracket[0] in "([" else -1
            if depth == 0:
                close = bracket.end()
                break
        rest = line[close:].strip()
        if depth == 0:
            if rest.rstrip(":") and not rest.startswith("->"):
                break
            kept = place + 1
    return lines[kept:]


def _first_sentence(text: str) -> str:
    quoted = False
    for match in _SENTENCE_END.finditer(text):
        if match[0] == "`":
            quoted = not quoted
            continue
        if quoted:
            continue
        rest = text[match.end() : match.end() + 2].lstrip()
        if match[0][0] == "." and rest:
            follows_word = text[match.start() - 1 : match.start()].isalpha()
            before = WORD_BEFORE.search(text, max(0, match.start() - 40), match.start()) if follows_word else None
            word = before[0].lower() if before else ""
            if word in _ABBREVIATIONS or (len(word) == 1 and before and before[0].isupper()):
                continue
            if word in _SOMETIMES_LAST and not rest[0].isupper():
                continue
        return text[: match.end()]
    return text
