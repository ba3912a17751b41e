"""What is counted of every file for pages about the whole: of a file that has not changed, what was counted before.

In: rows of the last book's notes, and which files changed since. Out: a row for each file. Questions, which have no
notes, count all files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

Rows = dict[str, Any]  # by path; plain values


class Summaries:
    """The rows that are known, by what they count."""

    def __init__(self, kept: Mapping[str, Rows], changed: Collection[str]) -> None:
        self._rows = {name: {path: row for path, row in rows.items() if path not in changed}
                      for name, rows in kept.items()}  # fmt: skip

    def of(self, name: str, paths: Iterable[str], count: Callable[[str], Any]) -> Rows:
        """A row for each of some files."""
        known = self._rows.get(name, {})
        found = {path: known[path] if path in known else count(path) for path in paths}
        self._rows[name] = found
        return found

    @property
    def rows(self) -> Mapping[str, Rows]:
        """All that is to be kept."""
        return self._rows
