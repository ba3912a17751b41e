"""The index of a folder: its subfolders and files, each with a one-line description.

In: a folder ("" for the root, whose index also introduces the repository). Out: one page, and further pages if the
folder has very many files.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import Block, Heading, Mono, Page, Ref, Text, To, join_in_sentence
from concordance.facts.updates.reads import BELOW
from concordance.query.book.chapters import chapter_of
from concordance.query.folders.contents import cross_references, file_table, folder_overview, folder_table
from concordance.query.folders.folder_tree import folders
from concordance.query.folders.project_name import name_of
from concordance.query.folders.repository import root_index
from concordance.query.index.repository import Index

TO = To.INDEX  # what links to these pages say

_MAX_FILES = 3000  # files on one page


def subjects(index: Index) -> list[str]:
    """Return every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the index of one folder, in parts if it is long."""
    index.reads.note(BELOW, subject)
    folder = folders(index).all[subject]
    parts = [folder.files[at : at + _MAX_FILES] for at in range(0, len(folder.files), _MAX_FILES)] or [[]]
    blocks: list[Block] = (
        list(root_index(index)) if not subject else [Heading(2, ["Overview"]), *folder_overview(index, subject)]
    )
    if subject and folder.folders:
        blocks += [Heading(2, ["Subfolders"]), folder_table(index, folder.folders)]
    if parts[0]:
        blocks += [Heading(2, ["Files"])]
        if len(parts) > 1:
            refs = [Ref(To.INDEX, subject, "", f"part {n}", False, n) for n in range(2, len(parts) + 1)]
            blocks.append(
                Text(
                    [
                        f"The first {_MAX_FILES:,} of {len(folder.files):,} files; the others are in ",
                        *join_in_sentence(refs),
                        ".",
                    ]
                )
            )
        blocks.append(file_table(index, parts[0]))
    blocks += [Heading(2, ["Cross-References"]), *cross_references(Ref(To.INDEX, subject), chapter_of(index, subject))]
    title = ["Index: ", Mono(subject or name_of(index))]
    yield Page(Ref(To.INDEX, subject), title, blocks)
    for number, part in enumerate(parts[1:], 2):
        more: list[Block] = [Text([Ref(To.INDEX, subject, "", "part 1", False)]), file_table(index, part)]
        yield Page(Ref(To.INDEX, subject, part=number), [*title, f", part {number}"], more)
