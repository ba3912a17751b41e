"""The common shapes of an author's Markdown as HTML without a parser: paragraphs, short lists, fences.

In: Markdown, in which a NUL stands for each of our links, and those links as HTML. Out: the same HTML that the parser's
reading gives, or None where the text has anything that this module does not know for certain: then the parser reads it.
Most documentation comments are a few plain sentences, and a page has hundreds of them: the parser would take longer
than everything else that the page needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from concordance.render.code_blocks import code

_BEGINS = re.compile(  # a line that can begin nothing but words
    r"(?:[^\W\d_]|[(\"'.,;/@$%?{}]|\0|`(?!`)|\*\*(?=[A-Za-z0-9])|\\(?=[!-/:-@\[-`{-~])|\d+(?![\d.)]))(?s:.)*"
)
_SPECIAL = re.compile(
    r"\$`(?P<math>[^`\n\0]+)`\$(?!`)|`(?P<code>[^`\n\0]+)`(?!`)"
    r"|(?:(?<=[\s(])|^)\*\*(?P<strong>[A-Za-z0-9](?:(?:[\w ./:,()-]|\\_)*(?:[\w:]|\\_))?)\*\*(?=[\s:,.)]|$)"
    r"|\\(?P<escaped>[!-#%-/:-@\[-`{-~])|(?P<link>\0)|(?P<end>\n)|(?P<other>[\\`*_<&~])",
    re.A,
)
_FENCE = re.compile(r"(`{3,})([\w+#.-]{0,40})", re.A)
_WORD = re.compile(r"[A-Za-z0-9]")
_ENTITY = re.compile(r"&#?\w")


class _UnsureError(Exception):
    """The parser has to read it."""


def plain_html(text: str, links: Sequence[str]) -> str | None:
    """The HTML of plain words, or None."""
    if "](" in text:
        return None
    left = iter(links)
    try:
        return "".join(_block(lines, left) for lines in _blocks(text.split("\n")))
    except _UnsureError:
        return None


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines that stand together; a fence with all its lines. What follows a list must be no part of it."""
    found: list[str] = []
    fence, listed = "", False
    for line in lines:
        if fence:
            if line.startswith("```") and line.rstrip(" ").strip("`") == "" and len(line.rstrip(" ")) >= len(fence):
                yield found
                found, fence = [], ""
            else:
                found.append(line)
        elif not line.strip(" \t"):
            if found:
                listed = found[0].startswith("- ")
                yield found
            found = []
        elif line.startswith("```") and not found:
            opened = _FENCE.fullmatch(line)
            if opened is None:
                raise _UnsureError
            fence, found, listed = opened[1], [line], False
        else:
            if not found and listed and line[0] in " \t-":
                raise _UnsureError
            found.append(line)
    if fence:
        raise _UnsureError
    if found:
        yield found


def _block(lines: list[str], links: Iterator[str]) -> str:
    first = lines[0]
    if first.startswith("```"):
        text = "".join(f"{line}\n" for line in lines[1:])
        if "\0" in text:
            raise _UnsureError
        return code(text, first.strip("`"))
    if not first.startswith("- "):
        return f"<p>{_words(lines, links)}</p>\n"
    items: list[list[str]] = []
    for line in lines:
        if line.startswith("- "):
            items.append([line[2:]])
        elif line.startswith("  "):
            items[-1].append(line[2:])
        else:
            raise _UnsureError
    return f"<ul>{''.join(f'<li>{_words(item, links)}</li>{chr(10)}' for item in items)}</ul>\n"


def _words(lines: list[str], links: Iterator[str]) -> str:
    for line in lines:
        if _BEGINS.fullmatch(line) is None or line[-1] == "\\" or line[-1].isspace():
            raise _UnsureError
    return _inline("\n".join(lines), links)


def _inline(text: str, links: Iterator[str]) -> str:
    out: list[str] = []
    place = 0
    for found in _SPECIAL.finditer(text):
        out.append(escape(text[place : found.start()], False))
        place = found.end()
        kind = found.lastgroup
        if kind == "other":
            if not _is_harmless(text, found.start()):
                raise _UnsureError
            out.append(escape(found[0], False))
        elif kind == "link":
            out.append(next(links))
        elif kind == "end":
            out.append("\n")
        elif kind == "escaped":
            out.append(escape(found["escaped"], False))
        elif kind == "strong":
            out.append(f"<strong>{_inline(found['strong'], links)}</strong>")
        else:
            out.append(_code(found["code"] or found["math"], kind == "math"))
    out.append(escape(text[place:], False))
    return "".join(out)


def _code(text: str, math: bool) -> str:
    if text[0] == text[-1] == " " and text.strip(" "):
        text = text[1:-1]
    return f"<code{' class=' + chr(34) + 'math' + chr(34) if math else ''}>{escape(text, False)}</code>"


def _is_harmless(text: str, place: int) -> bool:
    """Whether a sign that can be markup is none here."""
    sign, before, behind = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if sign == "_":
        return bool(_WORD.match(before) and (_WORD.match(behind) or behind == "_")) or (
            before == "_" and bool(_WORD.match(behind))
        )
    if sign == "*":
        return before in ("", " ", "\n") and behind == " "
    if sign == "<":
        return behind in (" ", "=", "<", "-") or behind.isdigit()
    if sign == "&":
        return not _ENTITY.match(text, place)
    if sign == "~":
        return "~" not in (before, behind)
    return sign == "\\" and behind not in ("", "\n") and (behind.isalnum() or behind == " ")
