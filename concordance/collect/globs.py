"""Matches file names against many globs at once.

In: globs, each with what it stands for. Out: what the first glob that fits a name stands for. Nearly
all globs are a whole name, a beginning or an end, and for those a dictionary or a `startswith` is
enough; a regular expression over all of them would cost more than the rest of the classification.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Generic, TypeVar

T = TypeVar("T")

_WILD = re.compile(r"[*?\[]")


class Globs(Generic[T]):
    """Globs and what they stand for: whole names first, then beginnings, ends, middles and the rest."""

    def __init__(self, rows: Iterable[tuple[str, T]]) -> None:
        self._names: dict[str, T] = {}
        self._starts: dict[str, T] = {}
        self._ends: dict[str, T] = {}
        self._middles: dict[str, T] = {}
        patterns: dict[str, T] = {}
        for glob, value in rows:
            if not _WILD.search(glob):
                self._names.setdefault(glob, value)
            elif glob[-1] == "*" and not _WILD.search(glob[:-1]):
                self._starts.setdefault(glob[:-1], value)
            elif glob[0] == "*" and not _WILD.search(glob[1:]):
                self._ends.setdefault(glob[1:], value)
            elif glob[0] == glob[-1] == "*" and not _WILD.search(glob[1:-1]):
                self._middles.setdefault(glob[1:-1], value)
            else:
                patterns.setdefault(glob, value)
        self._patterns = tuple((re.compile(translate(glob)), value) for glob, value in patterns.items())
        self._any_start, self._any_end = tuple(self._starts), tuple(self._ends)

    def get(self, name: str) -> T | None:
        """What the name stands for; None where no glob fits."""
        value = self._names.get(name)
        if value is not None:
            return value
        if name.startswith(self._any_start):
            return next(value for start, value in self._starts.items() if name.startswith(start))
        if name.endswith(self._any_end):
            return next(value for end, value in self._ends.items() if name.endswith(end))
        for middle, value in self._middles.items():
            if middle in name:
                return value
        for pattern, value in self._patterns:
            if pattern.match(name):
                return value
        return None
