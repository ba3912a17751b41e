"""State that a long-running process keeps of a repository between updates.

In: what the last update computed. Out: the same for the next update, which checks whether each part is still valid. A
process that writes only one book discards it in the end.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from concordance.base import forks
from concordance.base.errors import StoreBroken
from concordance.base.model import File
from concordance.collect.own_output import MANIFEST
from concordance.extract.cfamily.macros import Macros
from concordance.facts import schema
from concordance.facts.read import Facts
from concordance.facts.records import FileMacros, Linkable
from concordance.facts.updates.page_reads import PageReadLog
from concordance.facts.updates.reads import Subject
from concordance.link.cfamily import resident_tables
from concordance.link.paths.tree import Tree
from concordance.query.index.repository import Index
from concordance.render.addresses import Addresses
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage

_M_MMAP_THRESHOLD = -3  # from malloc.h: larger blocks are mapped one by one, and unmapped when they are freed
_LARGE_BLOCK = 128 * 1024  # bytes; setting it also stops glibc from raising it
_RECHECK_SECONDS = 60.0  # seconds between two comparisons of all pages with the manifest


def return_freed_memory() -> None:
    """Have this process return large blocks to the system as soon as they are freed, if its C library is glibc.

    By default glibc keeps them for itself, in pieces: measured on Django, 208 MB after 40 updates, as much as all data.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def release_freed_memory() -> None:
    """Collect what is no longer used, and return free memory to the system if the C library is glibc.

    Measured on PyTorch after linking: 528 MB before, 329 MB after; the rest is free, but in pieces.
    """
    gc.collect()
    forks.trim_memory()


class LastBuild(NamedTuple):
    """What the last build left for the next one: its ledger, its metadata and its macros."""

    files: dict[str, File]
    meta: dict[str, str]
    macros: list[tuple[str, FileMacros]]


def read_last_build(folder: str, readers: str, cached: LastBuild | None) -> LastBuild | None:
    """Return the last build by these readers; `cached` may be a cached copy of it.

    None if there is none, if it is broken or made by other readers, or if a rebuild is better.
    """
    try:
        with Facts(folder, alone=True) as facts:
            meta = facts.meta()
            if meta.get("readers") != readers or schema.has_too_many_unused_ids(meta):
                return None
            if cached is not None and cached.meta.get("started") == meta.get("started"):
                return cached._replace(meta=meta)
            return LastBuild({file.path: file for file in facts.files()}, meta, facts.macros())
    except StoreBroken:
        return None


@dataclass
class StoreState:
    """The state of a store after a build.

    A build takes the state out before it changes the store, so a build that fails leaves nothing.
    """

    started: str = ""  # when that build began, as recorded in its store
    last_build: LastBuild | None = None  # the ledger and metadata of the store
    macros: Macros | None = None  # the merged macros of all files
    rows: list[Linkable] | None = None  # the files, as the linker needs them
    tables: resident_tables.CFamilyState | None = None  # name tables of the C family
    tree: Tree | None = None  # what was computed from the list of files and from settings files

    def detach(self, started: str) -> StoreState:
        """Take the state out, provided that it belongs to the store whose build began at `started`."""
        state = replace(self) if started and started == self.started else StoreState()
        self.forget()
        return state

    def record_build(
        self, before: LastBuild | None, meta: dict[str, str], extracted: Iterable[File], gone: Iterable[str],
        learned: Iterable[tuple[str, FileMacros]],
    ) -> None:  # fmt: skip
        """Record the store after a build; nothing after a full rebuild, which is rare."""
        self.started, self.last_build = meta["started"], None
        if before is not None:
            files, macros = {**before.files, **{file.path: file for file in extracted}}, dict(before.macros)
            macros.update(learned)
            for path in gone:
                files.pop(path, None)
                macros.pop(path, None)
            nonempty = [(path, definitions) for path, definitions in macros.items() if definitions]
            self.last_build = LastBuild(files, {**before.meta, **meta}, nonempty)

    def replace_with(self, other: StoreState) -> None:
        """Adopt the state that a build leaves."""
        self.__dict__.update(other.__dict__)

    def forget(self) -> None:
        """Discard the state; the next build reads what it needs from the store."""
        self.replace_with(StoreState())


class BookFolder:
    """The cached manifest of one folder.

    Reading the manifest and comparing every page with it takes longer than a small update, so the last manifest stays
    in memory until another process writes the file, and pages are compared with it only once in a while.
    """

    def __init__(self, out: str) -> None:
        self.out = out
        self._stamp: tuple[int, ...] = ()  # device, inode, size and time of the manifest that was read
        self._manifest = Manifest({})
        self._digest = ""
        self._last_comparison = float("-inf")

    def read(self) -> Manifest:
        """Return the manifest; reads the file if it has changed since the last call."""
        now = self._current_stamp()
        if not now or now != self._stamp:
            self._manifest, self._stamp, self._digest = manifest.read(self.out), now, ""
            self._last_comparison = float("-inf")
        return self._manifest

    def record_manifest(self, pages: Iterable[ManifestPage], unfinished: bool, digest: str) -> None:
        """Record that the manifest now lists these pages; `digest` is their digest."""
        self._manifest = Manifest({row.page: row for row in pages}, unfinished)
        self._stamp, self._digest = self._current_stamp(), digest

    def pages_digest(self, pages: Iterable[ManifestPage]) -> str:
        """Return the digest of the listed pages."""
        self._digest = self._digest or manifest.pages_digest(pages)
        return self._digest

    def must_compare_pages(self, recheck_all: bool) -> bool:
        """True if all pages should be compared with the manifest: on request, and every `_RECHECK_SECONDS` seconds."""
        now = time.monotonic()
        due = recheck_all or now - self._last_comparison > _RECHECK_SECONDS
        if due:
            self._last_comparison = now
        return due

    def _current_stamp(self) -> tuple[int, ...]:
        try:
            status = os.stat(os.path.join(self.out, MANIFEST))
        except OSError:
            return ()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@dataclass
class BookState:
    """The state of one book."""

    index: Index
    notes: PageReadLog
    folder: BookFolder
    index_reused: bool = False  # the index is the one of the last update, brought up to date
    _addresses: tuple[object, Addresses] | None = None
    _work: tuple[object, dict[Subject, int]] | None = None

    def addresses(self, inputs: object, make: Callable[[], Addresses]) -> Addresses:
        """Return the addresses of the pages; the previous ones if `inputs` has not changed."""
        if self._addresses is None or self._addresses[0] != inputs:
            self._addresses = inputs, make()
        return self._addresses[1]

    def work(self, inputs: object, make: Callable[[], dict[Subject, int]]) -> dict[Subject, int]:
        """Return all page subjects with their position in the order of work; cached in the same way."""
        if self._work is None or self._work[0] != inputs:
            self._work = inputs, make()
        return self._work[1]

    def close(self) -> None:
        """Close the files."""
        self.index.facts.close()
        self.notes.close()


@dataclass
class ResidentState:
    """The state of all books of a repository, by folder."""

    will_update_again: bool = True  # there will be another update
    recheck_all: bool = True  # anything may have changed, for example a page that somebody overwrote
    books: dict[str, BookState] = field(default_factory=dict)
    store: StoreState = field(default_factory=StoreState)  # of the store

    @contextmanager
    def discard_on_error(self) -> Iterator[None]:
        """Discard the state if the block raises: it may be half updated."""
        try:
            yield
        except BaseException:
            self.forget()
            raise
        if not self.will_update_again:
            self.forget()

    def forget(self) -> None:
        """Discard everything."""
        for known in self.books.values():
            known.close()
        self.books.clear()
        self.store.forget()
