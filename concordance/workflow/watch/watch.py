"""Keeps a repository's store and book current for as long as somebody works on it.

In: a repository, and what is to be told. Out: an `Update` each time that something changed. What is worth keeping from
one update to the next is kept by `CurrentBook`: the list of files, so that after an edit not every file is looked at to
find the one that changed, and what is known of the store and the book (`memory`). Errors are told and the work goes on:
with the next change, or after a while, all is looked at again. It ends when it is interrupted, or when the repository
is gone.
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
from concordance.workflow import builds
from concordance.workflow.stages import pages
from concordance.workflow.state.resident import ResidentState
from concordance.workflow.watch.file_watcher import POLL, FileChanges, FileWatcher, NotifyingWatcher, PollingWatcher
from concordance.workflow.workers import forked

AFTERWARDS = 5.0  # seconds after an update, when all is calm: a last look, for what the system did not notify of
HELP = (
    "Where its limit is reached, raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
)
AGAIN = 30.0  # seconds after which what failed is tried again
IDLE = 60.0  # seconds between two looks whether the repository is still there

Tell = Callable[["Update"], None]


@dataclass
class Update:
    """What one update did."""

    summary: BuildSummary
    book: BookSummary
    seconds: float
    is_first: bool


def as_row(update: Update) -> dict[str, object]:
    """An update for programs."""
    summary, book = update.summary, update.book
    return {
        "files": summary.files, "read": summary.read, "removed": summary.removed, "named": summary.named,
        "pages": book.pages, "written": book.changed, "gone": book.gone,
        "failed": [*summary.failed, *book.failed], "seconds": {**summary.seconds, "all": update.seconds},
    }  # fmt: skip


class CurrentBook:
    """A repository whose store and book are brought up to date, again and again."""

    def __init__(
        self, root: str, out: str | None, wishes: Callable[[], Book] | None, jobs: int | None, progress: Progress
    ) -> None:
        """`wishes` is asked before each update: the owners may set something else meanwhile. Without any, there is no
        book, and the store alone is kept current."""
        self.root, self.out, self.wishes, self.jobs, self.progress = root, out, wishes, jobs, progress
        self._walked: walk.Walked | None = None
        self._memory = ResidentState()
        self._head = ""
        self._written = ""  # the folder that the last book was written into
        self._updates = 0

    def update(self, paths: Collection[str], whole: bool) -> Update | None:
        """Brings all up to date, where some paths may have changed, or `whole` says that anything may; None where
        nothing has."""
        with forked.undisturbed():  # to look through all that is kept takes longer than most updates
            return self._update(paths, whole)

    def _update(self, paths: Collection[str], whole: bool) -> Update | None:
        began = time.perf_counter()
        before, head = self._walked, history.head(self.root)
        walked = walk.walked(self.root) if whole or before is None else self._relisted(before, paths)
        known = {entry.path for entry in before[0]} if before is not None and paths else frozenset[str]()
        if self._is_same(walked, before) and head == self._head and known.isdisjoint(paths):
            return None
        self._memory.whole = whole or (before is not None and _in_book(before, paths))
        self._walked = None  # until it is known to be in the store
        try:
            summary, book = self._made(walked)
        except BaseException:
            self._memory.forget()
            raise
        self._walked, self._head, self._written = walked, head, book.out
        self._updates += 1
        return Update(summary, book, time.perf_counter() - began, self._updates == 1)

    def _made(self, walked: walk.Walked) -> tuple[BuildSummary, BookSummary]:
        if self.wishes is None:
            summary = builds.build(self.root, self.jobs, self.progress, walked, self._memory)
            return summary, BookSummary(self.folder())
        return builds.book(self.root, self.out, self.wishes(), self.jobs, self.progress, walked, self._memory)

    def _is_same(self, walked: walk.Walked, before: walk.Walked | None) -> bool:
        """Whether nothing changed but our own book, whose pages are counted but are no files."""
        if before is None or walked[0] != before[0]:
            return False
        own = os.path.relpath(os.path.realpath(self.folder()), os.path.realpath(self.root)).replace(os.sep, "/")
        return all(count == before[1].get(book) for book, count in walked[1].items() if (book or ".") != own)

    def look_ahead(self) -> None:
        """Works out what the next update will ask of the whole, which takes longer than the update."""
        with forked.undisturbed(), suppress(Exception):  # the next update will meet what is wrong, and it is said then
            for known in self._memory.books.values():
                pages.look_ahead(known)

    def folders(self) -> set[str]:
        """The folders of the files."""
        return {entry.path.rpartition("/")[0] for entry in self._walked[0]} if self._walked is not None else set()

    def look(self) -> object:
        """What differs when something has changed."""
        return walk.walked(self.root), history.head(self.root)

    def folder(self) -> str:
        """The folder of the book."""
        return self._written or builds.book_folder(self.root, self.out)

    def _relisted(self, before: walk.Walked, paths: Collection[str]) -> walk.Walked:
        entries, passed = before
        now = None if _in_book(before, paths) else walk.relisted(self.root, entries, paths)
        return walk.walked(self.root) if now is None else (now, passed)


def _in_book(walked: walk.Walked, paths: Collection[str]) -> bool:
    """Whether one of some paths is a page, or a file beside pages."""
    books = tuple(f"{folder}/" if folder else "" for folder in walked[1])
    return any(path.startswith(books) for path in paths)


class Watch:
    """Follows a repository, and brings it up to date whenever something changed."""

    def __init__(self, current: CurrentBook, poll: bool, tell: Tell) -> None:
        """With `poll` the system is not asked for notifications: those of a drive in a network do not come."""
        self.current, self.tell = current, tell
        self._said = ""  # the last failure: the same is said once
        self._follower: FileWatcher | None = None
        if not poll:
            self._follower = self._notified()

    def run(self) -> None:
        """Goes on until it is interrupted."""
        if not os.path.isdir(self.current.root):
            walk.walked(self.current.root)  # says what is wrong with it
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
        """Brings all up to date, and says for how many seconds to wait until the whole is looked at again."""
        if not os.path.isdir(self.current.root):
            raise NotARepository(f"{self.current.root} is gone", "Watch it again when it is back")
        if not changes.paths and not changes.whole:
            return IDLE
        try:
            update = self.current.update(changes.paths, changes.whole)
        except (ConcordanceError, OSError) as error:
            return self._failed(str(error))
        except Exception as error:  # a fault of ours in one update is not the end of those to come
            return self._failed(f"the program failed: {type(error).__name__}: {error}; please report this")
        self._said = ""
        if update is None:
            return IDLE
        if update.is_first or update.summary.read or update.summary.removed or update.book.changed or update.book.gone:
            self.tell(update)
        if update.is_first:  # now that nobody waits
            self.current.look_ahead()
        gc.collect()
        return AFTERWARDS

    def _failed(self, why: str) -> float:
        if os.path.isdir(self.current.root) and why != self._said:
            self._say(
                f"{why.rstrip('.')}. The last complete store and book stay; it is tried again with the next change"
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
        except ConcordanceError as error:  # no look could be had
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
        """From now on the disk is looked at again and again."""
        if self._follower is not None:
            self._follower.close()
        self._follower = None
        self._say(
            f"the system does not notify of changes ({error}), so the disk is looked at every few seconds. {HELP}"
        )

    def _say(self, word: str) -> None:
        self.current.progress("say", 0, 0, word)
