"""Results of writing and of checking a book.

The types are kept apart from the code that fills them, so that commands that only print them need not import it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


@dataclass
class BookSummary:
    """The result of writing a book."""

    out: str = ""
    pages: int = 0
    written: int = 0
    removed: int = 0
    bytes: int = 0
    claims: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    made: int = 0  # pages that were rendered again because something they depend on had changed
    changed: list[str] = field(default_factory=list)  # pages that were written
    gone: list[str] = field(default_factory=list)  # pages that were removed
    listing: bool = False  # whether the manifest was written
    front: str = "index.md"  # the front page

    def counts(self) -> dict[str, object]:
        """Return the counts without the names of pages, of which there may be thousands."""
        aside = ("changed", "gone", "listing", "front")
        known = {key: value for key, value in self.__dict__.items() if key not in aside}
        return {**known, "unchanged": self.pages - self.written}


class StalePage(NamedTuple):
    """A page that differs from what would be written now."""

    page: str
    change: str  # "changes", "appears" or "vanishes"
    why: str  # "" if unknown


@dataclass
class BookDifference:
    """How a book differs from what would be written now."""

    out: str
    missing: bool = False  # there is no book
    pages: int = 0
    stale: list[StalePage] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)  # files and what happened to them: "changed", "new" or "gone"
    failed: list[tuple[str, str]] = field(default_factory=list)  # pages that could not be rendered, and why

    @property
    def is_stale(self) -> bool:
        """True if the book is not current, or may not be."""
        return bool(self.missing or self.stale or self.failed)


class Fault(StrEnum):
    """Where a problem comes from."""

    BOOK = "book"  # the page is not what would be written now: it was edited, or the source was
    STORE = "store"  # the repository's store does not say what the source says
    PROGRAM = "program"  # the page is what would be written, and the source contradicts it


class Problem(NamedTuple):
    """A problem on a page."""

    page: str
    line: int  # 0 if it is about the page as a whole
    claim: str  # the text of that line of the page
    problem: str
    fault: Fault = Fault.BOOK


@dataclass
class VerifyResult:
    """The result of checking a book."""

    problems: list[Problem] = field(default_factory=list)
    pages: int = 0
    total: int = 0  # pages of the book; more than `pages` if only a sample was checked
    claims: int = 0
    links: int = 0
    store_compared: bool = False  # False if there is no store, or if it is not current
