"""The page of a file: its metadata, purpose, source, structure, dependencies, tests and related files.

In: a path. Out: one page, and further pages if the source is too large for one. Each section is a plug-in in
`query/sections/file_page`; the source and the structure have fixed places among them. A section of ours without content
says so in one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from concordance.base.blocks import (
    Block,
    Cite,
    Code,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.kinds import Section
from concordance.base.model import FileHistory, Skip
from concordance.extract.registry import is_prose, language_of
from concordance.query.book.chapters import chapter_of
from concordance.query.index.file_model import FileModel, model_of
from concordance.query.index.history import file_history
from concordance.query.index.ledger import files_identical_to, is_empty
from concordance.query.index.repository import Index
from concordance.query.markup.documents.rendered import document_blocks, document_parts
from concordance.query.search.absence import not_analysed, skip_reason
from concordance.query.sections.file_page import sections
from concordance.query.sections.file_page.dependencies import BRIDGES_PART, bridge_parts
from concordance.query.sections.licences import licence
from concordance.query.sections.owner_notes import describe_owner, notes_section
from concordance.query.sections.section_order import titles
from concordance.query.sections.structure import Structure
from concordance.query.sections.tested_by import TESTS_PART, tests_page

TO = To.FILE  # what links to these pages say

LARGEST = 280_000  # characters of source and structure on one page, so that browsers and editors open it at once
_MAX_COPIES = 3  # identical files that are listed one by one
_PER_SYMBOL = 280  # characters that a page spends on one symbol, on average


def subjects(index: Index) -> list[str]:
    """Return every file of the ledger."""
    return [row[1] for row in index.file_rows]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page of a file, then what is too large for it: the list of its tests, and the parts of its source."""
    model = model_of(index, subject)
    text = model.opened.text() if model.file.skip == Skip.NONE else None
    taken = sum(len(piece) for part in document_parts(model) for piece in part.text if isinstance(piece, str))
    taken += len(model.symbols) * _PER_SYMBOL
    has_source = index.book.source and next(iter(files_identical_to(index, subject)), subject) == subject
    parts = _split_source(text, taken) if text is not None and has_source else []
    tests = tests_page(model)
    links = bridge_parts(model) if Section.DEPENDENCIES.value not in index.book.sections_off else []
    # Links to tests and to bridges are made where the number of other further pages is not known.
    first = BRIDGES_PART + len(links) if links else TESTS_PART + 1 if tests else TESTS_PART
    blocks = _blocks(model, text, range(first, first + len(parts)))
    yield Page(Ref(To.FILE, subject), ["Documentation: ", Mono(subject)], blocks)
    if tests:
        yield tests
    for number, blocks in enumerate(links):
        yield _part(model, BRIDGES_PART + number, f"across languages, part {number + 1} of {len(links)}", blocks)
    fence = fence_language(model.file.language)
    for number, part in enumerate(parts):
        yield _part(model, first + number, f"source, part {number + 1} of {len(parts)}", [Code(part, fence)])


def _blocks(model: FileModel, text: str | None, parts: range) -> list[Block]:
    blocks: list[Block] = [*document_blocks(model), Heading(2, ["File Metadata"]), Items(list(_metadata(model)))]
    blocks += notes_section(model.index, model.path)
    by_section = sections(model)
    if is_empty(model.file):
        return [*blocks, *_of_empty_file(model, by_section), Heading(2, ["Cross-References"]), _cross_references(model)]
    for title in titles():
        if title in by_section:
            blocks += [Heading(2, [title]), *by_section[title]]
        if title == Section.PURPOSE.value:
            blocks += [Heading(2, ["Original Source"]), *_source(model, text, parts)]
        elif title == Section.OVERVIEW.value:
            blocks += [Heading(2, ["Detailed Analysis"]), Heading(3, ["Code Structure"]), *_structure(model)]
    blocks += [Heading(2, ["Cross-References"]), _cross_references(model)]
    return blocks


def _of_empty_file(model: FileModel, by_section: dict[str, list[Block]]) -> Iterator[Block]:
    """Yield what an empty file is for, and what refers to it; the rest is the same for all empty files."""
    shown = [Section.PURPOSE, Section.DESIGN]
    if model.importers:
        shown = [Section.PURPOSE, Section.OVERVIEW, Section.DESIGN, Section.DEPENDENCIES]
    for section in shown:
        if section.value in by_section:
            yield Heading(2, [section.value])
            yield from by_section[section.value]
        if section is Section.PURPOSE:
            yield Text([Ref(To.EMPTY, "", "", "All empty files", False)])


def _metadata(model: FileModel) -> Iterator[Item]:
    file, metrics = model.file, model.facts.metrics
    name = model.path.rpartition("/")[2]
    dot = name.rfind(".")
    yield _field("Path", Ref(To.SOURCE, model.path, "", model.path))
    yield _field("Size", Cite(model.path), f"{count_noun(file.size, 'byte')} ({file.size / 1024:.2f} KB)")
    yield _field("Type", file.type)
    yield _field("Extension", Mono(name[dot:].lower()) if dot > 0 else "none")
    if file.language:
        yield _field("Language", language_of(file.language).title)
    if file.skip == Skip.NONE:
        word = "text" if is_prose(file.language) else "code"
        parts = [(metrics.code, word), (metrics.comment, "comment"), (metrics.blank, "blank")]
        counts = ", ".join(f"{number:,} {word}" for number, word in parts if number)
        yield _field("Lines", f"{file.lines:,} ({counts})" if counts else f"{file.lines:,}")
        yield _field("Encoding", file.encoding)
    yield _field("Category", file.category)
    stated = licence(model)
    if stated is not None and stated.line:
        yield _field("Licence", stated.name, " ", Line(model.path, stated.line))
    people = describe_owner(model.index, model.path)
    if people is not None:
        yield _field("Owner", *people)
    if file.digest:
        yield _field("Digest", Mono(file.digest))
    same = [path for path in files_identical_to(model.index, model.path) if path != model.path]
    if same:
        refs: list[Piece] = [Ref(To.FILE, path) for path in same[:_MAX_COPIES]]
        left = len(same) - len(refs)
        more = count_noun(left, "other file")
        refs += [more if model.index.of_pages else Ref(To.EMPTY, "", "identical", more, False)] if left else []
        yield _field("Identical to", *join_in_sentence(refs))
    if model.index.book.history:
        yield from _history(model)


def _field(name: str, *pieces: Piece) -> Item:
    return Item([Strong(name), ": ", *pieces])


def _history(model: FileModel) -> Iterator[Item]:
    change = file_history(model.index, model.path)
    if change is not None:
        yield _field("Changes", _history_line(change))


def _source(model: FileModel, text: str | None, parts: range) -> Iterator[Block]:
    file = model.file
    if file.skip != Skip.NONE:
        yield Text([Ref(To.SOURCE, model.path, "", model.path), f": {skip_reason(file)}"])
    elif text is None:
        yield Text([Ref(To.SOURCE, model.path, "", model.path), " has changed since it was read."])
    elif not text:
        yield Text(["Empty."])
    elif not model.index.book.source:
        yield Text([Ref(To.SOURCE, model.path, "", model.path)])
    elif (first := next(iter(files_identical_to(model.index, model.path)), model.path)) != model.path:
        yield Text(["The same as that of ", Ref(To.FILE, first), ", byte for byte."])
    elif not parts:
        yield Code(text, fence_language(file.language))
    else:
        refs: list[Piece] = []
        for number, part in enumerate(parts, 1):
            refs += [", " if refs else "", Ref(To.FILE, model.path, "", f"part {number}", False, part)]
        pages_ = "a page of its own" if len(parts) == 1 else f"{len(parts)} pages"
        yield Text([f"The source ({file.size:,} bytes) is too large for this page and is on {pages_}: ", *refs])


def _part(model: FileModel, number: int, what: str, blocks: list[Block]) -> Page:
    back = Text([Ref(To.FILE, model.path, "", model.path)])
    return Page(
        Ref(To.FILE, model.path, part=number), ["Documentation: ", Mono(model.path), f", {what}"], [back, *blocks]
    )


def _split_source(text: str, taken: int) -> list[str]:
    """Split a source into parts for further pages, at line ends where possible. Return no parts if the source fits on
    the file's page beside the text that takes `taken` characters."""
    if len(text) + taken <= LARGEST:
        return []
    parts, start = [], 0
    while start < len(text):
        end = start + LARGEST
        if end < len(text):
            line = text.rfind("\n", start, end) + 1
            end = line if line > start else end
        parts.append(text[start:end])
        start = end
    return parts


_FENCES = {"": "text", "jupyter": "json", "batch": "bat"}  # for languages without a reader


def fence_language(language: str) -> str:
    """Return the name of a language on a fenced code block."""
    return language_of(language).fence or _FENCES.get(language, language)


def _structure(model: FileModel) -> list[Block]:
    if model.symbols:
        return Structure(model).blocks()
    return [Text([_no_structure(model)])]


def _chapter(index: Index, folder: str) -> Ref:
    """Return a link to the chapter of a folder, or to the book in an index of pages, which have no chapters."""
    name = "" if index.of_pages else chapter_of(index, folder)
    return Ref(To.BOOK, name, "", name or "comprehensive_book.md")


def _cross_references(model: FileModel) -> Items:
    folder, _, name = model.path.rpartition("/")
    refs: list[tuple[str, Piece]] = [
        ("File Documentation", Mono(f"{name}_docs.md")),
        ("Keyword Index", Ref(To.KEYWORDS, model.path, "", f"{name}_kw.md")),
        ("Folder Index", Ref(To.INDEX, folder, "", "index.md")),
        ("Folder Documentation", Ref(To.FOLDER, folder, "", "doc.md")),
        ("Subtree Index", Ref(To.SUBTREE, folder, "", "sub.md")),
        ("Book Chapter", _chapter(model.index, folder)),
    ]
    return Items([_field(title, ref) for title, ref in refs])


def _history_line(change: FileHistory) -> str:
    """Return a file's history in one line."""
    first, last = (datetime.fromtimestamp(when, UTC).date().isoformat() for when in (change.first, change.last))
    who = ", ".join(name for name, _ in change.authors[:3])
    return f"{count_noun(change.commits, 'commit')} from {first} to {last}, most by {who}"


def _no_structure(model: FileModel) -> str:
    """Return the reason why a file has no structure to show."""
    file = model.file
    if file.skip != Skip.NONE:
        return f"{file.type}: definitions are not extracted."
    if not file.lines:
        return "Empty."
    if not_analysed(file):  # the overview says so
        return "Definitions are not extracted."
    if model.facts.imports:
        return f"{count_noun(len(model.facts.imports), 'import')}; no definitions found."
    return f"{count_noun(file.lines, 'line')}; no definitions found."
