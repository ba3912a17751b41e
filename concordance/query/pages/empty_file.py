"""The page that the empty files of a repository share, and those with the same content as others.

In: "". Out: one page that lists them by folder, and by content. Each keeps its own page, with its metadata and what
refers to it; the source is on the page of the first of several identical files.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Page,
    Piece,
    Ref,
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.facts.updates.reads import WHOLE_TABLE
from concordance.query.folders.contents import folder_ref
from concordance.query.index.ledger import identical_files, is_empty
from concordance.query.index.repository import Index

TO = To.EMPTY  # what links to these pages say


def subjects(index: Index) -> list[str]:
    """Return "" if any file is empty or has the same content as another."""
    return [""] if any(map(is_empty, index.files.values())) or identical_files(index) else []


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the list of empty and identical files."""
    index.reads.note("copies", WHOLE_TABLE)
    folders: dict[str, list[Piece]] = {}
    for path in sorted(path for path, file in index.files.items() if is_empty(file)):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(Ref(To.FILE, path, "", name))
    blocks: list[Block] = []
    if folders:
        items = [Item([folder_ref(folder), ": ", *join_with_commas(refs)]) for folder, refs in folders.items()]
        total = count_noun(sum(map(len, folders.values())), "empty file")
        blocks += [Heading(2, ["Empty"]), Text([f"{total}, by folder."]), Items(items)]
    groups = sorted(set(identical_files(index).values()))
    if groups:
        total = count_noun(sum(map(len, groups)), "file")
        items = [
            Item([count_noun(index.files[paths[0]].size, "byte"), ": ", *join_with_commas([*map(_link, paths)])])
            for paths in groups
        ]
        sentence = f"{total} in {count_noun(len(groups), 'group')}; the source is on the page of the first of each."
        blocks += [Heading(2, ["Identical"]), Text([sentence]), Items(items)]
    yield Page(Ref(TO, subject), ["Empty and Identical Files"], blocks)


def _link(path: str) -> Ref:
    return Ref(To.FILE, path)
