"""What lies in a folder, as blocks: its parts with a line about each, how much there is, and where else to read.

In: an index and a folder. Out: tables and sentences that the folder's index, its page and its chapter share.
"""

from __future__ import annotations

from collections.abc import Sequence

from concordance.base.blocks import (
    Block,
    Item,
    Items,
    Mono,
    Piece,
    Pieces,
    Ref,
    Strong,
    Table,
    Text,
    To,
    counted,
    listed,
)
from concordance.base.model import Category
from concordance.query.descriptions import describe
from concordance.query.folders import Folder, folders
from concordance.query.folders.description import describe_folder, made_of, names_of
from concordance.query.index.counts.ledger import ledger, size_of
from concordance.query.index.repository import Index


def folder_ref(folder: str, label: str = "") -> Ref:
    """A link to the index of a folder."""
    return Ref(To.INDEX, folder, "", label or folder or "/")


def subfolders(index: Index, paths: Sequence[str]) -> Table:
    """Folders with how much lies below each, and a line about it."""
    rows: list[list[Pieces]] = []
    for path in paths:
        folder = folders(index).all[path]
        rows.append(
            [
                [folder_ref(path, folder.name)],
                [f"{folder.count:,}"],
                [f"{folder.lines:,}"],
                describe_folder(index, path),
            ]
        )
    return Table(["Folder", "Files", "Lines", "What it is"], rows)


def files(index: Index, paths: Sequence[str]) -> Table:
    """Files with their sizes, and a line about each."""
    rows: list[list[Pieces]] = []
    known = ledger(index).files
    for path in paths:
        file = known[path]
        much = f"{file.lines:,}" if file.lines or not file.size else size_of(file.size)
        rows.append([[Ref(To.FILE, path, "", path.rpartition("/")[2])], [much], describe(index, path)])
    return Table(["File", "Lines", "What it is"], rows)


def amount(folder: Folder) -> list[Piece]:
    """How much lies in a folder: `135 files below it, 32,855 lines: 134 Python files and 1 document`."""
    much = size_of(folder.size) if not folder.lines else counted(folder.lines, "line")
    made = made_of(folder)
    one = len(folder.nouns) == 1
    found: list[Piece] = [f"{made}, {much}" if one else f"{counted(folder.count, 'file')}, {much}: {made}"]
    if folder.folders and folder.files:
        inside = counted(len(folder.files), "file")
        found.append(f", {inside} directly in it, the others in {counted(len(folder.folders), 'subfolder')}")
    elif folder.folders:
        found.append(f", all in {counted(len(folder.folders), 'subfolder')}")
    if folder.tests:
        found.append(f"; {counted(folder.tests, 'test')}")
    return found


def overview(index: Index, folder: str) -> list[Block]:
    """What a folder says of itself, and how much there is of it."""
    one = folders(index).all[folder]
    words = describe_folder(index, folder)
    blocks: list[Block] = []
    if words and words[0] == "“":
        blocks.append(Text([Mono(folder), ": ", *words]) if folder else Text(words))
    names = names_of(index, one, 5)
    blocks.append(Text([*amount(one), ".", *([" Others use most: ", *listed(names), "."] if names else [])]))
    special = [word for word, category in _SPECIAL if one.mostly(category)]
    if special:
        blocks.append(Text([special[0]]))
    return blocks


_SPECIAL = (
    ("Most of it is made by programs: change what makes it.", Category.GENERATED),
    ("Most of it is another project's, kept here as a copy.", Category.VENDORED),
)


def cross_references(page: Ref, chapter: str = "") -> list[Block]:
    """The other pages of a folder."""
    folder = page.path
    up = folder.rpartition("/")[0]
    items = [
        ("Folder Index", Ref(To.INDEX, folder, "", _file(folder, "index.md"))),
        ("Folder Documentation", Ref(To.FOLDER, folder, "", _file(folder, "doc.md"))),
        ("Subtree Keyword Index", Ref(To.SUBTREE, folder, "", _file(folder, "sub.md"))),
    ]
    if folder:
        items.append(("Parent Folder", Ref(To.INDEX, up, "", _file(up, "index.md"))))
    if chapter:
        items.append(("Book Chapter", Ref(To.BOOK, chapter, "", chapter)))
    return [Items([Item([Strong(name), ": ", ref]) for name, ref in items if ref.to != page.to or ref.path != folder])]


def _file(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
