"""Converts Markdown written by an author, such as a doc comment, to HTML, with our own links in it.

In: the pieces of a `blocks.Doc`, and a function that writes one link. Out: HTML. The parser has raw HTML switched off,
so tags in the text are escaped. Links to the web stay links, other links become plain text, and an image becomes a link
to it, since a page loads nothing from elsewhere. Our own links are passed through the parser as links to a random
address, so they end up where Markdown puts them, and no text of the author can be mistaken for one. Mathematics between
`$` becomes MathML, and a quotation that begins with a bold label is a note.

Most doc comments are a few plain sentences, and a page has hundreds of them; parsing them all would take longer than
the rest of the page. So `plain_html` converts the common shapes (paragraphs, short lists, fences) without the parser.
It either returns exactly the HTML that the parser's tokens would give, or None if it is not certain.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from concordance.base.blocks import Cite, Picture, Ref
from concordance.base.characters import escape_hidden
from concordance.extract.registry import aliases
from concordance.extract.text.highlight import highlight_spans
from concordance.render.formulas import tex_to_mathml

_BEGINS = re.compile(  # a line that can only begin a paragraph
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
_OUTSIDE = re.compile(r"(?:https?://|mailto:)", re.I)
_TONES = {  # how a note looks, by the first word of its label
    "warning": "careful", "caution": "careful", "danger": "careful", "attention": "careful", "error": "careful",
    "deprecated": "careful", "important": "careful", "tip": "helpful", "hint": "helpful", "success": "helpful",
}  # fmt: skip
_SAME = frozenset(("p", "ul", "li", "blockquote", "thead", "tbody", "tr", "em", "strong", "s"))  # without attributes


Linked = Ref | Picture  # what we put into an author's text


def doc_to_html(pieces: Sequence[str | Ref | Cite | Picture], link: Callable[[Linked], str]) -> str:
    """Return the HTML of a doc text; `link` writes one of our links or pictures."""
    text = [piece for piece in pieces if not isinstance(piece, Cite)]
    if len(text) == 1 and isinstance(text[0], str):
        html = plain_html(escape_hidden(text[0]), ())
        return html if html is not None else _Writer("", [], link).html(escape_hidden(text[0]))
    refs = [piece for piece in text if not isinstance(piece, str)]
    html = plain_html(
        "".join(escape_hidden(piece) if isinstance(piece, str) else "\0" for piece in text), [*map(link, refs)]
    )
    if html is not None:
        return html
    marker = secrets.token_hex(8)
    parts, number = [], 0
    for one in text:
        if isinstance(one, str):
            parts.append(escape_hidden(one))
        else:
            parts.append(f"[x]({marker}-{number})")
            number += 1
    return _Writer(marker, refs, link).html("".join(parts))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


class _Writer:
    """Writes HTML from the parser's tokens."""

    def __init__(self, marker: str, refs: Sequence[Linked], link: Callable[[Linked], str]) -> None:
        self.marker, self.refs, self.link = marker, refs, link
        self.out: list[str] = []

    def html(self, text: str) -> str:
        tokens = _parser().parse(text)
        for place, token in enumerate(tokens):
            if token.type == "blockquote_open":
                self.out.append(f"<blockquote{_note_class(tokens[place + 1 : place + 3])}>")
            elif token.type == "inline":
                self._inline(token.children or [])
            elif token.type in ("fence", "code_block"):
                self.out.append(render_fence(self._without_marks(token.content), token.info.split(" ")[0].strip()))
            elif token.type == "hr":
                self.out.append("<hr>\n")
            elif not token.hidden:
                self._tag(token)
        return "".join(self.out)

    def _tag(self, token: Token) -> None:
        tag, opens = token.tag, token.nesting > 0
        if tag in _SAME:
            self.out.append(f"<{tag}>" if opens else f"</{tag}>\n")
        elif tag == "ol":
            start = str(token.attrGet("start") or "")
            self.out.append(f'<ol start="{int(start)}">' if opens and start else "<ol>" if opens else "</ol>\n")
        elif tag == "table":
            self.out.append('<div class="table" tabindex="0"><table>' if opens else "</table></div>\n")
        elif tag in ("th", "td"):
            self.out.append((f'<{tag} scope="col">' if tag == "th" else "<td>") if opens else f"</{tag}>")
        else:  # a heading: on our pages an author's text has none of its own
            self.out.append("<p><strong>" if opens else "</strong></p>\n")

    def _inline(self, tokens: list[Token]) -> None:
        out = self.out
        opened: list[bool] = []  # for each open link, whether it was written as one
        ours = False  # inside one of our links, whose label is already written
        for place, token in enumerate(tokens):
            kind = token.type
            if ours:
                ours = kind != "link_close"
            elif kind == "text":
                text = escape(escape_hidden(token.content), False)
                out.append(text[1:] if text.startswith("$") and self._is_math(tokens, place - 1) else text)
            elif kind == "code_inline":
                self._code(token, self._is_math(tokens, place))
            elif kind == "link_open":
                href = str(token.attrGet("href") or "")
                if self.marker and href.startswith(self.marker):
                    out.append(self.link(self.refs[int(href.rpartition("-")[2])]))
                    ours = True
                else:
                    opened.append(_OUTSIDE.match(href) is not None)
                    out.append(_external_link(href) if opened[-1] else "")
            elif kind == "link_close":
                out.append("</a>" if opened.pop() else "")
            elif kind == "image":
                self._image(token, any(opened))
            elif kind in ("softbreak", "hardbreak"):
                out.append("\n" if kind == "softbreak" else "<br>\n")
            elif token.tag in _SAME:
                out.append(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")

    def _is_math(self, tokens: list[Token], place: int) -> bool:
        """True if code stands between two `$`, which is how forges mark mathematics."""
        if not 0 < place < len(tokens) - 1 or tokens[place].type != "code_inline":
            return False
        before, behind = tokens[place - 1], tokens[place + 1]
        return before.type == behind.type == "text" and before.content.endswith("$") and behind.content.startswith("$")

    def _code(self, token: Token, math: bool) -> None:
        text = self._without_marks(token.content)
        if math:
            self.out[-1] = self.out[-1][:-1]
            self.out.append(_formula(text))
        else:
            self.out.append(f"<code>{escape(escape_hidden(text), False)}</code>")

    def _image(self, token: Token, inside: bool) -> None:
        label = escape(escape_hidden(token.content or "picture"), False)
        href = str(token.attrGet("src") or "")
        linked = not inside and _OUTSIDE.match(href)
        self.out.append(f"{_external_link(href)}{label}</a>" if linked else label)

    def _without_marks(self, text: str) -> str:
        """Return code with each of our links in it replaced by the link's label."""
        if not self.marker or self.marker not in text:
            return text
        return re.sub(rf"\[x\]\({self.marker}-(\d+)\)", lambda match: self.refs[int(match[1])].label, text)


def _note_class(tokens: Sequence[Token]) -> str:
    """Return the class of a quotation that is a note: its first paragraph begins with a bold label."""
    words = [token for token in (tokens[-1].children or []) if token.type != "text" or token.content] if tokens else []
    texts = [token.content for token in words[:3]]
    if len(texts) < 3 or words[0].type != "strong_open" or words[2].type != "strong_close":
        return ""
    label = texts[1].rstrip(":").lower()
    return f' class="note {_TONES.get(label.partition(" ")[0], "plain")}"' if texts[1].endswith(":") else ""


def _external_link(address: str) -> str:
    return f'<a class="external" href="{escape(escape_hidden(address))}" rel="noopener noreferrer">'


# --- The common shapes, without the parser. A NUL in the text stands for one of our links.


class _UnsureError(Exception):
    """The text is not one of the common shapes: use the parser."""


def plain_html(text: str, links: Sequence[str]) -> str | None:
    """Return the HTML of a text of common shapes, or None if the parser is needed."""
    if "](" in text:
        return None
    left = iter(links)
    try:
        return "".join(_block(lines, left) for lines in _blocks(text.split("\n")))
    except _UnsureError:
        return None


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield paragraphs, lists and whole fences; anything after a list that could continue it raises."""
    block: list[str] = []
    fence, listed = "", False
    for line in lines:
        if fence:
            if line.startswith("```") and line.rstrip(" ").strip("`") == "" and len(line.rstrip(" ")) >= len(fence):
                yield block
                block, fence = [], ""
            else:
                block.append(line)
        elif not line.strip(" \t"):
            if block:
                listed = block[0].startswith("- ")
                yield block
            block = []
        elif line.startswith("```") and not block:
            opened = _FENCE.fullmatch(line)
            if opened is None:
                raise _UnsureError
            fence, block, listed = opened[1], [line], False
        else:
            if not block and listed and line[0] in " \t-":
                raise _UnsureError
            block.append(line)
    if fence:
        raise _UnsureError
    if block:
        yield block


def _block(lines: list[str], links: Iterator[str]) -> str:
    first = lines[0]
    if first.startswith("```"):
        text = "".join(f"{line}\n" for line in lines[1:])
        if "\0" in text:
            raise _UnsureError
        return render_fence(text, first.strip("`"))
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
    return _simple_inline("\n".join(lines), links)


def _simple_inline(text: str, links: Iterator[str]) -> str:
    out: list[str] = []
    place = 0
    for match in _SPECIAL.finditer(text):
        out.append(escape(text[place : match.start()], False))
        place = match.end()
        kind = match.lastgroup
        if kind == "other":
            if not _is_harmless(text, match.start()):
                raise _UnsureError
            out.append(escape(match[0], False))
        elif kind == "link":
            out.append(next(links))
        elif kind == "end":
            out.append("\n")
        elif kind == "escaped":
            out.append(escape(match["escaped"], False))
        elif kind == "strong":
            out.append(f"<strong>{_simple_inline(match['strong'], links)}</strong>")
        else:
            out.append(_simple_code(match["code"] or match["math"], kind == "math"))
    out.append(escape(text[place:], False))
    return "".join(out)


def _simple_code(text: str, math: bool) -> str:
    if text[0] == text[-1] == " " and text.strip(" "):
        text = text[1:-1]
    return _formula(text) if math else f"<code>{escape(text, False)}</code>"


def _formula(text: str) -> str:
    """Return an inline formula as MathML, or as it is written."""
    return tex_to_mathml(text) or f'<code class="math">{escape(escape_hidden(text), False)}</code>'


def render_fence(text: str, language: str) -> str:
    """Return the HTML of a fence in an author's text: a formula, or code."""
    formula = tex_to_mathml(text, True) if language == "math" else ""
    return f'<div class="formula" tabindex="0">{formula}</div>\n' if formula else render_code(text, language)


def _is_harmless(text: str, place: int) -> bool:
    """True if a character that could be markup is not markup here."""
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


# --- code blocks on the site, with syntax highlighting
# In: text and the name of its language, as in a fence. Out: HTML in which comments, strings, numbers and keywords are
# marked as on source pages. The block can take the keyboard focus, so that it can be scrolled without a mouse.


_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_LARGEST = 20_000  # characters; longer code is not highlighted, because it would take too long


def render_code(text: str, language: str) -> str:
    """Return the HTML of a code block."""
    text = escape_hidden(text)
    if not _LANGUAGE.fullmatch(language):
        return f'<pre tabindex="0"><code>{escape(text, False)}</code></pre>\n'
    name = language.lower()
    spans = highlight_spans(text, aliases().get(name, name)) if len(text) <= _LARGEST else []
    out: list[str] = []
    place = 0
    for start, end, letter in spans:
        out += (escape(text[place:start], False), f'<i class="{letter}">', escape(text[start:end], False), "</i>")
        place = end
    out.append(escape(text[place:], False))
    return f'<pre tabindex="0"><code class="language-{language}">{"".join(out)}</code></pre>\n'
