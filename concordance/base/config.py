"""What can be set, with its default; passed to whatever needs it, never kept in a global.

`Config` is what reading and linking need to know, `Book` what the pages hold. `base/config_file.py` fills both from a
repository's `concordance.toml`; the command line has the last word.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import NamedTuple


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return max(2 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)


class Roots(NamedTuple):
    """The folders that names of files start from, besides those that are found."""

    python: tuple[str, ...] = ()  # where imports start
    c: tuple[str, ...] = ()  # where includes start, in the order in which a compiler asks them


_FOUND = Roots()  # none but those that are found


class Note(NamedTuple):
    """Owners' words about a file or folder."""

    path: str  # "" for the repository itself
    text: str  # Markdown
    line: int  # where it stands in the file of settings
    last: int


@dataclass(frozen=True)
class Config:
    """The settings of one run."""

    jobs: int = field(default_factory=cores)
    # Reading a file takes about a hundred times its text: 1.5 GiB for a worker at this size. What is larger is in the
    # ledger with its size, lines and digest, but is not parsed.
    largest: int = 16_000_000
    # The facts cache gives up its oldest entries above this.
    cache_bytes: int = 4_000_000_000
    # Seconds: a file that keeps its reader busy for longer is given up, and said so. Large ones get more time.
    patience: float = 60.0
    # Some broken text costs a parser memory by the square of its length. A worker that wants more than this ends, and
    # its file is given up: better than the machine. An eighth of the machine's memory, at least 2 GiB.
    memory: int = field(default_factory=_memory)
    include: tuple[str, ...] = ()  # patterns of the files that are documented; none: all
    exclude: tuple[str, ...] = ()  # patterns of those that are not
    categories: tuple[tuple[str, str], ...] = ()  # patterns and what the files are for; the last that fits counts
    roots: Roots = _FOUND


@dataclass(frozen=True)
class Book:
    """What the pages of a book hold."""

    source: bool = True  # the source of each file, else a link to it
    # A book that is committed with its source leaves history out: it would be stale with its own commit.
    history: bool = False
    generated: bool = False  # whether there are pages of the book's own pages, too
    rules_off: tuple[str, ...] = ()  # ids of rules that say nothing, sorted
    allowed: tuple[tuple[str, tuple[str, ...]], ...] = ()  # ids of rules, and patterns of files where they say nothing
    sections_off: tuple[str, ...] = ()  # titles, sorted
    notes: tuple[Note, ...] = ()
    settings: str = ""  # the file that says so, for what cites it
    drawn: bool = False  # whether diagrams are drawn that only a browser shows well: the site


def of_site(book: Book) -> Book:
    """What the pages of a site hold: the source has pages of its own there, and history does not get stale in what is
    not kept with its source."""
    return replace(book, source=False, history=True, drawn=True)


def cache_folder() -> str:
    """Where facts are kept between runs and repositories: the user's cache folder. It is an absolute path, for workers
    run in another folder."""
    chosen = os.environ.get("CONCORDANCE_CACHE")
    if chosen:
        return os.path.abspath(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.abspath(os.path.join(base, "concordance"))
