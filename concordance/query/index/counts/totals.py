"""How much a repository holds, for the summary of a build."""

from __future__ import annotations

from collections import Counter

from concordance.base.config import Book
from concordance.base.kinds import Severity
from concordance.base.progress import Totals
from concordance.facts.counts import Counts
from concordance.query.index.findings import ActiveRules
from concordance.query.index.repository import Index

# ---
# How much there is of a repository: what the summary of a build says.
#
# In: a store, and what its book shall say. Out: `Totals`.


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
