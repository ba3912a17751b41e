"""The history of the repository's files, as the pages of the site tell it.

In: an index. Out: what is known of when and by whom files were changed, summed up for folders. A change is one commit
to one file; what is not known is said: there is no history without git, and of a clone that was made shallow only its
newest part.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from concordance.query.folders import folders
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import shared


class FolderHistory(NamedTuple):
    """The history of what lies below a folder."""

    files: dict[str, tuple[int, int, int]]  # of each file that has one: changes, and the seconds of the first and last
    authors: Counter[str]  # changes by each
    touched: Counter[str]  # files that each has changed


_KEPT = 16  # folders: that of the root takes a while to sum up


@shared
def _summed(index: Index) -> dict[str, FolderHistory]:
    """Those that were asked for last, until the next update."""
    return {}


def past(index: Index, folder: str) -> FolderHistory:
    """The history of the files below a folder that are there."""
    known = _summed(index)
    if folder not in known:
        if len(known) >= _KEPT:
            del known[next(iter(known))]
        known[folder] = _past(index, folder)
    return known[folder]


def _past(index: Index, folder: str) -> FolderHistory:
    there = frozenset(folders(index).below(folder))
    found = FolderHistory({}, Counter(), Counter())
    for change in index.facts.changes(folder):
        if change.path in there:
            found.files[change.path] = change.commits, change.first, change.last
            for author, times in change.authors:
                found.authors[author] += times
                found.touched[author] += 1
    return found


@shared
def changes(index: Index) -> dict[str, int]:
    """How often each file was changed."""
    return {change.path: change.commits for change in index.facts.changes()}


def months(index: Index) -> list[tuple[str, int]] | None:
    """The commits of each month of the repository; None where the store does not say."""
    said = index.facts.meta().get("months")
    return [(str(month), int(times)) for month, times in json.loads(said)] if said is not None else None


def note(index: Index) -> str:
    """What limits what is known."""
    return index.facts.meta().get("history note", "")


def month_of(seconds: int) -> str:
    """The month of a time, as `2026-11`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m")


def day_of(seconds: int) -> str:
    """The day of a time, as `2026-11-15`."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def filled(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Every month from the first to the last, those without anything among them; years where there are too many."""
    if not counts:
        return []
    first, last = (int(month[:4]) * 12 + int(month[5:]) - 1 for month in (min(counts), max(counts)))
    if last - first > _MOST:
        years: Counter[str] = Counter()
        for month, times in counts.items():
            years[month[:4]] += times
        return [(f"{year:04}", years[f"{year:04}"]) for year in range(first // 12, last // 12 + 1)]
    every = [f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1)]
    return [(month, counts.get(month, 0)) for month in every]


_MOST = 240  # months that can be told apart in a plot
