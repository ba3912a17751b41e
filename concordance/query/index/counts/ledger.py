"""The ledger as pages read it: every file's line, what it defines, and how much of it there is.

In: an index. Out: rows by path, made once for a repository and kept: pages of folders ask for the same files again.
"""

from __future__ import annotations

from collections import Counter

from concordance.base.model import File
from concordance.facts.codec import FileOutline
from concordance.facts.updates.store_delta import Aspect
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import kept, shared


class Ledger:
    """All files of a repository."""

    def __init__(self, index: Index) -> None:
        self.files: dict[str, File] = index.files
        # How many tests stand in each file.
        self.tests: Counter[str] = Counter({path: len(ids) for path, ids in sorted(index.tests_in.items())})


@shared
def ledger(index: Index) -> Ledger:
    """The ledger of the repository that is asked."""
    return Ledger(index)


@kept(2048)  # a folder's files are asked for by its index, its page and its chapter
def outline(index: Index, path: str) -> FileOutline:
    """What a file defines and says of itself."""
    index.reads.note(Aspect.TEXT, path)
    return index.facts.outline(path)


def size_of(size: int) -> str:
    """A size for people."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilo = size / 1024
    if kilo >= 1024:
        return f"{kilo / 1024:.1f} MB"
    return f"{kilo:.0f} KB" if kilo >= 10 else f"{kilo:.1f} KB"
