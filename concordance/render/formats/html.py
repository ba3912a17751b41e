"""Pages as HTML for a browser: the content of a page; `render/shell.py` puts the rest of the window around it.

In: a page and the addresses of the site. Out: its HTML, and its headings for the outline. Text that is not ours is
escaped, and an author's Markdown is shown without HTML of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from concordance.blocks import (
    Anchor,
    Block,
    Cite,
    Code,
    Doc,
    Graph,
    Heading,
    Items,
    Line,
    Mono,
    Page,
    Pieces,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
)
from concordance.render.addresses import anchor, slug
from concordance.render.siteaddresses import SiteAddresses
from concordance.signs import visible


class Entry(NamedTuple):
    """A heading, for the outline."""

    level: int
    anchor: str
    text: str


class Body(NamedTuple):
    """A page's content."""

    title: str  # as plain text
    html: str
    outline: list[Entry]


def render(page: Page, addresses: SiteAddresses) -> Body:
    """A page as HTML."""
    writer = _Writer(addresses, addresses.page(page.ref))
    writer.heading(Heading(1, page.title))
    writer.blocks(page.blocks)
    return Body(_plain(page.title), "".join(writer.out), writer.outline)


class _Writer:
    def __init__(self, addresses: SiteAddresses, page: str) -> None:
        self.addresses, self.page = addresses, page
        self.out: list[str] = []
        self.outline: list[Entry] = []

    def blocks(self, blocks: Sequence[Block]) -> None:
        for block in blocks:
            self._block(block)

    def _block(self, block: Block) -> None:
        match block:
            case Heading():
                self.heading(block)
            case Text():
                self._in("p", block.text)
            case Items():
                self._items(block)
            case Doc():
                self._doc(block)
            case Table():
                self._table(block)
            case Code():
                self.out.append(f"<pre><code>{escape(visible(block.text))}</code></pre>\n")
            case Quote():
                self.out.append("<blockquote>")
                self.blocks(block.blocks)
                self.out.append("</blockquote>\n")
            case Graph():
                pass

    def heading(self, heading: Heading) -> None:
        text = _plain(heading.text)
        name = anchor(heading.anchor) if heading.anchor else slug(text)
        if heading.level > 1:
            self.outline.append(Entry(heading.level, name, text))
        self.out.append(f'<h{heading.level} id="{escape(name)}">')
        self._pieces(heading.text)
        self.out.append(f"</h{heading.level}>\n")

    def _in(self, tag: str, pieces: Pieces) -> None:
        self.out.append(f"<{tag}>")
        self._pieces(pieces)
        self.out.append(f"</{tag}>\n")

    def _items(self, block: Items) -> None:
        tag = "ol" if block.ordered else "ul"
        self.out.append(f"<{tag}>\n")
        for item in block.items:
            self.out.append(f'<li id="{escape(anchor(item.anchor))}">' if item.anchor else "<li>")
            self._pieces(item.text)
            self.blocks(item.blocks)
            self.out.append("</li>\n")
        self.out.append(f"</{tag}>\n")

    def _doc(self, doc: Doc) -> None:
        self.out.append("<div>")
        self._pieces(list(doc.text))
        self.out.append("</div>\n")

    def _table(self, table: Table) -> None:
        head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
        self.out.append(f"<table><thead><tr>{head}</tr></thead><tbody>\n")
        for row in table.rows:
            self.out.append("<tr>")
            for cell in row:
                self._in("td", cell)
            self.out.append("</tr>")
        self.out.append("</tbody></table>\n")

    def _pieces(self, pieces: Pieces) -> None:
        for piece in pieces:
            match piece:
                case Ref():
                    label = escape(visible(piece.label or piece.path))
                    label = f"<code>{label}</code>" if piece.code else label
                    self.out.append(f'<a href="{escape(self.addresses.link(self.page, piece))}">{label}</a>')
                case Line():
                    label = piece.label or f"L{piece.first}" + (f"–{piece.last}" if piece.last > piece.first else "")
                    address = self.addresses.source(self.page, piece.path, piece.first, piece.last)
                    self.out.append(f'<a href="{escape(address)}">{escape(visible(label))}</a>')
                case Mono():
                    self.out.append(f"<code>{escape(visible(piece))}</code>")
                case Strong():
                    self.out.append(f"<strong>{escape(visible(piece))}</strong>")
                case Anchor():
                    self.out.append(f'<a id="{escape(anchor(piece))}"></a>')
                case Cite():
                    pass
                case _:
                    self.out.append(escape(visible(piece)))


def _plain(pieces: Pieces) -> str:
    """Pieces as text alone."""
    found = ""
    for piece in pieces:
        if isinstance(piece, Ref):
            found += piece.label or piece.path
        elif isinstance(piece, str) and not isinstance(piece, Anchor):
            found += piece
    return visible(found)
