"""The page that the empty files of a repository share: what there is to say about one of them is said of all.

In: "". Out: one page that lists them by folder. Each keeps its own page, with its metadata and what refers to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import Item, Items, Page, Piece, Ref, Text, To, count_noun, join_with_commas
from concordance.query.folders.contents import folder_ref
from concordance.query.index.ledger import is_empty
from concordance.query.index.repository import Index

TO = To.EMPTY  # what links to these pages say


def subjects(index: Index) -> list[str]:
    """Return "" if any file is empty."""
    return [""] if any(map(is_empty, index.files.values())) else []


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the list of empty files."""
    folders: dict[str, list[Piece]] = {}
    for path in sorted(path for path, file in index.files.items() if is_empty(file)):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(Ref(To.FILE, path, "", name))
    items = [Item([folder_ref(folder), ": ", *join_with_commas(refs)]) for folder, refs in folders.items()]
    total = count_noun(sum(map(len, folders.values())), "empty file")
    yield Page(Ref(TO, subject), ["Empty Files"], [Text([f"{total}, by folder."]), Items(items)])
