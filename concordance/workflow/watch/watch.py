"""Watches a repository and keeps its store and book current.

In: a repository, and a function to report to. Out: an `Update` whenever something changed. `CurrentBook` keeps what is
useful from one update to the next: the list of files, so that after an edit not every file has to be checked, and the
state of the store and the book (`ResidentState`). Errors are reported and the work goes on: with the next change, or
after a while, everything is checked again. It ends when it is interrupted, or when the repository is removed.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

from concordance.base.config import Book
from concordance.base.errors import ConcordanceError, NotARepository
from concordance.base.progress import BuildSummary, Progress
from concordance.collect import history, walk
from concordance.extract import engine
from concordance.facts.fulltext import index as fulltext
from concordance.facts.integrity import lock
from concordance.render.summary import BookSummary
from concordance.workflow import book_options, builds, store_update
from concordance.workflow.resident import ResidentState, return_freed_memory
from concordance.workflow.stages import pages
from concordance.workflow.store_location import store_path
from concordance.workflow.watch.file_watcher import POLL, FileChanges, FileWatcher, NotifyingWatcher, PollingWatcher
from concordance.workflow.workers import forked

RECHECK_SECONDS = 5.0  # seconds without changes after an update: then all is checked once more, for lost notifications
HELP = "If a limit is reached, raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
RETRY_SECONDS = 30.0  # seconds until a failed update is tried again
IDLE_SECONDS = 60.0  # seconds between checks whether the repository still exists

Listener = Callable[["Update"], None]


@dataclass
class Update:
    """The result of one update."""

    summary: BuildSummary
    book: BookSummary
    seconds: float
    is_first: bool


def as_row(update: Update) -> dict[str, object]:
    """Return an update as a row of JSON."""
    summary, book = update.summary, update.book
    return {
        "files": summary.files, "read": summary.read, "removed": summary.removed, "named": summary.named,
        "pages": book.pages, "written": book.changed, "gone": book.gone,
        "failed": [*summary.failed, *book.failed], "seconds": {**summary.seconds, "all": update.seconds},
    }  # fmt: skip


class CurrentBook:
    """A repository whose store and book are updated again and again."""

    def __init__(
        self, root: str, out: str | None, book_options: Callable[[], Book] | None, jobs: int | None, progress: Progress
    ) -> None:
        """Create it; `book_options` returns the settings of the book and is called before each update, as they may
        change. If it is None there is no book, and only the store is kept current."""
        self.root, self.out, self.book_options, self.jobs, self.progress = root, out, book_options, jobs, progress
        return_freed_memory()
        self._listing: walk.WalkResult | None = None
        self._resident = ResidentState()
        self._head = ""
        self._book_folder = ""  # the folder of the last written book
        self._updates = 0

    def update(self, paths: Collection[str], recheck_all: bool) -> Update | None:
        """Update everything if one of the paths has changed, or, with `recheck_all`, anything at all; None if nothing
        has."""
        with forked.without_gc():  # a garbage collection of all cached data takes longer than most updates
            return self._update(paths, recheck_all)

    def _update(self, paths: Collection[str], recheck_all: bool) -> Update | None:
        began = time.perf_counter()
        before, head = self._listing, history.history_key(self.root)
        listing = (
            walk.walk_with_counts(self.root) if recheck_all or before is None else self._update_listing(before, paths)
        )
        known = {entry.path for entry in before[0]} if before is not None and paths else frozenset[str]()
        if self._is_same(listing, before) and head == self._head and known.isdisjoint(paths):
            return None
        self._resident.recheck_all = recheck_all or (before is not None and _in_book(before, paths))
        self._listing = None  # until the update is in the store
        try:
            summary, book = self._write(listing)
        except BaseException:
            self._resident.forget()
            raise
        self._listing, self._head, self._book_folder = listing, head, book.out
        self._updates += 1
        return Update(summary, book, time.perf_counter() - began, self._updates == 1)

    def _write(self, listing: walk.WalkResult) -> tuple[BuildSummary, BookSummary]:
        if self.book_options is None:
            summary = store_update.build(self.root, self.jobs, self.progress, listing, self._resident)
            return summary, BookSummary(self.folder())
        return builds.write_book(
            self.root, self.out, self.book_options(), self.jobs, self.progress, listing, self._resident
        )

    def _is_same(self, listing: walk.WalkResult, before: walk.WalkResult | None) -> bool:
        """True if nothing changed except the pages of our own book, which are not files of the repository."""
        if before is None or listing[0] != before[0]:
            return False
        own = os.path.relpath(os.path.realpath(self.folder()), os.path.realpath(self.root)).replace(os.sep, "/")
        return all(count == before[1].get(book) for book, count in listing[1].items() if (book or ".") != own)

    def preload(self) -> None:
        """Compute in advance what the next update needs from the whole, which takes longer than the update itself."""
        with forked.without_gc(), suppress(Exception):  # the next update meets the same error and reports it
            for known in self._resident.books.values():
                pages.preload(known)
                for language in filter(None, known.index.counts):
                    engine.extract("", language)  # loads its reader, which forked workers then share
            store_update.preload(self.root, self._resident.store)

    def tidy(self) -> None:
        """Do in advance what the next update would have to wait for: collect garbage, and merge the full-text index."""
        gc.collect()
        folder = store_path(self.root)
        with suppress(Exception), lock.hold_lock(folder, lambda message: None, 0.0):  # another process may hold it
            fulltext.merge_in_advance(folder)

    def folders(self) -> set[str]:
        """Return the folders that contain files."""
        return {entry.path.rpartition("/")[0] for entry in self._listing[0]} if self._listing is not None else set()

    def snapshot(self) -> object:
        """Return a value that differs if something has changed."""
        return walk.walk_with_counts(self.root), history.history_key(self.root)

    def folder(self) -> str:
        """Return the folder of the book."""
        return self._book_folder or book_options.book_folder(self.root, self.out)

    def _update_listing(self, before: walk.WalkResult, paths: Collection[str]) -> walk.WalkResult:
        entries, skipped = before
        now = None if _in_book(before, paths) else walk.update_listing(self.root, entries, paths)
        return walk.walk_with_counts(self.root) if now is None else (now, skipped)


def _in_book(listing: walk.WalkResult, paths: Collection[str]) -> bool:
    """True if one of the paths is in the folder of a book."""
    books = tuple(f"{folder}/" if folder else "" for folder in listing[1])
    return any(path.startswith(books) for path in paths)


class Watch:
    """Watches a repository, and updates it whenever something changed."""

    def __init__(self, current: CurrentBook, poll: bool, listener: Listener) -> None:
        """Create a watch; `poll` does without notifications, which network drives do not send."""
        self.current, self.listener = current, listener
        self._last_error = ""  # the last error: repeated ones are reported once
        self._watcher: FileWatcher | None = None
        if not poll:
            self._watcher = self._start_notifications()

    def run(self) -> None:
        """Run until interrupted."""
        if not os.path.isdir(self.current.root):
            walk.walk_with_counts(self.current.root)  # raises with the reason
        changes = FileChanges(recheck_all=True)
        try:
            while True:
                waiting = self._update(changes)
                changes = self._next_changes(waiting)
                if waiting != IDLE_SECONDS and not changes.paths:
                    changes = FileChanges(recheck_all=True)
        finally:
            if self._watcher is not None:
                self._watcher.close()

    def _update(self, changes: FileChanges) -> float:
        """Update everything; return how many seconds to wait until everything is checked again."""
        if not os.path.isdir(self.current.root):
            raise NotARepository(f"{self.current.root} no longer exists", "Start watching again when it is back")
        if not changes.paths and not changes.recheck_all:
            return IDLE_SECONDS
        try:
            update = self.current.update(changes.paths, changes.recheck_all)
        except (ConcordanceError, OSError) as error:
            return self._report_failure(str(error))
        except Exception as error:  # an error in one update must not end the watch
            return self._report_failure(f"the program failed: {type(error).__name__}: {error}; please report this")
        self._last_error = ""
        if update is None:
            return IDLE_SECONDS
        if update.is_first or update.summary.read or update.summary.removed or update.book.changed or update.book.gone:
            self.listener(update)
        if update.is_first:  # nobody is waiting now
            self.current.preload()
        self.current.tidy()
        return RECHECK_SECONDS

    def _report_failure(self, why: str) -> float:
        if os.path.isdir(self.current.root) and why != self._last_error:
            self._report(
                f"{why.rstrip('.')}. The last complete store and book are kept; the next change triggers a new attempt"
            )
        self._last_error = why
        return RETRY_SECONDS

    def _next_changes(self, seconds: float) -> FileChanges:
        try:
            if isinstance(self._watcher, NotifyingWatcher):
                self._watcher.watch_folders(self.current.folders(), self.current.folder())
            elif self._watcher is None:
                self._watcher = PollingWatcher(self.current.snapshot)
            return self._watcher.changes(seconds)
        except OSError as error:
            self._switch_to_polling(error)
        except ConcordanceError as error:  # the files could not be listed
            self._report_failure(str(error))
            time.sleep(POLL)
        return FileChanges(recheck_all=True)

    def _start_notifications(self) -> FileWatcher | None:
        try:
            return NotifyingWatcher(self.current.root, self.current.folder())
        except OSError as error:
            self._switch_to_polling(error)
            return None

    def _switch_to_polling(self, error: OSError) -> None:
        """Switch to polling."""
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = None
        self._report(f"no notifications of file changes ({error}), so the disk is checked every few seconds. {HELP}")

    def _report(self, message: str) -> None:
        self.current.progress("say", 0, 0, message)
