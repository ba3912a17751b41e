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
        self.tables = {name: dict(rows) for name, rows in previous.items()}
        for rows in self.tables.values():
            for path in changed:
                rows.pop(path, None)

    def of(self, name: str, paths: list[str], count: Callable[[str], Any]) -> RowsByPath:
        """Return a count for each of the given files; `count` is called only for files without one."""
        known = self.tables.get(name, {})
        if list(known) != paths:
            known = self.tables[name] = {path: known[path] if path in known else count(path) for path in paths}
        return known

    def add(self, tables: Mapping[str, RowsByPath]) -> None:
        """Add tables that another process has computed."""
        self.tables |= tables
