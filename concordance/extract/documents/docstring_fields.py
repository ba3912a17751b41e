"""Fields and tags of documentation comments: `:param x: text`, `@param x text`, `\\param[in] x text`.

In: the lines of a comment. Out: `DocPart`s, and the types that separate fields give (`:type x: int`). Also contains
what all docstring conventions share: matching brackets, lists of names, and joining the lines of a description.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.base.model import DocPart

_FIELDS = {
    "param": "parameter", "parameter": "parameter", "arg": "parameter", "argument": "parameter", "key": "parameter",
    "keyword": "parameter", "kwarg": "parameter", "tparam": "parameter", "template": "parameter",
    "typeparam": "parameter", "return": "returns", "returns": "returns", "result": "returns", "retval": "returns",
    "yield": "yields", "yields": "yields", "raise": "raises", "raises": "raises", "except": "raises",
    "exception": "raises", "throw": "raises", "throws": "raises", "var": "attribute", "ivar": "attribute",
    "cvar": "attribute", "property": "attribute", "prop": "attribute", "type": "type", "rtype": "type",
    "vartype": "type", "kwtype": "type",
}  # fmt: skip
NAMELESS = frozenset(("returns", "yields"))
_FIELD = re.compile(r":(\w++)(?:[ \t]++(.*?))?:(?=\s|$)|[@\\](\w++)(?:\[[\w, ]*+\])?:?(?=\s|$|\{)")
ROLE = re.compile(r":[\w:]{1,60}:`[~!.]?([^`<>]*[^`<>\s])\s*+(?:<[^`<>]*>)?`")
_DASH = re.compile(r"(?<!\s)\s*+(?:--?|–|—|:)\s++")
_OWN_LINE = re.compile(r"(?:[-*+•]|\d+[.)]|>>>|\.\.|\|)(?:\s|$)")
_NAME_SEPARATOR = re.compile(r"(?<!\s)\s*+,\s*+(?:and\s)?|(?<!\s)\s++and\s++|/")
_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Line(NamedTuple):
    """A line of a comment, with its indentation counted and removed."""

    indent: int  # -1 for a blank line
    text: str


def field_of(text: str) -> re.Match[str] | None:
    """Return the match of the field or tag that a line starts with, if it is one that we know."""
    match = _FIELD.match(text)
    if match is None or (match[1] or match[3]).lower() not in _FIELDS:
        return None
    return match


def field_end(lines: list[Line], at: int) -> int:
    """Return the line after a field.

    A reST field continues while lines are indented; a tag continues until a blank line or the next tag.
    """
    indent, tag = lines[at].indent, lines[at].text[0] != ":"
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if line.indent > indent:
            pass
        elif line.indent < 0:
            following = next((n.indent for n in lines[end + 1 : end + 3] if n.indent >= 0), -1)
            if following <= indent:
                break
        elif not tag or line.text[0] in "@\\:":
            break
        end += 1
    return end


def take_field(
    field: re.Match[str], line: str, body: list[Line], found: list[DocPart], types: dict[tuple[str, str], str]
) -> None:
    """Add what a field says to the parts found, or to the separately stated types."""
    tag = (field[1] or field[3]).lower()
    section = _FIELDS[tag]
    rest = line[field.end() :].strip()
    name, stated = "", ""
    if field[1]:
        words = ROLE.sub(r"\1", field[2] or "").rsplit(None, 1)
        name, stated = (words[-1], words[0] if len(words) > 1 else "") if words else ("", "")
    else:
        if rest.startswith("{") and (close := closing(rest)) > 0:
            stated, rest = rest[1:close].strip(), rest[close + 1 :].strip()
        if section == "raises" and stated:
            name, stated = stated, ""
        elif (section not in NAMELESS or tag == "retval") and tag != "rtype":
            name, rest = _tag_name(rest)
    text = joined([_DASH.sub("", rest, count=1) if _DASH.match(rest) else rest, *body])
    if section == "type":
        owner = ("returns", "") if tag == "rtype" else ("attribute" if tag == "vartype" else "parameter", name)
        if text and (name or tag == "rtype"):
            known = {part.name: part.section for part in found}
            types[known.get(name, owner[0]) if name else owner[0], owner[1]] = text
    elif section in NAMELESS:
        found.append(DocPart(section, name if tag == "retval" else "", stated, text))
    elif section == "raises":
        bare = ROLE.sub(r"\1", field[2] or "" if field[1] else name).replace("`", "")
        found.extend(DocPart(section, one, "", text) for one in re.split(r",\s*|\s+or\s+", bare.strip()))
    elif name:
        found.extend(DocPart(section, one, stated, text) for one in split_names(name.rstrip(",:")))


def _tag_name(rest: str) -> tuple[str, str]:
    """Return the name after a tag, and the words after the name: `x`, `[x=1]`, `<T>`, `x,y`, `x:`."""
    if rest.startswith("[") and (close := closing(rest)) > 0:
        return rest[1:close].partition("=")[0].strip(), rest[close + 1 :].strip()
    name, _, words = rest.partition(" ")
    return name.rstrip(":").strip("`"), _DASH.sub("", f" {words}", count=1).strip() if words else ""


def closing(text: str) -> int:
    """Return the index at which the bracket that starts a text is closed, -1 if it is not."""
    first, last = text[0], _OPEN[text[0]]
    depth = 0
    for match in re.finditer(rf"[{re.escape(first + last)}]", text):
        depth += 1 if match[0] == first else -1
        if depth == 0:
            return match.start()
    return -1


def split_names(names: str) -> list[str]:
    """Split `x, *y and z` into names without stars."""
    split = [name.strip("\\* ") for name in _NAME_SEPARATOR.split(names)]
    return [name for name in split if name.strip(".")]


def joined(pieces: list[str | Line]) -> str:
    """Join a description's lines into one text; lines of lists and code keep their line breaks."""
    margin = min((p.indent for p in pieces if isinstance(p, Line) and p.indent >= 0), default=0)
    text: list[str] = []
    flowing = False
    for piece in pieces:
        line = Line(margin, piece.strip()) if isinstance(piece, str) else piece
        if not line.text:
            if text and text[-1] != "\n\n":
                text.append("\n\n")
            flowing = False
            continue
        own = line.indent > margin or _OWN_LINE.match(line.text) is not None
        if text and text[-1] != "\n\n":
            text.append(" " if flowing and not own else "\n")
        text.append(" " * (line.indent - margin) + line.text)
        flowing = not own
    return "".join(text).strip()
