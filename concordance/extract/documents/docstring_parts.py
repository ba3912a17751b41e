"""Splits documentation comments into what they say about each parameter, result, exception and attribute.

In: a docstring or the text of a documentation comment. Out: `DocPart`s in the order of the text. All common
conventions are understood, also several in one text: Google and NumPy sections, reST and Epytext fields, JSDoc,
Javadoc and Doxygen tags. Text that follows none of them gives no parts; nothing is guessed from prose. Names are
without stars, as in `Parameter`. Every pattern here runs in linear time, because a docstring can be a megabyte of
brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import DocPart
from concordance.extract.documents.docstring_fields import (
    NAMELESS,
    ROLE,
    Line,
    closing,
    field_end,
    field_of,
    joined,
    split_names,
    take_field,
)

_SECTIONS = {
    "args": "parameter", "arg": "parameter", "arguments": "parameter", "parameters": "parameter",
    "parameter": "parameter", "params": "parameter", "kwargs": "parameter", "keyword args": "parameter",
    "keyword arguments": "parameter", "keyword parameters": "parameter", "keyword params": "parameter",
    "other parameters": "parameter", "other args": "parameter", "other arguments": "parameter",
    "returns": "returns", "return": "returns", "yields": "yields", "yield": "yields", "raises": "raises",
    "raise": "raises", "exceptions": "raises", "throws": "raises", "attributes": "attribute",
}  # fmt: skip
_NOT_NAMES = frozenset(
    ("Note", "NOTE", "Notes", "Warning", "Warnings", "Example", "Examples", "See", "see", "TODO", "None", "Returns")
)

_POSSIBLE = re.compile(
    r"^[ \t]*+(?:[@\\:]\w|(?:keyword[ ]|other[ ])?(?:arg|kwarg|param|return|yield|rais|throw|exception|attribute)\w*+"
    r"[ \t]*+(?::|$))",
    re.I | re.M,
)
_HEADER = re.compile(rf"({'|'.join(sorted(_SECTIONS, key=len, reverse=True))})[ \t]*+:{{1,2}}(?=\s|$)[ \t]*+", re.I)
_UNDERLINE = re.compile(r"-{3,}|={3,}")
_NAME = r"(?:\\?\*){0,2}[\w$]++(?:[.-][\w$]++)*+(?:\[\])?"
_NAMES = re.compile(rf"{_NAME}(?:(?:\s*+,\s*+(?:and\s++)?|\s++and\s++|\s*+/\s*+){_NAME})*+(?:\s*+,?\s*+\.\.\.)?")
_ITEM_COLON = re.compile(r":(?!:)|[–—]|--?\s")
_OPEN_TYPE = re.compile(rf"(?:[-*]\s+)?`*{_NAME}`*\s*\(")
_BULLET = re.compile(r"[-*+•]\s+(?=[\w*\\`])")
_TYPE_WORDS = re.compile(r"[\w.~|,&*?'\"` :-]++")
_EXCEPTION = re.compile(r"(?:[\w.]++\.)?[A-Z]\w*+(?:Error|Exception|Warning|Interrupt|Iteration|Exit)\b")
_LITERAL = re.compile(r"(?!\.\.\s).*::$|\.\.\s+(?:code|code-block|sourcecode|math|testcode|doctest|graphviz)::")
_ARTICLES = frozenset(("a", "an", "the", "if", "when", "this", "whether", "note", "e.g", "i.e"))


def parts(doc: str) -> tuple[DocPart, ...]:
    """Return what a documentation comment says about parameters, results, exceptions and attributes."""
    if not _POSSIBLE.search(doc):
        return ()
    lines = []
    for raw in doc.expandtabs(4).split("\n"):
        text = raw.strip()
        lines.append(Line(len(raw) - len(raw.lstrip()) if text else -1, text))
    found: list[DocPart] = []
    types: dict[tuple[str, str], str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        underlined = at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].text)
        section = _SECTIONS.get(line.text.lower()) if underlined else None
        if section:
            end = _numpy_end(lines, at + 2, line.indent)
            found += _numpy(section, lines[at + 2 : end])
        elif line.text[:1] in ":@\\" and (field := field_of(line.text)) is not None:
            end = field_end(lines, at)
            take_field(field, line.text, lines[at + 1 : end], found, types)
        elif header := _HEADER.match(line.text):
            end = _google_end(lines, at, bool(line.text[header.end() :]))
            found += _google(_SECTIONS[header[1].lower()], line.text[header.end() :], lines[at + 1 : end])
        else:
            end = _literal_end(lines, at) if _LITERAL.match(line.text) else at + 1
        at = max(at + 1, end)
    return tuple(_typed(found, types))


def _typed(found: list[DocPart], types: dict[tuple[str, str], str]) -> list[DocPart]:
    """Return the parts, completed with the types that separate fields such as `:type x:` give."""
    left = dict(types)
    result = []
    for part in found:
        stated = left.pop((part.section, part.name), "")
        result.append(part._replace(type=part.type or stated))
    return result + [DocPart(section, name, stated, "") for (section, name), stated in left.items()]


def _literal_end(lines: list[Line], at: int) -> int:
    """Return the line after a literal block, whose content is not parsed."""
    end = at + 1
    while end < len(lines) and (lines[end].indent < 0 or lines[end].indent > lines[at].indent):
        end += 1
    return end


# Google style: "Args:" above indented "name (type): text".


def _google_end(lines: list[Line], at: int, inline: bool) -> int:
    """Return the line after a section; if a docstring starts with "Args:", its items can be at its own level."""
    indent = lines[at].indent
    end = first = at + 1
    while first < len(lines) and lines[first].indent < 0:
        first += 1
    flat = first < len(lines) and lines[first].indent == indent and (at == 0 or first == at + 1)
    flat = flat and (inline or _named(lines[first].text) is not None)
    while end < len(lines):
        line = lines[end]
        if line.indent >= 0 and line.indent <= indent:
            starts = _HEADER.match(line.text) or _LITERAL.match(line.text) or field_of(line.text)
            if not flat or line.indent < indent or starts:
                break
        elif line.indent < 0 and flat and end > first:
            break
        end += 1
    return end


def _google(section: str, inline: str, body: list[Line]) -> list[DocPart]:
    body = _trimmed(body)
    if section in NAMELESS:
        text = joined([inline, *body] if inline else list(body))
        stated, text = _typed_text(text)
        return [DocPart(section, "", stated, text)] if stated or text else []
    if inline and section == "raises":
        body = [Line(body[0].indent if body else 0, inline), *body]
    found: list[DocPart] = []
    margin = body[0].indent if body else 0
    items: list[tuple[list[tuple[str, str]], list[str | Line]]] = []
    for line in _rejoined(body, margin):
        item = None
        if 0 <= line.indent <= margin:
            item = _raised(line.text) if section == "raises" else _named(line.text)
        if item is not None:
            items.append((item[0], [item[1]]))
        elif items:
            items[-1][1].append(line)
        elif section == "raises" and line.text:
            items.append(([("", "")], [line]))
    for names, texts in items:
        text = joined(texts)
        found += [DocPart(section, name, stated, text) for name, stated in names]
    return found


def _named(text: str) -> tuple[list[tuple[str, str]], str] | None:
    """Parse `x, y (int, optional): words` into names with their type, and the words.

    Return None if the line does not have this form.
    """
    bullet = _BULLET.match(text)
    text = text[bullet.end() :] if bullet else text
    quote = text[:1] if text[:1] in ("`", "'") else ""
    plain = text.replace(quote, "") if quote else text
    match = _NAMES.match(plain)
    if match is None or match[0] in _NOT_NAMES or match[0][0].isdigit():
        return None
    stated, rest = "", plain[match.end() :].lstrip()
    if rest[:1] in ("(", "["):
        close = closing(rest)
        if close < 0:
            return None
        stated, rest = rest[1:close].strip(), rest[close + 1 :].lstrip()
        if rest.startswith("or (") and (colon := rest.find(":")) > 0:
            stated, rest = f"({stated}) {rest[:colon].strip()}", rest[colon:]
    if not _ITEM_COLON.match(rest):
        return None
    words = text[len(text) - len(rest) :] if not quote else text.partition(rest[0])[2]
    return [(name, stated) for name in split_names(match[0])], words.lstrip(":–—-").strip()


def _rejoined(body: list[Line], margin: int) -> Iterator[Line]:
    """Yield the lines, joining those of a type that spans several lines."""
    at = 0
    while at < len(body):
        line = body[at]
        at += 1
        opening = _OPEN_TYPE.match(line.text) if line.indent == margin else None
        if opening and closing(line.text[opening.end() - 1 :]) < 0:
            for more in range(at, min(at + 8, len(body))):
                text = " ".join(piece.text for piece in body[at - 1 : more + 1])
                if closing(text[opening.end() - 1 :]) > 0:
                    line, at = Line(margin, text), more + 1
                    break
        yield line


def _raised(text: str) -> tuple[list[tuple[str, str]], str] | None:
    """Parse `ValueError: words` into the exception's name and the words."""
    match = ROLE.match(text) or _EXCEPTION.match(text.lstrip("`"))
    if match is not None:
        name = match[1] if match.re is ROLE else match[0]
        rest = text.lstrip("`")[match.end() :].lstrip("`") if match.re is not ROLE else text[match.end() :]
        return [(name, "")], rest.lstrip(":–—-, ").strip()
    name, colon, words = text.partition(":")
    if colon and re.fullmatch(r"[\w.]+(?:(?:,| or| and)\s*[\w.]+)*", name) and not name[:1].isdigit():
        return [(one, "") for one in re.split(r",\s*|\s+or\s+|\s+and\s+", name) if one], words.strip()
    return None


def _typed_text(text: str) -> tuple[str, str]:
    """Split `Type: words` of a result; the type is "" if the text is only words."""
    first = text.partition("\n")[0]
    depth, bare = 0, list[str]()
    for at, sign in enumerate(first):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0 and sign == ":" and first[at + 1 : at + 2] in ("", " ") and first[at - 1 : at] != ":":
            words = "".join(bare).split()
            stated = first[:at].strip()
            if not stated or len(words) > 4 or not _TYPE_WORDS.fullmatch("".join(bare) or "x"):
                return "", text
            if words and words[0].lower() in _ARTICLES:
                return "", text
            if stated[0] == "(" and closing(stated) == len(stated) - 1 and "," not in stated:
                stated = stated[1:-1]
            return stated, text[at + 1 :].strip()
        elif depth == 0:
            bare.append(sign)
            if sign == "." and first[at + 1 : at + 2] == " ":
                break
    return "", text


# NumPy style: an underlined "Parameters" above "name : type" and an indented text.


def _numpy_end(lines: list[Line], at: int, indent: int) -> int:
    while at < len(lines):
        line = lines[at]
        if 0 <= line.indent < indent:
            break
        if line.indent == indent and at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].text):
            break
        if line.indent == indent and (_HEADER.fullmatch(line.text) or line.text.startswith(".. ")):
            break
        at += 1
    return at


def _numpy(section: str, body: list[Line]) -> list[DocPart]:
    body = _trimmed(body)
    margin = min((line.indent for line in body if line.indent >= 0), default=0)
    items: list[tuple[list[tuple[str, str]], list[str | Line]]] = []
    after_blank = True
    for at, line in enumerate(body):
        if line.indent == margin:
            described = any(0 <= nearby.indent != margin for nearby in body[at + 1 : at + 2])
            head = _numpy_head(section, line.text, described)
            if head is not None:
                items.append(head)
            elif items and not after_blank:
                items[-1][1].append(line)
            elif items:
                break
        elif items:
            items[-1][1].append(line)
        after_blank = line.indent < 0
    found = []
    for names, texts in items:
        text = joined(texts)
        found += [DocPart(section, name, stated, text) for name, stated in names]
    return found


def _numpy_head(section: str, text: str, described: bool) -> tuple[list[tuple[str, str]], list[str | Line]] | None:
    if section == "raises":
        item = _raised(text)
        if item is None:
            return ([(text, "")], []) if re.fullmatch(r"[\w.]+", text) else None
        return item[0], [item[1]]
    item = _named(text) if section not in NAMELESS and ":" in text else None
    if item is not None and item[0][0][1]:
        return item[0], [item[1]]
    plain = text.replace("`", "").replace("'", "") if text[0] in "`'" else text
    name, colon, stated = plain.partition(" :" if " :" in plain else ":")
    match = _NAMES.fullmatch(name.strip())
    if section in NAMELESS:
        if colon and match and " :" in plain:
            return [(one, stated.strip()) for one in split_names(match[0])], []
        if described or (len(text.split()) < 4 and not text.endswith(".")):
            return [("", text)], []
        return [("", "")], [text]
    if match is None or match[0] in _NOT_NAMES or (colon and not plain.partition(":")[2] and not described):
        return None
    return [(one, stated.strip()) for one in split_names(match[0])], []


def _trimmed(body: list[Line]) -> list[Line]:
    first, last = 0, len(body)
    while first < last and body[first].indent < 0:
        first += 1
    while first < last and body[last - 1].indent < 0:
        last -= 1
    return body[first:last]
