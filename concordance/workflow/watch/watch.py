"""Watch a repository and keep its store and book current.

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
from concordance.render.summary import BookSummary
from concordance.workflow import builds, store_update
from concordance.workflow.resident import ResidentState
from concordance.workflow.stages import pages
from concordance.workflow.watch.file_watcher import POLL, FileChanges, FileWatcher, NotifyingWatcher, PollingWatcher
from concordance.workflow.workers import forked

AFTERWARDS = 5.0  # seconds without changes after an update: then all is checked once more, for lost notifications
HELP = "If a limit is reached, raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
AGAIN = 30.0  # seconds until a failed update is tried again
IDLE = 60.0  # seconds between checks whether the repository still exists

Tell = Callable[["Update"], None]


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
        self, root: str, out: str | None, wishes: Callable[[], Book] | None, jobs: int | None, progress: Progress
    ) -> None:
        """Create it; `wishes` returns the settings of the book and is called before each update, as they may change.
        If it is None there is no book, and only the store is kept current."""
        self.root, self.out, self.wishes, self.jobs, self.progress = root, out, wishes, jobs, progress
        self._walked: walk.WalkResult | None = None
        self._memory = ResidentState()
        self._head = ""
        self._written = ""  # the folder of the last written book
        self._updates = 0

    def update(self, paths: Collection[str], whole: bool) -> Update | None:
        """Update everything if one of the paths has changed, or, with `whole`, anything at all; None if nothing
        has."""
        with forked.without_gc():  # a garbage collection of all cached data takes longer than most updates
            return self._update(paths, whole)

    def _update(self, paths: Collection[str], whole: bool) -> Update | None:
        began = time.perf_counter()
        before, head = self._walked, history.head_commit(self.root)
        walked = walk.walk_with_counts(self.root) if whole or before is None else self._relisted(before, paths)
        known = {entry.path for entry in before[0]} if before is not None and paths else frozenset[str]()
        if self._is_same(walked, before) and head == self._head and known.isdisjoint(paths):
            return None
        self._memory.recheck_all = whole or (before is not None and _in_book(before, paths))
        self._walked = None  # until the update is in the store
        try:
            summary, book = self._made(walked)
        except BaseException:
            self._memory.forget()
            raise
        self._walked, self._head, self._written = walked, head, book.out
        self._updates += 1
        return Update(summary, book, time.perf_counter() - began, self._updates == 1)

    def _made(self, walked: walk.WalkResult) -> tuple[BuildSummary, BookSummary]:
        if self.wishes is None:
            summary = store_update.build(self.root, self.jobs, self.progress, walked, self._memory)
            return summary, BookSummary(self.folder())
        return builds.write_book(self.root, self.out, self.wishes(), self.jobs, self.progress, walked, self._memory)

    def _is_same(self, walked: walk.WalkResult, before: walk.WalkResult | None) -> bool:
        """True if nothing changed except our own book, whose pages are counted but are not files of the repository."""
        if before is None or walked[0] != before[0]:
            return False
        own = os.path.relpath(os.path.realpath(self.folder()), os.path.realpath(self.root)).replace(os.sep, "/")
        return all(count == before[1].get(book) for book, count in walked[1].items() if (book or ".") != own)

    def look_ahead(self) -> None:
        """Compute in advance what the next update needs from the whole, which takes longer than the update itself."""
        with forked.without_gc(), suppress(Exception):  # the next update meets the same error and reports it
            for known in self._memory.books.values():
                pages.preload(known)

    def folders(self) -> set[str]:
        """Return the folders that contain files."""
        return {entry.path.rpartition("/")[0] for entry in self._walked[0]} if self._walked is not None else set()

    def look(self) -> object:
        """Return a value that differs if something has changed."""
        return walk.walk_with_counts(self.root), history.head_commit(self.root)

    def folder(self) -> str:
        """Return the folder of the book."""
        return self._written or builds.book_folder(self.root, self.out)

    def _relisted(self, before: walk.WalkResult, paths: Collection[str]) -> walk.WalkResult:
        entries, passed = before
        now = None if _in_book(before, paths) else walk.update_listing(self.root, entries, paths)
        return walk.walk_with_counts(self.root) if now is None else (now, passed)


def _in_book(walked: walk.WalkResult, paths: Collection[str]) -> bool:
    """True if one of the paths is in the folder of a book."""
    books = tuple(f"{folder}/" if folder else "" for folder in walked[1])
    return any(path.startswith(books) for path in paths)


class Watch:
    """Watches a repository, and updates it whenever something changed."""

    def __init__(self, current: CurrentBook, poll: bool, tell: Tell) -> None:
        """Create a watch; `poll` does without notifications, which network drives do not send."""
        self.current, self.tell = current, tell
        self._said = ""  # the last error: repeated ones are reported once
        self._follower: FileWatcher | None = None
        if not poll:
            self._follower = self._notified()

    def run(self) -> None:
        """Run until interrupted."""
        if not os.path.isdir(self.current.root):
            walk.walk_with_counts(self.current.root)  # raises with the reason
        changes = FileChanges(whole=True)
        try:
            while True:
                waiting = self._updated(changes)
                changes = self._next(waiting)
                if waiting != IDLE and not changes.paths:
                    changes = FileChanges(whole=True)
        finally:
            if self._follower is not None:
                self._follower.close()

    def _updated(self, changes: FileChanges) -> float:
        """Update everything; return how many seconds to wait until everything is checked again."""
        if not os.path.isdir(self.current.root):
            raise NotARepository(f"{self.current.root} no longer exists", "Start watching again when it is back")
        if not changes.paths and not changes.whole:
            return IDLE
        try:
            update = self.current.update(changes.paths, changes.whole)
        except (ConcordanceError, OSError) as error:
            return self._failed(str(error))
        except Exception as error:  # an error in one update must not end the watch
            return self._failed(f"the program failed: {type(error).__name__}: {error}; please report this")
        self._said = ""
        if update is None:
            return IDLE
        if update.is_first or update.summary.read or update.summary.removed or update.book.changed or update.book.gone:
            self.tell(update)
        if update.is_first:  # nobody is waiting now
            self.current.look_ahead()
        gc.collect()
        return AFTERWARDS

    def _failed(self, why: str) -> float:
        if os.path.isdir(self.current.root) and why != self._said:
            self._say(
                f"{why.rstrip('.')}. The last complete store and book are kept; the next change triggers a new attempt"
            )
        self._said = why
        return AGAIN

    def _next(self, seconds: float) -> FileChanges:
        try:
            if isinstance(self._follower, NotifyingWatcher):
                self._follower.keep(self.current.folders(), self.current.folder())
            elif self._follower is None:
                self._follower = PollingWatcher(self.current.look)
            return self._follower.changes(seconds)
        except OSError as error:
            self._no_notifications(error)
        except ConcordanceError as error:  # the files could not be listed
            self._failed(str(error))
            time.sleep(POLL)
        return FileChanges(whole=True)

    def _notified(self) -> FileWatcher | None:
        try:
            return NotifyingWatcher(self.current.root, self.current.folder())
        except OSError as error:
            self._no_notifications(error)
            return None

    def _no_notifications(self, error: OSError) -> None:
        """Switch to polling."""
        if self._follower is not None:
            self._follower.close()
        self._follower = None
        self._say(f"no notifications of file changes ({error}), so the disk is checked every few seconds. {HELP}")

    def _say(self, word: str) -> None:
        self.current.progress("say", 0, 0, word)
