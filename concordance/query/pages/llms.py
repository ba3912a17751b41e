"""`llms.txt`: an entry point for language models, in the form that llmstxt.org describes.

In: an index. Out: one page: the repository's name and description, then links to pages in Markdown, each with the size
of what it describes: the book's chapters in reading order, then the top-level folders. A reader decides by the sizes
what to load. Programs split this file at its headings and take each line below one for a link, so nothing but links
stands there, and the sentence that tells who wrote the file is the last link's description.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Pieces,
    Quote,
    Ref,
    Text,
    To,
    count_noun,
)
from concordance.base.version import VERSION
from concordance.collect.own_output import SIGNATURE
from concordance.facts.updates.reads import ANYTHING
from concordance.query.book import chapter_sections
from concordance.query.book.chapters import GLOSSARY, PATHS, plan
from concordance.query.folders.description import describe_folder, file_counts_in_words
from concordance.query.folders.folder_tree import Folder, folders
from concordance.query.folders.project_name import name_of
from concordance.query.index.repository import Index

TO = To.LLMS  # what links to this page say


def subjects(index: Index) -> list[str]:
    """Return "": there is one page."""
    return [""]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page."""
    index.reads.note(ANYTHING, "")
    yield Page(Ref(To.LLMS, ""), [name_of(index)], list(_blocks(index)))


def _blocks(index: Index) -> Iterator[Block]:
    root = folders(index).all[""]
    yield Quote([Text([_plain_text(describe_folder(index, "")) or count_noun(root.count, "file")])])
    yield Text([
        f"{_size(root)}: {file_counts_in_words(root)}. Every file, folder and name is documented from its source, with "
        "file and line. A link is followed by the size of what its page describes. The page of a file is at its path "
        "with ", Mono("_docs.md"), " appended, that of a folder at its path with ", Mono("/doc.md"), "."
    ])  # fmt: skip
    yield Heading(2, ["Start"])
    yield Items([
        _link("Contents", Ref(To.INDEX, ""), "what the repository is, how it is laid out, where to start"),
        _link("Book", Ref(To.BOOK, ""), "all chapters, in reading order"),
        _link("Reading paths", Ref(To.BOOK, PATHS), "which files to read for each chapter, in which order"),
        _link("Glossary", Ref(To.BOOK, GLOSSARY), "terms and acronyms in the repository's own words"),
    ])  # fmt: skip
    yield Heading(2, ["Chapters"])
    yield Items([
        _link(
            chapter.folder or name_of(index), Ref(To.BOOK, chapter.name),
            f"{chapter_sections.size_in_words(index, chapter)}. "
            f"{_plain_text(chapter_sections.chapter_summary(index, chapter))}",
        )
        for chapter in plan(index).ordered
    ])  # fmt: skip
    if root.folders:
        yield Heading(2, ["Folders"])
        inner = [folders(index).all[path] for path in root.folders]
        yield Items([
            _link(
                folder.path,
                Ref(To.INDEX, folder.path),
                f"{_size(folder)}. {_plain_text(describe_folder(index, folder.path))}",
            )
            for folder in inner
        ])  # fmt: skip
    yield Heading(2, ["Optional"])  # by the convention: may be left out if a shorter context is needed
    report = f"what was read, what was not, and what does not resolve. {SIGNATURE} {VERSION}"
    yield Items([
        _link("Keywords", Ref(To.LETTERS, ""), "every name from A to Z"),
        _link("Checks", Ref(To.REPORT, ""), report),
    ])  # fmt: skip


def _link(label: str, ref: Ref, description: str) -> Item:
    return Item([ref._replace(label=label, code=False), f": {description}"])


def _size(folder: Folder) -> str:
    return f"{count_noun(folder.count, 'file')}, {count_noun(folder.lines, 'line')}"


def _plain_text(pieces: Pieces) -> str:
    """Return the plain text of pieces, on one line."""
    words = []
    for piece in pieces:
        if isinstance(piece, Ref):
            words.append(piece.label or piece.at or piece.path)
        elif isinstance(piece, Line):
            words.append(piece.label)
        elif isinstance(piece, str):
            words.append(piece)
    return " ".join("".join(words).split())
