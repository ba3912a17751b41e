"""The ledger as pages read it: every file's line, what it defines, and how much of it there is.

In: an index. Out: rows by path, made once for a repository and kept: pages of folders ask for the same files again.
"""

from __future__ import annotations

from collections import Counter

from concordance.base.model import File, Skip
from concordance.facts.codec import FileOutline
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import ANY_UPDATE, memoised, shared_until
from concordance.query.index.repository import Index


class Ledger:
    """All files of a repository, with their numbers of tests."""

    def __init__(self, index: Index) -> None:
        self.files: dict[str, File] = index.files
        # How many tests each file has.
        self.tests: Counter[str] = Counter({path: len(ids) for path, ids in sorted(index.tests_in.items())})


@shared_until(ANY_UPDATE)
def ledger(index: Index) -> Ledger:
    """Return the ledger of the repository."""
    return Ledger(index)


def is_empty(file: File) -> bool:
    """True if a file was read and has no content."""
    return file.skip == Skip.NONE and not file.size


# The index, the page and the chapter of a folder ask for the same files; one may have 100,000 definitions.
@memoised(1 << 17, weigh=lambda outline: 50 + len(outline.symbols))
def outline(index: Index, path: str) -> FileOutline:
    """Return the outline of a file: its symbols in short and the doc comment of the file itself."""
    index.reads.note(Aspect.TEXT, path)
    return index.facts.outline(path)
