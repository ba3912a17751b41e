"""The repository as a whole: its name, its own description, its layout, and where to start reading.

In: an index. Out: the blocks of the root's index. Exact totals of the whole repository appear only here and in the
report.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Heading,
    Mono,
    Piece,
    Pieces,
    Ref,
    Table,
    Text,
    To,
    count_noun,
)
from concordance.base.model import Category, Kind
from concordance.query.descriptions.document_opening import DocumentOpening, read_opening
from concordance.query.descriptions.files import describe
from concordance.query.folders.contents import folder_table
from concordance.query.folders.description import file_counts_in_words
from concordance.query.folders.folder_tree import UNREAD, Folder, folder_definitions, folders
from concordance.query.folders.front_page import (
    build_and_test,
    concepts,
    parts_table,
    tests_in_words,
    where_to_start,
)
from concordance.query.folders.project_name import name_of, readme_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

_CENTRAL = 12
_NOT_DEFINED = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, Kind.NAMESPACE, Kind.MODULE))


def readme_opening(index: Index) -> DocumentOpening | None:
    """Return the opening of the root's README, None if there is none."""
    path = readme_of(index)
    return read_opening(index, path) if path else None


def root_index(index: Index) -> Iterator[Block]:
    """Yield what the repository is, how it is laid out, and where to start."""
    root = folders(index).all[""]
    yield Heading(2, ["Overview"])
    words = readme_opening(index)
    if words is not None:
        yield Text([Ref(To.FILE, words.path), " opens:", words.cite()])
        yield words.block()
    if not root.count:
        yield Text(["The repository has no files."])
        return
    whole = ledger(index).whole_tests
    tests = f" and {tests_in_words(root.tests, whole)}" if root.tests or whole else ""
    kinds = folder_definitions(index).all[""].kinds
    symbols = sum(number for kind, number in kinds.items() if kind not in _NOT_DEFINED)
    yield Text(
        [f"{count_noun(root.count, 'file')}, {count_noun(root.lines, 'line')}: {file_counts_in_words(root)}.",
         f" They hold {count_noun(symbols, 'definition')}{tests}." if symbols or tests else "", _unread(root)]
    )  # fmt: skip
    parts, ideas, building = parts_table(index), concepts(index), build_and_test(index)
    if parts:
        yield Heading(2, ["Main Parts"])
        yield from parts
    if ideas:
        yield Heading(2, ["Core Concepts"])
        yield from ideas
    yield Heading(2, ["Where to Start"])
    yield from where_to_start(index)
    if building:
        yield Heading(2, ["Building and Testing"])
        yield from building
    if root.folders:
        yield Heading(2, ["Subfolders"])
        yield folder_table(index, sorted(root.folders, key=lambda path: path.startswith(".")))
    yield Heading(2, ["Languages"])
    yield languages(index)
    central = central_files(index)
    if central.rows:
        yield Heading(2, ["Most Central Files"])
        yield Text(["Ranked by how often a reader following uses from file to file would arrive at them."])
        yield central


def _unread(root: Folder) -> str:
    """Return a sentence that the language of most lines is not analysed; "" if it is."""
    name = max(root.language_lines, key=lambda name: (root.language_lines[name], name), default="")
    return f" {name.removesuffix(UNREAD)} is recognised but not analysed." if name.endswith(UNREAD) else ""


def languages(index: Index) -> Table:
    """Return a table of languages by number of lines."""
    root = folders(index).all[""]
    total = sum(root.language_lines.values()) or 1
    rows: list[list[Pieces]] = []
    for name, lines in sorted(root.language_lines.items(), key=lambda row: (-row[1], row[0])):
        share = 100 * lines / total
        rows.append(
            [[name], [f"{root.languages[name]:,}"], [f"{lines:,}"], [f"{share:.1f} %" if share >= 0.1 else "< 0.1 %"]]
        )
    return Table(["Language", "Files", "Lines", "Share"], rows)


def central_files(index: Index) -> Table:
    """Return a table of the most central files that others use, with how many do: source, if there is any."""
    rows: list[list[Pieces]] = []
    for path in folders(index).central("", _CENTRAL, Category.SOURCE) or folders(index).central("", _CENTRAL):
        users = len(index.neighbours.users_of(index.file_id(path)))
        if users:
            rows.append([[Ref(To.FILE, path)], [f"{users:,}"], describe(index, path)])
    return Table(["File", "Used by files", "What it is"], rows)


def title_of(index: Index) -> Piece:
    """Return the repository's name for use in titles."""
    return Mono(name_of(index))
