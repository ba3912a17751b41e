"""Counts of every file for pages about the whole repository, reused for files that have not changed.

In: the counts of the last build, and which files changed since. Out: a row for each file. Questions, which have no
earlier counts, count all files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

RowsByPath = dict[str, Any]  # plain values by path


class FileCounts:
    """Tables of per-file counts, by the name of the count."""

    def __init__(self, previous: Mapping[str, RowsByPath], changed: Collection[str]) -> None:
        self._rows = {name: dict(rows) for name, rows in previous.items()}
        self._stale = {name: set(changed) for name in previous}

    def of(self, name: str, paths: list[str], count: Callable[[str], Any]) -> RowsByPath:
        """Return a count for each of the given files; `count` is called only if the count is unknown or stale."""
        rows, stale = self._rows.get(name, {}), self._stale.pop(name, set[str]())
        if list(rows) == paths:
            rows.update((path, count(path)) for path in rows.keys() & stale)
        else:
            rows = {path: rows[path] if path in rows and path not in stale else count(path) for path in paths}
        self._rows[name] = rows
        return rows

    def add(self, tables: Mapping[str, RowsByPath]) -> None:
        """Add tables that another process has computed."""
        self._rows |= tables

    @property
    def rows(self) -> Mapping[str, RowsByPath]:
        """All tables, without the rows that are stale, for the log of the next build."""
        return {
            name: {path: row for path, row in rows.items() if path not in self._stale[name]}
            if self._stale.get(name) else rows
            for name, rows in self._rows.items()
        }  # fmt: skip
