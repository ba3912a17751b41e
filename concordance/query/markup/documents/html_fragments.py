"""Raw HTML in a Markdown document, as the Markdown that means the same.

In: a fragment, often only one end of an element. Out: Markdown without HTML: paragraphs, headings, lists, links,
pictures, code and table rows. What has no counterpart (scripts, styles, forms) is left out; other tags leave their
text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from concordance.query.markup.inline import escape_text

_BLOCKS = frozenset(
    ("address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
     "figcaption", "figure", "footer", "form", "header", "hr", "main", "nav", "ol", "p", "picture", "section",
     "summary", "table", "tbody", "tfoot", "thead", "ul", "tr")
)  # fmt: skip
_HIDDEN = frozenset(
    ("script", "style", "svg", "iframe", "video", "audio", "object", "template", "textarea", "select", "head", "title")
)
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "s": "~~", "del": "~~"}


class _Fragment(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.hidden = 0
        self.verbatim = 0
        self.links: list[tuple[int, str]] = []  # where each open link begins, and its address

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in _HIDDEN:
            self.hidden += 1
        if self.hidden:
            return
        if tag == "pre":
            self.out.append("\n\n```\n")
            self.verbatim += 1
        elif self.verbatim:
            return
        elif tag in _BLOCKS:
            self.out.append("\n\n")
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.out.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "br":
            self.out.append("\\\n" if self.out and not self.out[-1].endswith("\n") else "")
        elif tag == "li":
            self.out.append("\n- ")
        elif tag in ("td", "th"):
            self.out.append(" ")
        elif tag in ("code", "kbd", "tt"):
            self.out.append("`")
        elif tag == "a":
            self.links.append((len(self.out), given.get("href", "")))
            self.out.append("[")
        elif tag == "img":
            self.out.append(f"![{_label(given.get('alt', ''))}](<{_address(given.get('src', ''))}>)")
        elif tag in _MARKS:
            self.out.append(_MARKS[tag])

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif self.hidden:
            return
        elif tag == "pre" and self.verbatim:
            self.verbatim -= 1
            self.out.append("\n```\n\n")
        elif self.verbatim:
            return
        elif tag in _BLOCKS or (len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()):
            self.out.append("\n\n")
        elif tag in ("code", "kbd", "tt"):
            self.out.append("`")
        elif tag == "a" and self.links:
            self._close_link()
        elif tag in _MARKS:
            self.out.append(_MARKS[tag])

    def _close_link(self) -> None:
        """End a link; one around whole paragraphs is dropped, since Markdown has none."""
        start, address = self.links.pop()
        if any("\n\n" in piece for piece in self.out[start:]):
            self.out[start] = ""
        else:
            self.out.append(f"](<{_address(address)}>)")

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        self.out.append(data if self.verbatim else escape_text(re.sub(r"\s+", " ", data)))

    def markdown(self) -> str:
        """Return the Markdown, without the margins of the HTML."""
        while self.links:
            self._close_link()
        text = re.sub(r"[ \t]*\\\n(?=\s*(?:\n|\Z))", "\n", "".join(self.out))
        if "```" in text:
            return text
        lines = [line.strip() for line in text.split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def _label(text: str) -> str:
    return escape_text(" ".join(text.split())).replace("]", "\\]")


def _address(text: str) -> str:
    return re.sub(r"[\s<>]", "", text)


def html_to_markdown(text: str) -> str:
    """Return a fragment of HTML as Markdown."""
    reader = _Fragment()
    reader.feed(re.sub(r"<!--.*?(?:-->|\Z)", "", text, flags=re.S))
    reader.close()
    return reader.markdown()
