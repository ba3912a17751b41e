"""Finds the links and link targets on a Markdown page, the way a forge does.

In: a page's Markdown. Out: its links with their lines, the anchors of its sections and definitions, and references that
are not defined on the page. Anything inside a fence or inline code is not a link. A full Markdown parser would take
minutes for a large book, so this module reads only what links need; a test compares it with a parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import NamedTuple

from concordance.render.addresses import slug


class PageLinks(NamedTuple):
    """The links and anchors of a page."""

    links: list[tuple[int, str]]  # line and target
    anchors: list[str]  # the anchors that links can point to
    undefined: list[tuple[int, str]]  # references that the page does not define


class _Found(NamedTuple):
    links: list[tuple[int, str]]
    named: list[tuple[int, str, bool]]  # line, label, whether it can only be a link
    anchors: list[str]


_FENCE = re.compile(r"([ >]*(?:(?:[-+*]|\d{1,9}[.)]) +)*)(`{3,}|~{3,})(.*)$", re.S)
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
_ITEM = re.compile(r"( *)(?:[-+*]|\d{1,9}[.)])( +|$)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*?)(?<![ \t]))?(?:[ \t]++#++)?[ \t]*+$")
_DEFINITION = re.compile(r" {0,3}\[((?:[^\[\]\\]|\\.)+)\]:[ \t]*(<[^<>\n]*>|[^\s<]\S*)[ \t]*$")
_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`+|!?\[|\]|<a id=\"[^\"\n]*\"[^<>\n]*>|<[A-Za-z/][^<>\n]*>")
_ADDRESS = re.compile(
    r"\(\s*+(<[^<>\n]*>|(?:[^\s()<\\]|\\.)(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)?"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]")
_CELLS = re.compile(r"(?<!\\)\|")
_BREAKS = re.compile(r" {0,3}(?:#{1,6}(?:[ \t]|$)|[-+*] |1[.)] |\||`{3}|~{3}|(?:[-*_] *){3,}$|=+ *$)")
_TAG = re.compile(r"<[A-Za-z/][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_LINKED = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"(?<!\\)(?:\*{1,2}|~~)")
_AS_IS = re.compile(r"[\w \-.,:/()+#=&]*")


def scan(text: str) -> PageLinks:
    """Return the links and anchors of a page."""
    lines = text.split("\n")
    links = _Found([], [], [])
    definitions: dict[str, str] = {}
    slugs: dict[str, int] = {}
    number, total = 0, len(lines)
    while number < total:
        line = lines[number]
        if "```" in line or "~~~" in line:
            behind = _after_fence(lines, number)
            if behind:
                number = behind
                continue
        if line.startswith("#") and (heading := _HEADING.match(line)):
            links.anchors.append(_numbered(slug(strip_markup(heading[2] or "")), slugs))
        if line.startswith("[") and (definition := _DEFINITION.match(line)) and _may_define(lines, number):
            definitions.setdefault(_alike(definition[1]), definition[2].strip("<>"))
            number += 1
            continue
        number += _read(lines, number, links) if "[" in line or "<a id=" in line else 1
    undefined = []
    for at, label, sure in links.named:
        target = definitions.get(label) or definitions.get(_alike(label))
        if target is not None:
            links.links.append((at, target))
        elif sure:
            undefined.append((at, label))
    return PageLinks(links.links, links.anchors, undefined)


def unescape_target(link: str) -> str:
    """Return the target of a link without Markdown escapes and entities."""
    return unescape(_ESCAPE.sub(r"\1", link)) if "\\" in link or "&" in link else link


def _alike(label: str) -> str:
    return " ".join(label.split()).casefold()


def _numbered(name: str, seen: dict[str, int]) -> str:
    """Return a heading's id; a number is added if the id is already taken."""
    count = seen.get(name)
    if count is None:
        seen[name] = 0
        return name
    seen[name] = count + 1
    return _numbered(f"{name}-{count + 1}", seen)


def _may_define(lines: Sequence[str], number: int) -> bool:
    """True if a line may define a reference, which it may not in the middle of a paragraph."""
    above = lines[number - 1] if number else ""
    return not above.strip() or _DEFINITION.match(above) is not None


# --- fences


def _after_fence(lines: Sequence[str], number: int) -> int:
    """Return the line after a fence that begins on a line; 0 if none does."""
    opening = _FENCE.match(lines[number])
    if opening is None or (opening[2][0] == "`" and "`" in opening[3]):
        return 0
    quotes, inner = _unquoted(opening[1])
    if inner.strip():  # it begins on the first line of a list item
        inside = len(inner)
    else:
        inside = _inside(lines, number, quotes, len(inner)) if inner else 0
        if len(inner) - inside > 3:
            return 0
    fence, at = opening[2], number + 1
    while at < len(lines):
        line = lines[at]
        if quotes or inside:
            deep, line = _unquoted(line, quotes)
            if deep < quotes or (line.strip() and len(line) - len(line.lstrip(" ")) < inside):
                return at
            line = line[inside:]
        if fence in line and (closing := _CLOSING.match(line)) and closing[1].startswith(fence):
            return at + 1
        at += 1
    return at


def _unquoted(line: str, most: int = 100) -> tuple[int, str]:
    """Return how many block quotes a line is in, and the line without their marks."""
    deep = 0
    while deep < most:
        rest = line.lstrip(" ")
        if not rest.startswith(">"):  # the mark may be indented far, inside a list item
            break
        line = rest[2:] if rest.startswith("> ") else rest[1:]
        deep += 1
    return deep, line


def _inside(lines: Sequence[str], number: int, quotes: int, indent: int) -> int:
    """Return the column at which the text of the list item around a line begins; 0 outside a list."""
    for at in range(number - 1, -1, -1):
        deep, line = _unquoted(lines[at], quotes)
        if deep < quotes:
            return 0
        if not line.strip():
            continue
        item = _ITEM.match(line)
        if item is not None and len(item[0]) <= indent and line.strip():
            return item.end()
        if item is None and not line.startswith(" "):
            return 0
    return 0


# --- text


def _read(lines: Sequence[str], number: int, links: _Found) -> int:
    """Read the links of a line and of the lines that continue it; return how many lines that took."""
    quotes, line = _unquoted(lines[number])
    if line.startswith("    ") and _is_code(lines, number, quotes, line):
        return 1
    if line.lstrip(" ").startswith("|"):
        for cell in _CELLS.split(line):
            if "[" in cell or "<a id=" in cell:
                _tokens(cell, number + 1, links)
        return 1
    if _HEADING.match(line):
        _tokens(line, number + 1, links)
        return 1
    taken, text = 1, line
    sizes = len(links.links), len(links.named), len(links.anchors)
    while not _tokens(text, number + 1, links) and number + taken < len(lines):
        deep, further = _unquoted(lines[number + taken])
        if not further.strip() or _BREAKS.match(further) or _ITEM.match(further) or deep > quotes:
            break
        text, taken = f"{text}\n{further}", taken + 1
        del links.links[sizes[0] :], links.named[sizes[1] :], links.anchors[sizes[2] :]
    return taken


def _is_code(lines: Sequence[str], number: int, quotes: int, line: str) -> bool:
    """True if a line is an indented code block."""
    indent = len(line) - len(line.lstrip(" "))
    if indent - _inside(lines, number, quotes, indent) < 4 or _ITEM.match(line.lstrip(" ")) is not None:
        return False
    at = number - 1
    while at >= 0 and _unquoted(lines[at])[1].startswith("    "):
        at -= 1
    return at < 0 or not _unquoted(lines[at])[1].strip()


def _tokens(text: str, line: int, links: _Found) -> bool:
    """Read the links of a text; False if it ends in the middle of a link or of inline code."""
    open_: list[int] = []
    whole, at = True, 0
    while token := _TOKEN.search(text, at):
        sign, at = token[0], token.end()
        if sign[0] == "\\":
            continue
        if sign[0] == "`":
            end = _span_end(text, at, len(sign))
            whole, at = (whole, end) if end else (False, at)
        elif sign[-1] == "[":
            open_.append(token.start() if sign == "[" else -1)
        elif sign == "]" and open_:
            begin = open_.pop()
            here = line + text.count("\n", 0, token.start())
            at, linked = _close_bracket(text, begin, at, here, links)
            if linked and begin >= 0:  # links do not nest
                open_ = [place for place in open_ if place < 0]
        elif sign.startswith('<a id="'):
            links.anchors.append(unescape(sign.split('"', 2)[1]))
    return whole and not open_


def _span_end(text: str, at: int, length: int) -> int:
    """Return where inline code that begins with `length` backticks ends; 0 if it does not end."""
    ticks = "`" * length
    while (end := text.find(ticks, at)) >= 0:
        behind = end + length
        if text[behind : behind + 1] != "`":
            return behind
        while text[behind : behind + 1] == "`":
            behind += 1
        at = behind
    return 0


def _close_bracket(text: str, begin: int, at: int, line: int, links: _Found) -> tuple[int, bool]:
    """Read what follows a closing bracket: an address, a label, or neither. Return the end and whether it is a link."""
    behind = text[at : at + 1]
    if behind == "(" and (target := _ADDRESS.match(text, at)):
        links.links.append((line, (target[1] or "").strip("<>")))
        return target.end(), True
    label = text[begin + 1 : at - 1]
    if behind == "[" and (named := _LABEL.match(text, at)):
        links.named.append((line, named[1] or label, True))
        return named.end(), True
    links.named.append((line, label, False))
    return at, False


def strip_markup(title: str) -> str:
    """Return a text without its markup."""
    if _AS_IS.fullmatch(title):
        return title
    code: list[str] = []

    def kept(span: re.Match[str]) -> str:
        code_text = span[2]
        code.append(code_text[1:-1] if code_text[:1] == code_text[-1:] == " " and code_text.strip() else code_text)
        return "\0"

    text = _LINKED.sub(r"\1", _TAG.sub("", _SPAN.sub(kept, title.replace("\0", ""))))
    text = unescape(_ESCAPE.sub(r"\1", _MARKS.sub("", text)))
    for code_text in code:
        text = text.replace("\0", code_text, 1)
    return text.strip()
