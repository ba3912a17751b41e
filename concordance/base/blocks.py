"""The building blocks of pages: content and link targets, without formatting.

In: nothing. Out: types. A page says `Ref(To.SYMBOL, path, key)`, never an address: `render/addresses.py` knows the
address. A `Line` or a `Cite` says which lines of the source support a statement. A format records where on the page the
statement ended up: these records are the page's claims, which `concord verify` checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class To(StrEnum):
    """What a link points to (a closed list). Unless noted, `path` is that of a file or folder ("" for the root)."""

    FILE = "file"  # the page of a file; `at` is the heading of a section
    SYMBOL = "symbol"  # a definition on the page of its file; `at` is its key
    DEFINITION = "definition"  # a definition's own page, which only the site has; elsewhere the same as SYMBOL
    KEYWORDS = "keywords"  # the keyword index of a file
    INDEX = "index"  # of a folder: its entries
    FOLDER = "folder"  # of a folder: its description
    SUBTREE = "subtree"  # of a folder: the keywords of everything below it
    LETTERS = "letters"  # the keywords of the repository; `path` is a part of the alphabet, "" for the front page
    BOOK = "book"  # `path` is the name of a chapter, "" for the book's front page
    RULE = "rule"  # `path` is the id of a rule
    REPORT = "report"
    LLMS = "llms"  # `llms.txt`
    EMPTY = "empty_file"  # the list of empty files
    MAP = "map"  # of a folder: a treemap by size; only on the site, as is the next
    HISTORY = "history"  # of a folder: when and by whom it was changed
    SOURCE = "source"  # the file itself, in the repository


# What links to pages about one file, and to pages about one folder, say.
TO_FILES = frozenset((To.FILE, To.SOURCE, To.KEYWORDS, To.SYMBOL, To.DEFINITION))
TO_FOLDERS = frozenset((To.INDEX, To.FOLDER, To.SUBTREE, To.MAP, To.HISTORY))


class Mono(str):
    """Text shown as code."""

    __slots__ = ()


class Strong(str):
    """Emphasised text."""

    __slots__ = ()


class Anchor(str):
    """The key of a definition, invisible: links to the definition point here."""

    __slots__ = ()


class Ref(NamedTuple):
    """A link, described by its target."""

    to: str  # a `To`, or the kind of a page that an extension adds
    path: str
    at: str = ""
    label: str = ""
    code: bool = True  # True if the label is a name in code
    part: int = 1  # the part, if the page is written in several parts


class Line(NamedTuple):
    """A visible link to the lines of a file that support the surrounding statement, shown as `L12` or as its label."""

    path: str
    first: int
    last: int = 0  # 0: the same as `first`
    label: str = ""


class Cite(NamedTuple):
    """An invisible reference to the lines that support the surrounding statement; `first` 0 is the whole file."""

    path: str
    first: int = 0
    last: int = 0


Piece = str | Mono | Strong | Anchor | Ref | Line | Cite  # plain text is shown literally: a format escapes its markup
Pieces = Sequence[Piece]


class Heading(NamedTuple):
    """The heading of a section."""

    level: int
    text: Pieces
    anchor: str = ""  # its link anchor; if empty, the anchor is made from the text


class Text(NamedTuple):
    """A paragraph."""

    text: Pieces


class Picture(NamedTuple):
    """A picture of the repository, in an author's text."""

    path: str
    label: str  # its text alternative


class Doc(NamedTuple):
    """An author's words as Markdown that is safe to show (no HTML, no links of its own to files), with our links."""

    text: Sequence[str | Ref | Cite | Picture]


class Item(NamedTuple):
    """One entry of a list."""

    text: Pieces
    blocks: Sequence[Block] = ()  # shown below the text
    anchor: str = ""


class Items(NamedTuple):
    """A list."""

    items: Sequence[Item]
    ordered: bool = False


class Table(NamedTuple):
    """Rows of cells; a cell holds pieces and no line breaks."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Pieces]]
    sorts: bool = False  # True if a reader may want to sort and filter it, if the format can


class Code(NamedTuple):
    """Preformatted text."""

    text: str
    language: str = ""  # as in a Markdown fence


class Quote(NamedTuple):
    """A quotation."""

    blocks: Sequence[Block]


class Node(NamedTuple):
    """A box of a diagram."""

    name: str  # unique in the diagram
    label: str
    group: str = ""  # boxes of one group share a frame
    strong: bool = False  # True for the subject of the diagram
    ref: Ref | None = None  # its link, if the format supports links in diagrams


class Diagram(NamedTuple):
    """A diagram: boxes and arrows."""

    nodes: Sequence[Node]
    edges: Sequence[tuple[str, str, str]]  # from, to, and the arrow's label
    across: bool = True  # True: left to right; False: top to bottom


class Tile(NamedTuple):
    """A tile of a treemap: a file, or a folder with its content."""

    label: str
    value: float  # its area
    description: str  # the value in words
    ref: Ref | None = None
    kind: str = ""  # the category of most of its files
    tiles: Sequence[Tile] = ()  # its content, as far as it is large enough to be seen


class Treemap(NamedTuple):
    """A treemap: tiles whose areas are proportional to their values."""

    title: str
    tiles: Sequence[Tile]


class Plot(NamedTuple):
    """A bar chart."""

    title: str
    columns: tuple[str, str]  # headings of the categories and of the counts
    bars: Sequence[tuple[str, int]]


Block = Heading | Text | Doc | Items | Table | Code | Quote | Diagram | Treemap | Plot


class Page(NamedTuple):
    """A page: its address (the link that points to it), its title and its content."""

    ref: Ref
    title: Pieces
    blocks: Sequence[Block]


def parse_code_spans(text: str) -> list[Piece]:
    """Split a sentence into pieces; text between backticks becomes code."""
    return [Mono(part) if place % 2 else part for place, part in enumerate(text.split("`")) if part]


def format_size(size: int) -> str:
    """Format a size in bytes for people."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilo = size / 1024
    if kilo >= 1024:
        return f"{kilo / 1024:.1f} MB"
    return f"{kilo:.0f} KB" if kilo >= 10 else f"{kilo:.1f} KB"


def count_noun(number: int, one: str, many: str = "") -> str:
    """Format a number with its noun: `1 class`, `2 classes`, `1,204 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def join_with_commas(pieces: Sequence[Piece]) -> list[Piece]:
    """Join pieces with commas: `a, b, c`."""
    joined: list[Piece] = []
    for piece in pieces:
        joined += [", ", piece] if joined else [piece]
    return joined


def join_in_sentence(pieces: Sequence[Piece], conjunction: str = "and") -> list[Piece]:
    """Join pieces as in a sentence: `a`, `a and b`, `a, b and c`."""
    sentence: list[Piece] = []
    for number, piece in enumerate(pieces):
        if number:
            sentence.append(f" {conjunction} " if number == len(pieces) - 1 else ", ")
        sentence.append(piece)
    return sentence
