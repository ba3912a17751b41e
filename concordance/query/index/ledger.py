"""Per-file rows for pages: the ledger, outlines, counts of every file, and the totals of a build.

In: an index. Out: rows by path. They are computed once and cached, because several pages of a folder ask for the same
files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from concordance.base.config import Book
from concordance.base.kinds import Severity
from concordance.base.model import File
from concordance.facts.codec import FileOutline
from concordance.facts.counts import Counts
from concordance.facts.store_delta import Aspect
from concordance.query.index.findings import ActiveRules
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import kept, shared

Rows = dict[str, Any]  # plain values by path


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


@kept(2048)  # the index, the page and the chapter of a folder ask for the same files
def outline(index: Index, path: str) -> FileOutline:
    """Return the outline of a file: its symbols in short and the doc comment of the file itself."""
    index.reads.note(Aspect.TEXT, path)
    return index.facts.outline(path)


def size_of(size: int) -> str:
    """Format a size in bytes for people."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    kilo = size / 1024
    if kilo >= 1024:
        return f"{kilo / 1024:.1f} MB"
    return f"{kilo:.0f} KB" if kilo >= 10 else f"{kilo:.1f} KB"


# Counts of every file, for pages about the whole repository. An update takes over the counts of the last build for all
# files that did not change; a one-off question has no earlier counts and computes all of them.


class FileCounts:
    """Tables of per-file counts, by the name of the count."""

    def __init__(self, kept: Mapping[str, Rows], changed: Collection[str]) -> None:
        self._rows = {name: dict(rows) for name, rows in kept.items()}
        self._stale = {name: set(changed) for name in kept}

    def of(self, name: str, paths: list[str], count: Callable[[str], Any]) -> Rows:
        """Return a count for each of some files; `count` is called only if the count is unknown or stale."""
        found, stale = self._rows.get(name, {}), self._stale.pop(name, set[str]())
        if list(found) == paths:
            found.update((path, count(path)) for path in found.keys() & stale)
        else:
            found = {path: found[path] if path in found and path not in stale else count(path) for path in paths}
        self._rows[name] = found
        return found

    @property
    def rows(self) -> Mapping[str, Rows]:
        """All tables, without the rows that are stale, for the notes of the next build."""
        return {
            name: {path: row for path, row in rows.items() if path not in self._stale[name]}
            if self._stale.get(name) else rows
            for name, rows in self._rows.items()
        }  # fmt: skip


# Totals of a whole repository, for the summary of a build.


class Totals(NamedTuple):
    """Totals of a store."""

    symbols: int
    links: dict[str, int]  # by trust, the most certain first
    unresolved: int  # uses of names that could not be resolved
    findings: dict[str, int]  # by severity, the worst first


def counted(counts: Counts, root: str, book: Book) -> Totals:
    """Compute the totals of a repository; only findings that the book shows are counted."""
    ruled = ActiveRules(Index(counts, root, book))
    found = Counter(one.severity for path, findings in counts.all_findings() for one in ruled.said(path, findings))
    return Totals(
        counts.symbol_count(),
        {trust.name.lower(): number for trust, number in counts.links_by_trust().items()},
        counts.all_missed()[1],
        {severity.value: found[severity] for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)},
    )
