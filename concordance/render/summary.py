"""What writing a book did, and what checking one found.

In: nothing. Out: types, apart from what fills them: who only prints them needs no more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass
class BookSummary:
    """What writing the book did."""

    out: str = ""
    pages: int = 0
    written: int = 0
    removed: int = 0
    bytes: int = 0
    claims: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    made: int = 0  # pages that were looked at again: something that they read had changed
    changed: list[str] = field(default_factory=list)  # the pages that were written
    gone: list[str] = field(default_factory=list)  # those that were removed
    listing: bool = False  # whether the list of all pages was written
    front: str = "index.md"  # the page to begin with

    def counts(self) -> dict[str, object]:
        """It without the names of pages, of which there may be many thousands."""
        aside = ("changed", "gone", "listing", "front")
        known = {key: value for key, value in self.__dict__.items() if key not in aside}
        return {**known, "unchanged": self.pages - self.written}


class StalePage(NamedTuple):
    """A page that is not as it would be written now."""

    page: str
    change: str  # "changes", "appears" or "vanishes"
    why: str  # "" where it is not known


@dataclass
class BookDifference:
    """In what a book is not as it would be written now."""

    out: str
    missing: bool = False  # there is no book at all
    pages: int = 0
    stale: list[StalePage] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)  # files, and what happened to them: "changed", "new", "gone"
    failed: list[tuple[str, str]] = field(default_factory=list)  # pages that could not be made, and why

    @property
    def is_stale(self) -> bool:
        """Whether it is not current, or cannot be said to be."""
        return bool(self.missing or self.stale or self.failed)


class Problem(NamedTuple):
    """What is wrong with a page."""

    page: str
    line: int
    claim: str  # what the page says there
    problem: str


@dataclass
class VerifyResult:
    """What checking a book found."""

    problems: list[Problem] = field(default_factory=list)
    pages: int = 0
    claims: int = 0
    links: int = 0
