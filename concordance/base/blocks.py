"""What pages are made of: blocks of text that name what they link to; how they look is a format's business.

In: nothing. Out: types. A page says `Ref(To.SYMBOL, path, key)`, never an address: `render/addresses.py` knows where
that stands. A `Line` or a `Cite` says which lines of the source a statement rests on: a format notes where on the
page it stood, and so each page has its claims, which `concord verify` checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class To(StrEnum):
    """What a link leads to (a closed list). `path` is a file's or folder's ("" for the root), if not said otherwise."""

    FILE = "file"  # the page of a file; `at` is a section's heading
    SYMBOL = "symbol"  # a definition on the page of its file; `at` is its key
    DEFINITION = "definition"  # a definition's own page, which only the site has; elsewhere as SYMBOL
    KEYWORDS = "keywords"  # the keyword index of a file
    INDEX = "index"  # of a folder: what is in it
    FOLDER = "folder"  # of a folder: what it is about
    SUBTREE = "subtree"  # of a folder: the keywords of all below it
    LETTERS = "letters"  # the keywords of the repository; `path` is a part of the alphabet, "" for its front page
    BOOK = "book"  # `path` is a chapter's name, "" for the book's front page
    RULE = "rule"  # `path` is a rule's id
    REPORT = "report"
    MAP = "map"  # of a folder, drawn by size; only the site has it, as it has the next
    HISTORY = "history"  # of a folder: when and by whom it was changed
    SOURCE = "source"  # the file itself, in the repository


# What links to pages about one file, and to pages about one folder, say.
TO_FILES = frozenset((To.FILE, To.SOURCE, To.KEYWORDS, To.SYMBOL, To.DEFINITION))
TO_FOLDERS = frozenset((To.INDEX, To.FOLDER, To.SUBTREE, To.MAP, To.HISTORY))


class Mono(str):
    """Text as it stands in code."""

    __slots__ = ()


class Strong(str):
    """Text that is to be seen first."""

    __slots__ = ()


class Anchor(str):
    """A definition's key: links to it lead here. It is not seen."""

    __slots__ = ()


class Ref(NamedTuple):
    """A link, by what it means."""

    to: str  # a `To`, or the kind of a page that an extension adds
    path: str
    at: str = ""
    label: str = ""
    code: bool = True  # whether the label is a name of code
    part: int = 1  # of a page that is written in several parts


class Line(NamedTuple):
    """A link to lines of a file, which the statement around it rests on. It is shown as `L12` or by its label."""

    path: str
    first: int
    last: int = 0  # 0: the first alone
    label: str = ""


class Cite(NamedTuple):
    """Lines that the statement around it rests on, not shown. `first` 0 is the whole file."""

    path: str
    first: int = 0
    last: int = 0


Piece = str | Mono | Strong | Anchor | Ref | Line | Cite  # plain text is shown as it is: a format escapes its markup
Pieces = Sequence[Piece]


class Heading(NamedTuple):
    """Begins a section."""

    level: int
    text: Pieces
    anchor: str = ""  # a name of its own that links find it by; without one, links find it by its text


class Text(NamedTuple):
    """A paragraph."""

    text: Pieces


class Doc(NamedTuple):
    """An author's words as Markdown that is safe to be shown (no HTML, no links of its own to files), with links."""

    text: Sequence[str | Ref | Cite]


class Item(NamedTuple):
    """One entry of a list."""

    text: Pieces
    blocks: Sequence[Block] = ()  # what stands below it
    anchor: str = ""


class Items(NamedTuple):
    """A list."""

    items: Sequence[Item]
    ordered: bool = False


class Table(NamedTuple):
    """Rows of cells; a cell holds pieces and no line breaks."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Pieces]]
    sorts: bool = False  # whether one would sort and filter it, where a format can


class Code(NamedTuple):
    """Text that is shown letter by letter."""

    text: str
    language: str = ""  # as a fence names it


class Quote(NamedTuple):
    """Words that are another's."""

    blocks: Sequence[Block]


class Node(NamedTuple):
    """One box of a diagram."""

    name: str  # unique in it
    label: str
    group: str = ""  # boxes of one group are framed together
    strong: bool = False  # what the diagram is about
    ref: Ref | None = None  # where it leads, where a diagram can have links


class Diagram(NamedTuple):
    """A diagram: boxes and arrows."""

    nodes: Sequence[Node]
    edges: Sequence[tuple[str, str, str]]  # from, to, and a word on the arrow
    across: bool = True  # from left to right, else from top to bottom


class Tile(NamedTuple):
    """A part of a map: a file, or a folder with what is in it."""

    label: str
    value: float  # its area
    said: str  # the same in words
    ref: Ref | None = None
    kind: str = ""  # what most of it is: a category of files
    tiles: Sequence[Tile] = ()  # what is in it, as far as it can be seen


class Treemap(NamedTuple):
    """A map: areas by what they count."""

    title: str
    tiles: Sequence[Tile]


class Plot(NamedTuple):
    """Bars that stand side by side."""

    title: str
    columns: tuple[str, str]  # what they are by, and what they count
    bars: Sequence[tuple[str, int]]


Block = Heading | Text | Doc | Items | Table | Code | Quote | Diagram | Treemap | Plot


class Page(NamedTuple):
    """One page: what it is, by the link that leads to it, and what it says."""

    ref: Ref
    title: Pieces
    blocks: Sequence[Block]


def marked(text: str) -> list[Piece]:
    """A sentence in which code stands between backticks, as pieces."""
    return [Mono(part) if place % 2 else part for place, part in enumerate(text.split("`")) if part]


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 class`, `2 classes`, `1,204 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def commas(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces with commas between: `a, b, c`."""
    found: list[Piece] = []
    for piece in pieces:
        found += [", ", piece] if found else [piece]
    return found


def listed(pieces: Sequence[Piece], word: str = "and") -> list[Piece]:
    """Pieces in a sentence: `a`, `a and b`, `a, b and c`."""
    found: list[Piece] = []
    for number, piece in enumerate(pieces):
        if number:
            found.append(f" {word} " if number == len(pieces) - 1 else ", ")
        found.append(piece)
    return found
