"""The page of a folder: its role, contents, key concepts, organization, important files and how to work with it.

In: a folder ("" for the root). Out: one page. It leaves out history: if the book is committed with the source, that
very commit would make it stale.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import Block, Heading, Mono, Page, Ref, Table, Text, To
from concordance.facts.updates.reads import BELOW
from concordance.query.book.chapters import chapter_of
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.folders.contents import cross_references, folder_table, totals_in_words
from concordance.query.folders.description import author_blocks, describe_folder, file_counts_in_words
from concordance.query.folders.folder_tree import folders
from concordance.query.folders.maintenance import maintenance_blocks
from concordance.query.folders.project_name import name_of
from concordance.query.folders.sections import (
    dependency_diagram,
    important_files,
    key_concepts,
    provision_sentence,
    usage_sentences,
)
from concordance.query.folders.terms import distinctive_terms
from concordance.query.index.repository import Index
from concordance.query.sections.owner_notes import notes_section

TO = To.FOLDER  # what links to these pages say


def subjects(index: Index) -> list[str]:
    """Return every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page of one folder."""
    index.reads.note(BELOW, subject)
    name = Mono(subject or name_of(index))
    yield Page(Ref(To.FOLDER, subject), ["Folder Documentation: ", name], _blocks(index, subject))


def _blocks(index: Index, subject: str) -> list[Block]:
    tree = folders(index)
    folder = tree.all[subject]
    words = author_blocks(index, subject)
    blocks: list[Block] = [Heading(2, ["Role"]), *words]
    provides = provision_sentence(index, subject) if not words else []
    if not words and not provides:
        blocks.append(Text(as_sentence(describe_folder(index, subject))))
    blocks += [*provides, *usage_sentences(index, subject, not provides)]
    blocks += notes_section(index, subject)
    blocks += [Heading(2, ["Contents Overview"]), Text([*totals_in_words(folder), "."])]
    if any(noun not in file_counts_in_words(folder) for noun in folder.nouns):
        blocks.append(_kinds(folder.nouns.items()))
    if folder.folders:
        blocks.append(folder_table(index, folder.folders))
    blocks += [Heading(2, ["Key Concepts"]), *(_concepts(index, subject))]
    blocks += [
        Heading(2, ["Architecture & Organization"]),
        *(dependency_diagram(index, folder) or [Text([_no_diagram(index, subject)])]),
    ]
    blocks += [Heading(2, ["Important Files"]), *(important_files(index, subject) or [Text(["No text files found."])])]
    blocks += [Heading(2, ["Working with This Folder"])]
    blocks += maintenance_blocks(index, tree.with_subfolders(subject)) or [
        Text(["No test, build file or owner was found for it."])
    ]
    page = Ref(To.FOLDER, subject)
    return [*blocks, Heading(2, ["Cross-References"]), *cross_references(page, chapter_of(index, subject))]


def _kinds(rows: object) -> Table:
    ordered = sorted(rows, key=lambda row: (-row[1], row[0]))  # type: ignore[call-overload]
    return Table(["Kind", "Files"], [[[name], [f"{times:,}"]] for name, times in ordered])


def _concepts(index: Index, subject: str) -> list[Block]:
    folder = folders(index).all[subject]
    blocks = [*key_concepts(index, folder), *distinctive_terms(index, folders(index).with_subfolders(subject))]
    searched = f"{file_counts_in_words(folder)} searched"
    return blocks or [Text([f"No definition in it was found that two other files use ({searched})."])]


def _no_diagram(index: Index, subject: str) -> str:
    folder = folders(index).all[subject]
    if folder.count == 1:
        return "It contains one file."
    if len(folder.files) + len(folder.folders) == 1:
        return "It has one part."
    return "No references by name were found between its parts."
