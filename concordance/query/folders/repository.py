"""The repository as a whole: its name, its own description, its layout, and where to start reading.

In: an index. Out: the blocks of the root's index. Exact totals of the whole repository appear only here and in the
report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Code,
    Heading,
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
    join_in_sentence,
)
from concordance.base.model import Category
from concordance.query.descriptions import describe
from concordance.query.descriptions.document_opening import DocumentOpening, read_opening
from concordance.query.folders import folders
from concordance.query.folders.contents import folder_table
from concordance.query.folders.description import file_counts_in_words
from concordance.query.folders.project_name import name_of, readme_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

_BUILDS = (
    "pyproject.toml", "setup.py", "setup.cfg", "CMakeLists.txt", "Makefile", "package.json", "Cargo.toml", "go.mod",
    "BUILD.bazel", "WORKSPACE", "pom.xml", "build.gradle", "build.gradle.kts", "meson.build", "configure.ac", "Kconfig",
    "Dockerfile", "environment.yml", "requirements.txt", "tox.ini",
)  # fmt: skip
_GUIDES = re.compile(r"(?:readme|contributing|architecture|hacking|install|security|changelog|glossary)[^/]*$", re.I)
_CENTRAL = 12
_TESTS = 3


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
    tests = f" and {count_noun(root.tests, 'test')}" if root.tests else ""
    symbols = index.census.symbol_counts[""]
    yield Text(
        [f"{count_noun(root.count, 'file')}, {count_noun(root.lines, 'line')}: {file_counts_in_words(root)}. "
         f"They define {count_noun(symbols, 'name')}{tests}."]
    )  # fmt: skip
    yield Heading(2, ["Where to Start"])
    yield from where_to_start(index)
    if root.folders:
        yield Heading(2, ["Subfolders"])
        yield folder_table(index, root.folders)
    yield Heading(2, ["Languages"])
    yield languages(index)
    yield Heading(2, ["Most Central Files"])
    yield Text(["Ranked by how often a reader following uses from file to file would arrive at them."])
    yield central_files(index)


def where_to_start(index: Index) -> list[Block]:
    """Return links to what a reader opens first: documents, the book, build files and tests."""
    root = folders(index).all[""]
    items: list[Item] = []
    guides = [path for path in root.files if _GUIDES.match(path)]
    guides.sort(key=lambda path: (not path.lower().startswith("readme"), path))
    if guides:
        items.append(Item([Strong("Read"), ": ", *join_in_sentence([Ref(To.FILE, path) for path in guides])]))
    items.append(
        Item([Strong("The book"), ": ", Ref(To.BOOK, "", "", "comprehensive_book.md"),
              ", chapters in reading order; ", Ref(To.LETTERS, "", "", "keywords.md"),
              ", every name from A to Z; ", Ref(To.REPORT, "", "", "verification_report.md"),
              ", which files were read and which were not"])
    )  # fmt: skip
    docs = [path for path in root.folders if folders(index).all[path].mostly(Category.DOCUMENTATION)]
    if docs:
        items.append(
            Item([Strong("Documents"), ": ", *join_in_sentence([Ref(To.INDEX, path, "", path) for path in docs])])
        )
    builds = [path for path in _BUILDS if path in ledger(index).files]
    if builds:
        items.append(Item([Strong("Build"), ": ", *join_in_sentence([Ref(To.FILE, path) for path in builds])]))
    blocks: list[Block] = []
    commands = _commands(index)
    if commands:
        where = [path for path in root.folders if folders(index).all[path].mostly(Category.TEST)]
        more: list[Piece] = (
            [" in ", *join_in_sentence([Ref(To.INDEX, path, "", path) for path in where])] if where else []
        )
        items.append(Item([Strong("Tests"), f": {count_noun(root.tests, 'test')}", *more, "; to run one file:"]))
        blocks.append(Code("\n".join(commands) + "\n", "bash"))
    return [Items(items), *blocks]


def _commands(index: Index) -> list[str]:
    """Return the commands that run the files with the most tests, one per language."""
    found: dict[str, str] = {}
    counts = ledger(index).tests
    for path, _ in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        language = index.language_of(path)
        if language not in found:
            command = index.runners.command(path, language, "")
            if command:
                found[language] = command
        if len(found) == _TESTS:
            break
    return list(found.values())


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
    """Return a table of the most central files, with how many files use each."""
    rows: list[list[Pieces]] = []
    for path in folders(index).central("", _CENTRAL):
        users = len(index.neighbours.users.get(index.file_id(path), ()))
        rows.append([[Ref(To.FILE, path)], [f"{users:,}"], describe(index, path)])
    return Table(["File", "Used by files", "What it is"], rows)


def title_of(index: Index) -> Piece:
    """Return the repository's name for use in titles."""
    return Mono(name_of(index))
