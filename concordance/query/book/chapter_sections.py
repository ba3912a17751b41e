"""The sections of a chapter: the folder's role, dependencies, key definitions, important files and reading path.

In: an index and a chapter of the plan. Out: blocks. While a folder's page covers everything below the folder, a chapter
covers its own files only: those of its folder and of the subfolders that have no chapter of their own.

Key definitions are those that most files use, with their authors' first sentence; if several definitions share a name,
only the most used one is listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from concordance.base.blocks import (
    Block,
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
from concordance.base.model import TYPE_KINDS, Category, Kind
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import BELOW, FILE_USES, memoised, shared_until
from concordance.query.book.chapters import Chapter, plan
from concordance.query.book.document_order import documents_in_order
from concordance.query.book.key_definitions import KeyDefinition, key_definitions_of_files
from concordance.query.book.reading_paths import chapter_path
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.folders.contents import folder_ref
from concordance.query.folders.description import author_blocks, describe_folder
from concordance.query.folders.folder_tree import Folder, folders
from concordance.query.folders.maintenance import maintenance_blocks
from concordance.query.folders.project_name import name_of
from concordance.query.folders.sections import dependency_diagram, important_table
from concordance.query.folders.terms import distinctive_terms
from concordance.query.index.file_model import ref_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

_TYPES = TYPE_KINDS | {Kind.TYPE}
_MAX_KEY_DEFINITIONS = 24  # key definitions listed
_MAX_FILES = 8
_NEIGHBOURS = 8  # chapters named in a sentence on dependencies
_DOCUMENTS = 8
_SIGNATURE = 100  # characters up to which a signature is shown in a table
_MIN_USES_DIVISOR = 50  # a chapter with fewer uses than the first one's divided by this is not named


def label_of(index: Index, chapter: Chapter) -> Mono:
    """Return the label of a chapter."""
    return Mono(chapter.folder or f"{name_of(index)} (root)")


def chapter_ref(index: Index, chapter: Chapter) -> Ref:
    """Return a link to a chapter."""
    return Ref(To.BOOK, chapter.name, "", label_of(index, chapter))


def chapter_blocks(index: Index, chapter: Chapter) -> list[Block]:
    """Return all sections of one chapter."""
    folder = folders(index).all[chapter.folder]
    blocks: list[Block] = [Heading(2, ["Role"]), *_role(index, chapter, folder)]
    documents = documents_in_order(index, chapter)
    if documents:
        blocks += [Heading(2, ["Documents in Order"]), *documents]
    terms = distinctive_terms(index, chapter.folders)
    below = _inner_chapters(index, chapter)
    if terms or below:
        blocks += [Heading(2, ["Key Concepts"]), *terms, *below]
    rows = key_definitions_of_chapter(index, chapter.folder)
    if rows:
        blocks += [Heading(2, ["Classes and Functions to Know"]), *_definition_tables(index, rows)]
    drawn = dependency_diagram(index, folder)
    if drawn:
        blocks += [Heading(2, ["How It Is Organized"]), *drawn]
    central = folders(index).most_central(chapter.folders, _MAX_FILES)
    if central:
        blocks += [Heading(2, ["Important Files"]), important_table(index, central, chapter.folder)]
    way = chapter_path(index, chapter, label_of(index, chapter))
    if way:
        blocks += [Heading(2, ["Reading Path"]), *way]
    if chapter.sections:
        blocks += [Heading(2, ["Sections"]), *_sections(index, chapter)]
    tests = maintenance_blocks(index, chapter.folders)
    if tests:
        blocks += [Heading(2, ["Tests, Build and Owners"]), *tests]
    return [*blocks, Heading(2, ["Further Reading"]), *_further_links(index, chapter)]


# --- role


def _role(index: Index, chapter: Chapter, folder: Folder) -> list[Block]:
    words = author_blocks(index, chapter.folder) if chapter.folder else [Text([*chapter_summary(index, chapter), "."])]
    blocks: list[Block] = [*words] if words else [Text(as_sentence(describe_folder(index, chapter.folder)))]
    text: list[Piece] = [f"The chapter covers {count_noun(len(chapter.files), 'file')}"]
    if len(chapter.files) < folder.count:
        left = folder.count - len(chapter.files)
        theirs = "has its own chapter" if left == 1 else "have their own chapters"
        text.append(f" ({count_noun(left, 'other file')} below it {theirs})")
    text.append(f" with {count_noun(chapter.lines, 'line')} of hand-written text." if chapter.lines else ".")
    blocks.append(Text(text))
    blocks += dependency_sentences(index, chapter)
    return blocks


def dependency_sentences(index: Index, chapter: Chapter) -> list[Block]:
    """Return a sentence on the chapters that a chapter depends on, and one on those that use it."""
    book_plan = plan(index)
    blocks: list[Block] = []
    for head, neighbours in (
        ("Depends on", book_plan.uses(chapter.folder)),
        ("Used by", book_plan.users(chapter.folder)),
    ):
        rows = [
            row
            for row in neighbours
            if row[0] in book_plan.chapters and _is_plausible(index, head, chapter.folder, row[0])
        ]
        listed = [row for row in rows if row[1] >= max(2, rows[0][1] // _MIN_USES_DIVISOR)] or rows[:1]
        if listed:
            shown = listed[: _NEIGHBOURS + (len(listed) == _NEIGHBOURS + 1)]
            left = len(listed) - len(shown)
            pieces: list[Piece] = []
            for number, (folder, times) in enumerate(shown):
                last = number == len(shown) - 1 and not left
                pieces += [", " if number and not last else " and " if number else ""]
                pieces += [chapter_ref(index, book_plan.chapters[folder]), f" ({times:,})"]
            if left:
                pieces.append(f" and {count_noun(left, 'other chapter')}")
            blocks.append(Text([Strong(head), ": ", *pieces, "."]))
    return blocks


def _is_plausible(index: Index, head: str, chapter: str, neighbour: str) -> bool:
    """False for uses of tests by code that is not a test: those are only coincidences of names."""
    by_path = folders(index).all
    user, used = (chapter, neighbour) if head == "Depends on" else (neighbour, chapter)
    return by_path[user].mostly(Category.TEST) or not by_path[used].mostly(Category.TEST)


# --- key definitions and sections


@memoised(256, BELOW)
def key_definitions_of_chapter(index: Index, folder: str) -> list[KeyDefinition]:
    """Return the definitions of a chapter that most files use."""
    return key_definitions_of_files(index, plan(index).chapters[folder].files, _MAX_KEY_DEFINITIONS)


def _definition_tables(index: Index, rows: Sequence[KeyDefinition]) -> list[Block]:
    """Return a table of classes and types, and one of functions and macros, most used first."""
    blocks: list[Block] = []
    for word, chosen in (
        ("Class or type", [row for row in rows if row.kind in _TYPES]),
        ("Function or macro", [row for row in rows if row.kind not in _TYPES]),
    ):
        if chosen:
            cells: list[list[Pieces]] = [
                [[ref_of(index, row.id)], [f"{row.times:,}"], row.words or _signature_cell(row)]
                for row in chosen
            ]  # fmt: skip
            blocks.append(Table([word, "Used in files", "What it is"], cells))
    return blocks


def _signature_cell(row: KeyDefinition) -> list[Piece]:
    """Return a definition's signature or kind, and its file, for one without documentation."""
    signature = [Mono(row.signature), " in "] if 0 < len(row.signature) <= _SIGNATURE else [f"{row.kind} in "]
    return [*signature, Ref(To.FILE, row.path, "", row.path.rpartition("/")[2])]


def _inner_chapters(index: Index, chapter: Chapter) -> list[Block]:
    """Return the list of chapters about folders below this one."""
    book_plan = plan(index)
    start = f"{chapter.folder}/"
    if not chapter.folder:
        return []
    rows = [inner for inner in book_plan.ordered if inner.folder.startswith(start)]
    if not rows:
        return []
    items = [Item([chapter_ref(index, row), ": ", *describe_folder(index, row.folder)]) for row in rows]
    return [Text(["Parts with their own chapters:"]), Items(items)]


def _sections(index: Index, chapter: Chapter) -> list[Block]:
    """Return a table of the subfolders that have no chapter of their own."""
    rows: list[list[Pieces]] = []
    for path in chapter.sections:
        folder = folders(index).all[path]
        label = path[len(chapter.folder) + 1 :] if chapter.folder else path
        own = [file for file in folder.files if ledger(index).files[file].lines]
        if not own and len(folder.folders) <= 1:
            continue  # a folder that only leads to another one
        rows.append([[folder_ref(path, label)], [f"{len(folder.files):,}"], describe_folder(index, path)])
    return [Table(["Folder", "Files in it", "What it is"], rows)] if rows else []


# --- further reading


@shared_until(Aspect.DISPLAY_NAMES, FILE_USES)
def _documents_by_path(index: Index) -> dict[str, list[str]]:
    """Return, by path, the documents that name a file."""
    documents: dict[str, list[str]] = {}
    for file, path, _, category in index.file_rows:
        for target in index.neighbours.all_uses.get(file, ()) if category == Category.DOCUMENTATION else ():
            documents.setdefault(index.path_of_file(target), []).append(path)
    return documents


def _further_links(index: Index, chapter: Chapter) -> list[Block]:
    """Return links to documents in the chapter and about its files, its pages, and the previous and next chapter."""
    known = ledger(index).files
    documents = [path for path in chapter.files if known[path].category == Category.DOCUMENTATION and known[path].lines]
    inside = set(documents)
    naming = _documents_by_path(index)
    named = chain.from_iterable(naming[path] for path in chapter.files if path in naming)
    about = Counter(path for path in named if path not in inside)
    items: list[Item] = []
    near = [path for path in documents if path.rpartition("/")[0] == chapter.folder] or documents
    if near and len(near) <= 2 * _DOCUMENTS:
        items.append(Item([Strong("Documents in it"), ": ", *join_in_sentence([Ref(To.FILE, path) for path in near])]))
    best = sorted(about.items(), key=lambda row: (-row[1], row[0]))[:_DOCUMENTS]
    if best:
        items.append(
            Item(
                [
                    Strong("Documents that mention it most"),
                    ": ",
                    *join_in_sentence([Ref(To.FILE, path) for path, _ in best]),
                ]
            )
        )
    pages: list[Piece] = [
        Ref(To.INDEX, chapter.folder, "", "index", False), Ref(To.FOLDER, chapter.folder, "", "documentation", False),
        Ref(To.SUBTREE, chapter.folder, "", "keywords", False),
    ]  # fmt: skip
    items.append(Item([Strong("Its pages"), ": ", *join_in_sentence(pages)]))
    ordered = plan(index).ordered
    at = ordered.index(chapter)
    if at:
        items.append(Item([Strong("Previous"), ": ", chapter_ref(index, ordered[at - 1])]))
    if at + 1 < len(ordered):
        items.append(Item([Strong("Next"), ": ", chapter_ref(index, ordered[at + 1])]))
    items.append(Item([Strong("Contents"), ": ", Ref(To.BOOK, "", "", "comprehensive_book.md")]))
    return [Items(items)]


def size_in_words(index: Index, chapter: Chapter) -> str:
    """Return the size of a chapter in words."""
    file_count = folders(index).all[chapter.folder].count
    files, lines = count_noun(len(chapter.files), "file"), count_noun(chapter.lines, "line")
    if chapter.folder and len(chapter.files) < file_count:  # the chapter's description speaks of the whole folder
        files = f"{len(chapter.files):,} of the folder's {count_noun(file_count, 'file')}"
    return f"{files}, {lines}" if chapter.lines else files


def chapter_summary(index: Index, chapter: Chapter) -> list[Piece]:
    """Return a one-line description of a chapter."""
    if chapter.folder:
        return [*describe_folder(index, chapter.folder)]
    below = [path for path in chapter.files if "/" in path]
    tops = list(dict.fromkeys(path.partition("/")[0] for path in below))
    return [
        f"{count_noun(len(chapter.files) - len(below), 'file')} at the root",
        *([f" and {len(below):,} in ", *join_in_sentence([Mono(top) for top in tops])] if tops else []),
    ]
