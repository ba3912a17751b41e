"""The commit history of files, summed up for the pages of folders.

In: an index. Out: how often, when and by whom the files below a folder were changed. A change is one commit to one
file. Without git there is no history, and a shallow clone has only its newest part; the store keeps that caveat,
so that pages can show it.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from concordance.base.model import FileHistory
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.folders.folder_tree import folders
from concordance.query.index.repository import Index


class FolderHistory(NamedTuple):
    """The history of the files below a folder."""

    files: dict[str, tuple[int, int, int]]  # by path: number of changes, time of the first and last
    authors: Counter[str]  # number of changes by each author
    files_by_author: Counter[str]  # number of files that each author changed


_MAX_CACHED_FOLDERS = 16  # folders whose sums are cached: summing up the root takes a while


@shared_until(ANY_UPDATE)
def _history_cache(index: Index) -> dict[str, FolderHistory]:
    """A cache of the folders that were asked for last; it is dropped at the next update."""
    return {}


def folder_history(index: Index, folder: str) -> FolderHistory:
    """Return the history of the files that are now below a folder."""
    known = _history_cache(index)
    if folder not in known:
        if len(known) >= _MAX_CACHED_FOLDERS:
            del known[next(iter(known))]
        known[folder] = _sum_history(index, folder)
    return known[folder]


def _sum_history(index: Index, folder: str) -> FolderHistory:
    there = frozenset(folders(index).below(folder))
    history = FolderHistory({}, Counter(), Counter())
    for change in index.facts.changes(folder):
        if change.path in there:
            history.files[change.path] = change.commits, change.first, change.last
            for author, times in change.authors:
                history.authors[author] += times
                history.files_by_author[author] += 1
    return history


def file_history(index: Index, path: str) -> FileHistory | None:
    """Return the history of a file; None if git knows nothing of it."""
    index.reads.note(Aspect.HISTORY, path)
    return index.facts.change(path)


@shared_until(ANY_UPDATE)
def commits_by_path(index: Index) -> dict[str, int]:
    """Return how often each file was changed, by path."""
    return {change.path: change.commits for change in index.facts.changes()}


def commits_by_month(index: Index) -> list[tuple[str, int]] | None:
    """Return the number of commits in each month; None if the store does not record it."""
    stored = index.facts.meta().get("months")
    return [(str(month), int(times)) for month, times in json.loads(stored)] if stored is not None else None


def history_note(index: Index) -> str:
    """Return a caveat about the history, such as that the clone is shallow; "" if there is none."""
    return index.facts.meta().get("history note", "")


def month_of(seconds: int) -> str:
    """Return the month of a time in seconds, as `2026-11`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m")


def day_of(seconds: int) -> str:
    """Return the day of a time in seconds, as `2026-11-15`."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def fill_months(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Return the count of every month from the first to the last, empty ones included; of every year if many."""
    if not counts:
        return []
    first, last = (int(month[:4]) * 12 + int(month[5:]) - 1 for month in (min(counts), max(counts)))
    if last - first > _MAX_MONTHS:
        years: Counter[str] = Counter()
        for month, times in counts.items():
            years[month[:4]] += times
        return [(f"{year:04}", years[f"{year:04}"]) for year in range(first // 12, last // 12 + 1)]
    months = [f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)]
    return [(month, counts.get(month, 0)) for month in months]


_MAX_MONTHS = 240  # months that can be told apart in a plot
