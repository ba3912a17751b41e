"""The ledger as pages read it: every file's line, what it defines, and how much of it there is.

In: an index. Out: rows by path, made once for a repository and kept: pages of folders ask for the same files again.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from concordance.base.config import Book
from concordance.base.kinds import Severity
from concordance.base.model import File
from concordance.facts.codec import FileOutline
from concordance.facts.counts import Counts
from concordance.facts.store_delta import Aspect
from concordance.query.index.findings import ActiveRules
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


# ---
# How much there is of a repository: what the summary of a build says.
#
# In: a store, and what its book shall say. Out: `Totals`.


class Totals(NamedTuple):
    """What a store holds."""

    symbols: int
    links: dict[str, int]  # by trust, the surest first
    unresolved: int  # uses of names that lead nowhere that is known
    findings: dict[str, int]  # by severity, the worst first


def counted(counts: Counts, root: str, book: Book) -> Totals:
    """The totals of a repository, of findings those that its book says."""
    ruled = ActiveRules(Index(counts, root, book))
    found = Counter(one.severity for path, findings in counts.all_findings() for one in ruled.said(path, findings))
    return Totals(
        counts.symbol_count(),
        {trust.name.lower(): number for trust, number in counts.links_by_trust().items()},
        counts.all_missed()[1],
        {severity.value: found[severity] for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)},
    )
