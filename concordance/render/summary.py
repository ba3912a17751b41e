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


class Problem(NamedTuple):
    """What is wrong with a page."""

    page: str
    line: int
    claim: str  # what the page says there
    problem: str


@dataclass
class Verified:
    """What checking a book found."""

    problems: list[Problem] = field(default_factory=list)
    pages: int = 0
    claims: int = 0
    links: int = 0
