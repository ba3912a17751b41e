"""All settings with their defaults; they are passed to the code that needs them, never kept in a global.

`Config` configures reading and linking, `Book` the content of the pages. `base/config_file.py` fills both from a
repository's `concordance.toml`; the command line overrides them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import NamedTuple


def core_count() -> int:
    """Return how many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _default_memory() -> int:
    return max(2 << 30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 8)


class Roots(NamedTuple):
    """Folders that file names in imports and includes are relative to, besides those found automatically."""

    python: tuple[str, ...] = ()  # where Python imports start
    c: tuple[str, ...] = ()  # where includes start, in the order in which a compiler searches them


PROCESSES, RAY = EXECUTORS = ("processes", "ray")  # where work is done: in processes here, or in a cluster
_DETECTED_ROOTS = Roots()  # only those found automatically


class Workers(NamedTuple):
    """What the command line says about workers; empty if it says nothing."""

    executor: str = ""
    address: str = ""


ANY_WORKERS = Workers()


class Note(NamedTuple):
    """A note by the repository's owners about a file or folder."""

    path: str  # "" for the repository itself
    text: str  # Markdown
    line: int  # its first line in the settings file
    last: int


@dataclass(frozen=True)
class Config:
    """The settings of one run."""

    jobs: int = field(default_factory=core_count)
    # Reading a file takes about a hundred times the memory of its text: 1.5 GiB for a worker at this size. A larger
    # file is in the ledger with its size, lines and digest, but is not parsed.
    largest: int = 16_000_000
    # Above this size, the facts cache drops its oldest entries.
    cache_bytes: int = 4_000_000_000
    # Seconds: a file that takes its reader longer is given up and reported. Large files get more time.
    patience: float = 60.0
    # For some broken text, a parser's memory grows with the square of its length. A worker that needs more than this
    # ends, and its file is given up, to protect the machine. An eighth of the machine's memory, at least 2 GiB.
    memory: int = field(default_factory=_default_memory)
    include: tuple[str, ...] = ()  # patterns of files to document; empty: all
    exclude: tuple[str, ...] = ()  # patterns of files to leave out
    categories: tuple[tuple[str, str], ...] = ()  # patterns and the category of matching files; the last match wins
    roots: Roots = _DETECTED_ROOTS
    # Address of a cache of facts that several machines share, for example "s3://bucket/prefix". It comes from the
    # environment, never from a repository's settings, which must not make a build contact anybody.
    shared_cache: str = field(default_factory=lambda: os.environ.get("CONCORDANCE_SHARED_CACHE", ""))
    # What runs the workers, and the address of a Ray cluster ("": one that the build starts). Only options and the
    # environment set them, for the same reason.
    executor: str = field(default_factory=lambda: os.environ.get("CONCORDANCE_EXECUTOR") or PROCESSES)
    address: str = field(default_factory=lambda: os.environ.get("CONCORDANCE_RAY_ADDRESS", ""))


@dataclass(frozen=True)
class Book:
    """What the pages of a book contain."""

    source: bool = True  # True: include the source of each file; False: link to it
    # A book that is committed with its source leaves history out: its own commit would make it stale.
    history: bool = False
    generated: bool = False  # True if the book's own pages get pages, too
    rules_off: tuple[str, ...] = ()  # ids of disabled rules, sorted
    allowed: tuple[tuple[str, tuple[str, ...]], ...] = ()  # ids of rules and the files in which they are off
    sections_off: tuple[str, ...] = ()  # titles of sections to leave out, sorted
    notes: tuple[Note, ...] = ()
    settings: str = ""  # name of the settings file, for citations of notes
    draws_diagrams: bool = False  # True to draw diagrams that only a browser shows well: for the site


def site_book(book: Book) -> Book:
    """Return what the pages of a site contain.

    The source has its own pages there, and history does not get stale, because a site is not stored with its source.
    """
    return replace(book, source=False, history=True, draws_diagrams=True)


def cache_folder() -> str:
    """Return the folder in which facts are cached across runs and repositories.

    It lies in the user's cache folder. The path is absolute because workers run in another folder.
    """
    chosen = os.environ.get("CONCORDANCE_CACHE")
    if chosen:
        return os.path.abspath(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.abspath(os.path.join(base, "concordance"))
