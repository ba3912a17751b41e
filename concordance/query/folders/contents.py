"""Blocks about the contents of a folder: tables of subfolders and files, totals, and links to its other pages.

In: an index and a folder. Out: tables and sentences shared by the folder's index, its page and its chapter.
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
    count_noun,
    format_size,
    join_in_sentence,
)
from concordance.base.model import Category
from concordance.query.descriptions.files import describe
from concordance.query.folders.description import describe_folder, file_counts_in_words, most_used_names
from concordance.query.folders.folder_tree import Folder, folders
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index


def folder_ref(folder: str, label: str = "") -> Ref:
    """Return a link to the index of a folder."""
    return Ref(To.INDEX, folder, "", label or folder or "/")


def folder_table(index: Index, paths: Sequence[str]) -> Table:
    """Return a table of folders with their totals and a one-line description of each."""
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


def file_table(index: Index, paths: Sequence[str]) -> Table:
    """Return a table of files with their sizes and a one-line description of each."""
    rows: list[list[Pieces]] = []
    known = ledger(index).files
    for path in paths:
        file = known[path]
        much = f"{file.lines:,}" if file.lines or not file.size else format_size(file.size)
        rows.append([[Ref(To.FILE, path, "", path.rpartition("/")[2])], [much], describe_in_row(index, path)])
    return Table(["File", "Lines", "What it is"], rows)


def describe_in_row(index: Index, path: str) -> list[Piece]:
    """Return the description of a file for a table whose rows link their files: its own definitions are not linked,
    because the page of the file begins with them."""
    return [
        Mono(piece.label)
        if isinstance(piece, Ref) and piece.to == To.SYMBOL and piece.path == path and piece.code
        else piece
        for piece in describe(index, path)
    ]


def totals_in_words(folder: Folder) -> list[Piece]:
    """Return the totals of a folder in words: `135 files, 32,855 lines: 134 Python files and 1 document`."""
    much = format_size(folder.size) if not folder.lines else count_noun(folder.lines, "line")
    counts = file_counts_in_words(folder)
    one = len(folder.nouns) < 2
    words: list[Piece] = [f"{counts}, {much}" if one else f"{count_noun(folder.count, 'file')}, {much}: {counts}"]
    if folder.folders and folder.files:
        inside = count_noun(len(folder.files), "file")
        words.append(f", {inside} directly in it, the others in {count_noun(len(folder.folders), 'subfolder')}")
    elif folder.folders:
        words.append(f", all in {count_noun(len(folder.folders), 'subfolder')}")
    if folder.tests:
        words.append(f"; {count_noun(folder.tests, 'test')}")
    return words


def folder_overview(index: Index, folder: str) -> list[Block]:
    """Return the folder's own description, its totals and its most used definitions."""
    content = folders(index).all[folder]
    words = describe_folder(index, folder)
    blocks: list[Block] = []
    if words and words[0] == "“":
        blocks.append(Text([Mono(folder), ": ", *words]) if folder else Text(words))
    names = most_used_names(index, content, 5)
    blocks.append(
        Text([*totals_in_words(content), ".", *([" Most used: ", *join_in_sentence(names), "."] if names else [])])
    )
    special = [word for word, category in _SPECIAL if content.mostly(category)]
    if special:
        blocks.append(Text([special[0]]))
    return blocks


_SPECIAL = (
    ("Most of it is generated: change the generator instead.", Category.GENERATED),
    ("Most of it is a vendored copy of another project.", Category.VENDORED),
)


def cross_references(page: Ref, chapter: str) -> list[Block]:
    """Return links to the other pages of a folder."""
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
