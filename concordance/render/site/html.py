"""Renders the content of a page as HTML; `page_frame` adds the rest of the document.

In: a page and the addresses of the site. Out: its HTML, and its headings for the outline. Text from the repository is
escaped, and raw HTML in an author's Markdown is shown as text. The output has no inline styles or scripts: classes say
what an element is, and the style sheet how it looks. An `id` occurs only once on a page, and headings have the ids
that forges give them, so that the same link works in the Markdown book and on the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

from concordance.base.blocks import (
    Anchor,
    Block,
    Cite,
    Code,
    Diagram,
    Doc,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Picture,
    Piece,
    Pieces,
    Plot,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    To,
    Treemap,
)
from concordance.base.characters import escape_hidden
from concordance.render.addresses import anchor, slug
from concordance.render.author_markdown import doc_to_html, render_code
from concordance.render.diagrams.bar_chart import plot
from concordance.render.diagrams.svg import svg
from concordance.render.diagrams.treemap import treemap
from concordance.render.site.addresses import SiteAddresses

SORTS = "sorts"  # class of a table that can be sorted and filtered by a script
LONG = 100  # from this number of entries on, the browser lays out only the visible part of a list
_NUMBER = re.compile(r"[+-]?[\d,.]+(?: ?(?:%|×|B|KB|MB|GB|bytes|ms|s))?|–|")
_AT_LINE, _TO_LINE = re.compile(r" ?L(\d+)"), re.compile(r"–(\d+)")
_LONG_NAME = 18  # characters
_PARTS = re.compile(r"(?<=\w)(::|[/_](?=\w)|\.(?=\w)(?!\w{1,4}\Z))")  # where a long name may be broken
_FOLDED = "File Metadata"  # the section that a reader opens on demand
_NOTHING = re.compile(
    r"(?:(?:No|None|Empty|Nothing|Not searched)\b|It (?:defines|runs) no |(?:Definitions|Imports) are not |"
    r"\S[^.]{0,40} is recognised but not )[^.]{0,200}\.?\Z"
)
_BETWEEN = " · "  # separates facts about a definition in a paragraph


class OutlineHeading(NamedTuple):
    """A heading in the outline."""

    level: int
    anchor: str
    text: str


class Body(NamedTuple):
    """The rendered content of a page."""

    title: str  # as plain text
    html: str
    outline: list[OutlineHeading]


def render(page: Page, addresses: SiteAddresses) -> Body:
    """Render a page as HTML."""
    writer = HtmlWriter(addresses, addresses.page(page.ref), page.ref.path if page.ref.to == To.KEYWORDS else "")
    writer.heading(Heading(1, page.title))
    for section in split_sections(page.blocks):
        writer.section(section)
    return Body(plain(page.title), "".join(writer.out), writer.outline)


def split_sections(blocks: Sequence[Block]) -> list[list[Block]]:
    """Split blocks at headings of the second level; a heading that only repeats the one above it is left out."""
    sections: list[list[Block]] = []
    above: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            del above[max(0, block.level - 2) :]
            if plain(block.text) in above:
                continue
            above.append(plain(block.text))
        if not sections or (isinstance(block, Heading) and block.level == 2):
            sections.append([])
        sections[-1].append(block)
    return sections


def _split_subsections(blocks: Sequence[Block]) -> list[Sequence[Block]]:
    """Split the blocks of a section before each heading of the third level."""
    starts = [0, *(n for n, block in enumerate(blocks) if n and isinstance(block, Heading) and block.level == 3)]
    return [blocks[start:end] for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True)]


def _sentences_of_nothing(blocks: Sequence[Block]) -> list[tuple[str, Pieces]] | None:
    """Return the sentences of a section that only say that there is nothing, or only where it is, each with the
    heading that it is under, "" for the section's own; None for any other section."""
    sentences: list[tuple[str, Pieces]] = []
    heading = ""
    for block in blocks[1:]:
        if isinstance(block, Heading):
            heading = plain(block.text)
        elif isinstance(block, Text) and (_is_link(block.text) or _NOTHING.match(plain(block.text))):
            sentences.append((heading, block.text))
            heading = ""
        else:
            return None
    return sentences if sentences and not heading and isinstance(blocks[0], Heading) else None


def _is_link(text: Pieces) -> bool:
    return len(text) == 1 and isinstance(text[0], Ref)


class HtmlWriter:
    """Writes the HTML of one page."""

    def __init__(self, addresses: SiteAddresses, page: str, lines_of: str) -> None:
        """Create a writer; `lines_of` is the file that line numbers without a path refer to."""
        self.addresses, self.page, self._lines_of = addresses, page, lines_of
        self.out: list[str] = []
        self.outline: list[OutlineHeading] = []
        self._ids: set[str] = set()
        self._slugs: dict[str, int] = {}  # how often each heading slug has occurred
        self._level = 0  # of the previous heading: levels are never skipped, which screen readers rely on
        self._links: dict[tuple[Ref, bool], str] = {}  # cache: most links occur on a page more than once
        self._breaks_names = False
        self._write: dict[type, Callable[[Any], None]] = {
            Heading: self.heading, Text: self._text, Items: self._items, Doc: self._doc, Table: self._table,
            Code: self._code, Quote: self._quote, Diagram: self._graph, Treemap: self._treemap, Plot: self._plot,
        }  # fmt: skip

    def blocks(self, blocks: Sequence[Block]) -> None:
        """Write blocks, one below the other."""
        for block in blocks:
            self._write[type(block)](block)

    def section(self, blocks: Sequence[Block]) -> None:
        """Write a section: one without content as a quiet line, and a file's metadata folded."""
        sentences = _sentences_of_nothing(blocks)
        if sentences is not None:
            self.out.append('<section class="quiet">')
            self.heading(blocks[0])  # type: ignore[arg-type]
            for heading, words in sentences:
                self.out.append(f'<p id="{escape(self._heading_id(heading, ""))}">' if heading else "<p>")
                self.pieces(words)
                self.out.append("</p>")
            self.out.append("</section>\n")
        elif isinstance(blocks[0], Heading) and plain(blocks[0].text) == _FOLDED:
            place = " side" if self._level == 1 else ""  # before all else that the page says
            self.out.append(f'<details class="metadata{place}"><summary>')
            self.heading(blocks[0], linked=False)
            self.out.append("</summary>")
            self.blocks(blocks[1:])
            self.out.append("</details>\n")
        else:
            first, *rest = _split_subsections(blocks)
            self.blocks(first)
            for part in rest:
                if _sentences_of_nothing(part) is None:
                    self.blocks(part)
                else:
                    self.section(part)

    # --- blocks

    def heading(self, heading: Heading, linked: bool = True) -> None:
        """Write a heading with a link to itself, unless it is the page's own or part of a control."""
        text = plain(heading.text)
        name = self._heading_id(text, heading.anchor)
        level = self._level = min(heading.level, self._level + 1)
        if heading.level > 1:
            self.outline.append(OutlineHeading(heading.level, name, text))
        self.out.append(f'<h{level} id="{escape(name)}">')
        self._breaks_names = level == 1
        self.pieces(heading.text)
        self._breaks_names = False
        if level > 1 and linked:
            self.out.append(f' <a class="permalink" href="#{escape(name)}" aria-label="Link to this section">¶</a>')
        self.out.append(f"</h{level}>\n")

    def _heading_id(self, text: str, own: str) -> str:
        """Return a unique id for a heading: its own anchor, or the slug that a forge gives it."""
        bare = slug(text) or "section"
        times = self._slugs.get(bare, 0)
        self._slugs[bare] = times + 1
        name = anchor(own) if own else f"{bare}-{times}" if times else bare
        while name in self._ids:  # taken by another heading whose text has this slug
            times += 1
            name = f"{bare}-{times}"
        self._ids.add(name)
        return name

    def _id(self, name: str) -> str:
        """Return an `id` attribute, or "" if the name is already taken: links then find the first one."""
        if not name:
            return ""
        identifier = anchor(name)
        if identifier in self._ids:
            return ""
        self._ids.add(identifier)
        return f' id="{escape(identifier)}"'

    def _text(self, text: Text) -> None:
        if _is_facts(text.text):
            self._facts(text.text)
        else:
            self.out.append("<p>")
            self.pieces(text.text)
            self.out.append("</p>\n")

    def _facts(self, pieces: Pieces) -> None:
        """Write the facts about a definition as a list."""
        self.out.append('<ul class="facts"><li>')
        start = 0
        for place, piece in enumerate(pieces):
            if piece == _BETWEEN and type(piece) is str:
                self.pieces(pieces[start:place])
                self.out.append("</li>\n<li>")
                start = place + 1
        self.pieces(pieces[start:])
        self.out.append("</li></ul>\n")

    def _items(self, block: Items) -> None:
        if not block.ordered and block.items and all(map(_is_field, block.items)):
            self._fields(block.items)
            return
        tag = "ol" if block.ordered else "ul"
        self.out.append(f'<{tag} class="long">\n' if len(block.items) > LONG else f"<{tag}>\n")
        for item in block.items:
            kind = ' class="def"' if item.anchor else ""
            self.out.append(f"<li{self._id(item.anchor)}{kind}>")
            self.pieces(item.text)
            self.blocks(item.blocks)
            self.out.append("</li>\n")
        self.out.append(f"</{tag}>\n")

    def _fields(self, items: Sequence[Item]) -> None:
        """Write entries of the form "name: text" as a definition list."""
        self.out.append('<dl class="fields">\n')
        for item in items:
            name, first, *rest = item.text
            self.out.append(f"<div><dt>{_escape_text(str(name))}</dt><dd>")
            self.pieces([str(first).removeprefix(":").lstrip(), *rest])
            self.blocks(item.blocks)
            self.out.append("</dd></div>\n")
        self.out.append("</dl>\n")

    def _doc(self, doc: Doc) -> None:
        self.out.append(f'<div class="doc">{doc_to_html(doc.text, self._linked)}</div>\n')

    def _linked(self, target: Ref | Picture) -> str:
        """Return the HTML of a link or picture in an author's text; a drawing that could run scripts is a link."""
        if isinstance(target, Ref):
            return self.link(target)
        address = self.addresses.image(target.path)
        if not address:
            return self.link(Ref(To.FILE, target.path, "", target.label, False))
        shown = f'src="{escape(self.addresses.to(self.page, address))}" alt="{escape(escape_hidden(target.label))}"'
        return f'<img {shown} loading="lazy">'

    def _quote(self, quote: Quote) -> None:
        self.out.append("<blockquote>")
        self.blocks(quote.blocks)
        self.out.append("</blockquote>\n")

    def _code(self, block: Code) -> None:
        self.out.append(render_code(block.text, block.language))

    def _graph(self, graph: Diagram) -> None:
        self.out.append(svg(graph, self._address))

    def _treemap(self, block: Treemap) -> None:
        self.out.append(treemap(block, self._address))

    def _plot(self, block: Plot) -> None:
        self.out.append(plot(block))

    def _address(self, ref: Ref) -> str:
        return self.addresses.link(self.page, ref)

    def _table(self, table: Table) -> None:
        """Write a table in a box that scrolls sideways if the table is wider than the page."""
        right = " ".join(f"right-{place + 1}" for place in range(len(table.columns)) if _is_numbers(table.rows, place))
        name = escape(f"Table: {', '.join(column for column in table.columns if column)}")
        self.out.append(f'<div class="table" role="group" aria-label="{name}" tabindex="0">')
        classes = " ".join(filter(None, (SORTS if table.sorts else "", right)))
        self.out.append(f'<table class="{classes}">' if classes else "<table>")
        head = "".join(f'<th scope="col">{_escape_text(column)}</th>' for column in table.columns)
        self.out.append(f"<thead><tr>{head}</tr></thead><tbody>\n")
        self._breaks_names = True
        for row in table.rows:
            self.out.append("<tr>")
            for cell in row:
                self.out.append("<td>")
                self.pieces(cell)
                self.out.append("</td>")
            self.out.append("</tr>\n")
        self._breaks_names = False
        self.out.append("</tbody></table></div>\n")

    # --- pieces

    def pieces(self, pieces: Pieces) -> None:
        """Write inline pieces: text, names, links."""
        out = self.out
        skipped = -1  # the piece that ends a range of lines, already written as part of the link before it
        named = ""  # id attribute for the name that follows
        for place, piece in enumerate(pieces):
            kind = type(piece)
            if kind is str:
                at = _AT_LINE.fullmatch(piece) if "L" in piece and len(piece) < 12 else None  # type: ignore[arg-type]
                if at is not None:
                    last, skipped = self._range(pieces, place + 2)
                    out.append(self._line_number(at, pieces, place, last))
                elif place != skipped:
                    out.append(_escape_text(piece))  # type: ignore[arg-type]
            elif kind is Ref:
                out.append(self.link(piece))  # type: ignore[arg-type]
            elif kind is Mono:
                out.append(f"<code{named}>{self._name(piece)}</code>")  # type: ignore[arg-type]
                named = ""
            elif kind is Line:
                last, skipped = self._range(pieces, place + 1)
                out.append(self._line(piece, last))  # type: ignore[arg-type]
            elif kind is Strong:
                out.append(f"<strong>{_escape_text(piece)}</strong>")  # type: ignore[arg-type]
            elif kind is Anchor:
                named = self._id(piece)  # type: ignore[arg-type]
                if named and type(pieces[place + 1] if place + 1 < len(pieces) else "") is not Mono:
                    out.append(f"<span{named}></span>")
                    named = ""

    def _range(self, pieces: Pieces, place: int) -> tuple[int, int]:
        """Return the last line of a range if a piece ends one, and the piece's place; (0, -1) if it does not."""
        behind: Piece = pieces[place] if place < len(pieces) else ""
        match = _TO_LINE.fullmatch(behind) if type(behind) is str else None
        return (int(match[1]), place) if match else (0, -1)

    def link(self, ref: Ref) -> str:
        """Return the HTML of a link."""
        link = self._links.get((ref, self._breaks_names))
        if link is None:
            label = self._label(ref) if ref.label.endswith(".md") else ref.label or ref.path
            label = f"<code>{self._name(label)}</code>" if ref.code else _escape_text(label)
            link = f'<a href="{escape(self.addresses.link(self.page, ref))}">{label}</a>'
            self._links[ref, self._breaks_names] = link
        return link

    def _name(self, text: str) -> str:
        """Return the HTML of a name in code; in a table or title, a long one can be broken between its parts."""
        shown = _escape_text(text)
        return _PARTS.sub(r"\1<wbr>", shown) if self._breaks_names and len(text) > _LONG_NAME else shown

    def _label(self, ref: Ref) -> str:
        """Return a link's label; the file name of a page of the book is replaced by its name on the site."""
        folder, slash, label = ref.label.rpartition("/")
        name = self.addresses.page(ref).rpartition("/")[2]
        return f"{folder}{slash}{name}" if f"{name.removesuffix('.html')}.md" == label else ref.label

    def _line(self, line: Line, last: int = 0) -> str:
        last = last or line.last
        label = line.label or f"L{line.first}" + (f"–{last}" if last > line.first else "")
        address = self.addresses.source(self.page, line.path, line.first, last)
        return f'<a class="at" href="{escape(address)}">{_escape_text(label)}</a>'

    def _line_number(self, match: re.Match[str], pieces: Pieces, place: int, last: int) -> str:
        """Return a line number as a link. In the book it is plain text, since a page has too many of them; here the
        citation beside the number says which file it is in. Files with thousands of keys stay without links."""
        behind: Piece = pieces[place + 1] if place + 1 < len(pieces) else ""
        path = behind.path if isinstance(behind, Cite) and behind.first == int(match[1]) else self._lines_of
        if not path or self.addresses.is_plain(path):
            return _escape_text(match[0]) + (f"–{last}" if last else "")
        space = " " if match[0].startswith(" ") else ""
        return space + self._line(Line(path, int(match[1])), last)


def _escape_text(text: str) -> str:
    return escape(escape_hidden(text), False)


def _is_field(item: Item) -> bool:
    """True if an entry is a name, a colon and a text."""
    text = item.text
    return (
        len(text) > 1 and isinstance(text[0], Strong) and type(text[1]) is str and text[1].startswith(":")
        and not item.anchor
    )  # fmt: skip


def _is_facts(pieces: Pieces) -> bool:
    """True if a paragraph lists facts about a definition: it begins with a citation of lines."""
    first = pieces[0] if pieces else ""
    return isinstance(first, Cite) and first.last >= first.first > 0


def _is_numbers(rows: Sequence[Sequence[Pieces]], place: int) -> bool:
    """True if a table column holds only numbers."""
    has_piece = False
    for row in rows:
        for piece in row[place] if place < len(row) else ():
            if type(piece) is Cite:
                continue
            if type(piece) is not str or not _NUMBER.fullmatch(piece):
                return False
            has_piece = has_piece or bool(piece)
    return has_piece


def plain(pieces: Pieces) -> str:
    """Return the plain text of pieces."""
    text = ""
    for piece in pieces:
        if isinstance(piece, Ref):
            text += piece.label or piece.path
        elif isinstance(piece, Line):
            text += piece.label or f"L{piece.first}" + (f"–{piece.last}" if piece.last > piece.first else "")
        elif isinstance(piece, str) and not isinstance(piece, Anchor):
            text += piece
    return escape_hidden(text)
