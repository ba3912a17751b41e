"""The ledger as pages read it: every file's line, what it defines, and how much of it there is.

In: an index. Out: rows by path, made once for a repository and kept: pages of folders ask for the same files again.
"""

from __future__ import annotations

from collections import Counter

from concordance.base.config import Book
from concordance.base.kinds import Severity
from concordance.base.model import File
from concordance.base.progress import Totals
from concordance.facts.codec import FileOutline
from concordance.facts.counts import Counts
from concordance.facts.updates.store_delta import Aspect
from concordance.query.index.findings import ActiveRules
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import memoised, shared


class Ledger:
    """All files of a repository, with their numbers of tests."""

    def __init__(self, index: Index) -> None:
        self.files: dict[str, File] = index.files
        # How many tests each file has.
        self.tests: Counter[str] = Counter({path: len(ids) for path, ids in sorted(index.tests_in.items())})


@shared
def ledger(index: Index) -> Ledger:
    """Return the ledger of the repository."""
    return Ledger(index)


@memoised(2048)  # the index, the page and the chapter of a folder ask for the same files
def outline(index: Index, path: str) -> FileOutline:
    """Return the outline of a file: its symbols in short and the doc comment of the file itself."""
    index.reads.note(Aspect.TEXT, path)
    return index.facts.outline(path)


def format_size(size: int) -> str:
    """Format a size in bytes for people."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilo = size / 1024
    if kilo >= 1024:
        return f"{kilo / 1024:.1f} MB"
    return f"{kilo:.0f} KB" if kilo >= 10 else f"{kilo:.1f} KB"


# --- how much a repository holds, for the summary of a build


def count_totals(counts: Counts, root: str, book: Book) -> Totals:
    """Compute the totals of a repository; only findings that the book shows are counted."""
    ruled = ActiveRules(Index(counts, root, book))
    found = Counter(one.severity for path, findings in counts.all_findings() for one in ruled.said(path, findings))
    return Totals(
        counts.symbol_count(),
        {trust.name.lower(): number for trust, number in counts.links_by_trust().items()},
        counts.all_missed()[1],
        {severity.value: found[severity] for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)},
    )
