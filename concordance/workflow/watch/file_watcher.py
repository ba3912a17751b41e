"""Watches the files of a repository: waits until something has changed and all is quiet again, and returns what.

In: a folder, and the folder of its book, where our own writing does not count as a change. Out: `FileChanges`: the
paths that may have changed, or that everything must be checked. Folders are watched one by one, without links, ignored
folders and git's own: a recursive watch would follow links out of the repository and report every object that git
writes. Notifications only say when to check the disk, so extra ones do no harm. Some may be lost: after a large burst
`recheck_all` says so, and all is checked once more when everything is calm.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from concordance.base.errors import ToolFailed
from concordance.collect import own_output, subprocesses, walk

STEP = 0.08  # seconds without a notification after which an edit is complete
CALM = 0.4  # the same for a burst
BURST = 40  # number of paths from which on changes count as a burst
PATIENCE = 10.0  # seconds after which a burst that goes on is handled anyway
GIT_PATIENCE = 60.0  # the same while git is at work
POLL = 2.0  # seconds between checks without notifications
_IN_GIT = frozenset(("HEAD", "index", "packed-refs", "config"))
_ADDED, _MODIFIED = 1, 2  # kinds of notifications
_TRIES = 5
_MOST_REFS = 1000  # most folders of branches that are watched


class FileChanges(NamedTuple):
    """What may have changed since the last call."""

    paths: frozenset[str] = frozenset()
    recheck_all: bool = False  # other paths may have changed too


class FileWatcher(Protocol):
    """Waits for changes."""

    def changes(self, seconds: float) -> FileChanges:
        """Wait for changes, at most this many seconds; returns empty changes if there are none."""

    def close(self) -> None:
        """Release the resources."""


class NotifyingWatcher:
    """Uses the system's notifications; raises OSError if there are none, or if their limit is reached."""

    def __init__(self, root: str, out: str) -> None:
        from watchfiles import _rust_notify as notify

        self._error: type[Exception] = notify.WatchfilesRustInternalError
        self._start: Callable[[list[str]], Any] = lambda paths: notify.RustNotify(paths, False, False, 0, False, True)
        self.root = os.path.realpath(root)
        self._book = self._path_inside(out)
        self._git = git_folders(self.root)
        self._folders = frozenset(watched_folders(self.root, self._book))
        self._notify = self._start_watching()

    def _start_watching(self) -> Any:
        """Start the notifications for all folders that exist: some may disappear at this moment."""
        for _ in range(_TRIES):
            watched = [os.path.join(self.root, folder) for folder in sorted(self._folders)]
            try:
                return self._start([*filter(os.path.isdir, watched), *_watched_git_folders(self._git)])
            except FileNotFoundError:
                continue
            except UnicodeEncodeError as error:
                raise OSError("a folder's name is not valid UTF-8") from error
        raise OSError("folders are created and deleted too fast")

    def changes(self, seconds: float) -> FileChanges:
        """Wait for changes, until they end or have lasted too long."""
        seen = self._wait(seconds)
        if not seen:
            return FileChanges()
        began, busy = time.monotonic(), self._is_git_at_work()
        while time.monotonic() - began < (GIT_PATIENCE if busy else PATIENCE) and (busy or len(seen) > BURST):
            more = self._wait(CALM)
            if not more and not busy:
                break
            seen |= more
            busy = self._is_git_at_work()
        return self._changes_in(seen)

    def _wait(self, seconds: float) -> set[tuple[int, str]]:
        """Return the notifications of the next seconds, up to a short silence."""
        try:
            events = self._notify.watch(int(PATIENCE * 1000), int(STEP * 1000), max(1, int(seconds * 1000)), None)
        except self._error:  # for example, a name that is not valid text
            return {(_ADDED, "")}
        if events == "signal":
            raise KeyboardInterrupt
        return events if isinstance(events, set) else set()

    def _is_git_at_work(self) -> bool:
        """True if git is changing the work tree; a lock that is older than any such work is a leftover."""
        try:
            since = os.lstat(os.path.join(self._git[0], "index.lock")).st_mtime if self._git else 0.0
        except OSError:
            return False
        return time.time() - since < GIT_PATIENCE if since else False

    def _changes_in(self, notifications: Iterable[tuple[int, str]]) -> FileChanges:
        """Return the paths of the repository that notifications are about."""
        paths, recheck_all, restart = set(), False, False
        start = os.path.join(self.root, "")
        for kind, path in notifications:
            if not path:
                recheck_all = restart = True
            elif (inside := self._in_git(path)) is not None:
                recheck_all = recheck_all or _affects_work_tree(inside)
                restart = restart or inside == "info/exclude"
            elif path.startswith(start) and not self._is_own_file(name := path[len(start) :].replace(os.sep, "/")):
                if name in self._folders or os.path.isdir(path):
                    recheck_all, restart = True, restart or kind != _MODIFIED
                else:
                    paths.add(name)
                    restart = restart or name.rpartition("/")[2] == ".gitignore"
        if restart:
            self._restart(())
        return FileChanges(frozenset(paths), recheck_all or restart or len(paths) > BURST)

    def _in_git(self, path: str) -> str | None:
        """Return the path of a file inside git's own folders; None if it is outside."""
        for folder in self._git:
            if path.startswith(os.path.join(folder, "")):
                return path[len(folder) + 1 :].replace(os.sep, "/")
        return None

    def _is_own_file(self, path: str) -> bool:
        """True if a path belongs to the program or to version control, not to the repository's files."""
        parts = path.split("/")
        if not walk.CONTROL_FOLDERS.isdisjoint(parts):
            return True
        if self._book != "." and not path.startswith(f"{self._book}/"):
            return False
        inside = path if self._book == "." else path[len(self._book) + 1 :]
        return own_output.CLAIMS in parts or inside == own_output.MANIFEST or own_output.is_page(inside)

    def _path_inside(self, folder: str) -> str:
        return os.path.relpath(os.path.realpath(folder), self.root).replace(os.sep, "/")

    def watch_folders(self, needed: Iterable[str], out: str) -> None:
        """Watch further folders if needed, and follow the book to its current folder."""
        book, self._book = self._book, self._path_inside(out)
        if book != self._book or not self._folders.issuperset(needed):
            self._restart(needed)

    def _restart(self, needed: Iterable[str]) -> None:
        """Restart the notifications with the folders that exist now."""
        self._folders = frozenset((*watched_folders(self.root, self._book), *needed))
        before, self._notify = self._notify, self._start_watching()
        before.close()

    def close(self) -> None:
        """Release the resources."""
        self._notify.close()


class PollingWatcher:
    """Checks the files again and again, for systems without notifications."""

    def __init__(self, snapshot: Callable[[], object]) -> None:
        """Create a watcher; `snapshot` returns a value that differs if something changed."""
        self._snapshot = snapshot
        self._last, self._cost = self._timed_snapshot()

    def _timed_snapshot(self) -> tuple[object, float]:
        began = time.monotonic()
        return self._snapshot(), time.monotonic() - began

    def changes(self, seconds: float) -> FileChanges:
        """Wait for changes, until they end or have lasted too long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(max(POLL, 10 * self._cost))
            now, self._cost = self._timed_snapshot()
            if now != self._last:
                self._settle(now)
                return FileChanges(recheck_all=True)
        return FileChanges()

    def _settle(self, current: object) -> None:
        latest = time.monotonic() + PATIENCE
        while current != self._last and time.monotonic() < latest:
            self._last = current
            time.sleep(CALM)
            current, self._cost = self._timed_snapshot()
        self._last = current

    def close(self) -> None:
        """Do nothing: there are no resources."""


def watched_folders(root: str, book: str) -> Iterator[str]:
    """Yield every folder that may contain files of the repository; its root is ""."""
    in_git = walk.is_in_git(root)
    shut = _ignored_folders(root) if in_git else frozenset()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as items:
                inside = [item.name for item in items if item.is_dir(follow_symlinks=False) or item.name == ".git"]
        except OSError:  # deleted meanwhile, or not readable
            continue
        if folder and in_git and ".git" in inside:  # another repository: for this one it is just an entry in the index
            continue
        yield folder
        for name in inside:
            path = f"{folder}/{name}" if folder else name
            claims = name == own_output.CLAIMS and (book == "." or f"{folder}/".startswith(f"{book}/"))
            if name not in walk.CONTROL_FOLDERS and not claims and path not in shut:
                waiting.append(path)


def _ignored_folders(root: str) -> frozenset[str]:
    """Return the folders that git ignores completely."""
    arguments = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    try:
        listed = b"".join(subprocesses.run_git(root, *arguments)).split(b"\0")
    except ToolFailed:
        return frozenset()
    return frozenset(os.fsdecode(path[:-1]) for path in listed if path.endswith(b"/"))


def git_folders(root: str) -> tuple[str, ...]:
    """Return git's folder of this work tree, and the one that all work trees share; empty without git."""
    if not walk.is_in_git(root):
        return ()
    try:
        output = b"".join(subprocesses.run_git(root, "rev-parse", "--absolute-git-dir", "--git-common-dir"))
    except ToolFailed:
        return ()
    folders = [os.path.realpath(os.path.join(root, os.fsdecode(line))) for line in output.splitlines()]
    return tuple(dict.fromkeys(folders))


def _watched_git_folders(own_folders: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders of git that hold the current commit and the ignore rules."""
    for folder in own_folders:
        yield folder
    if own_folders:
        shared = own_folders[-1]
        if os.path.isdir(os.path.join(shared, "info")):
            yield os.path.join(shared, "info")
        for count, (folder, _, _) in enumerate(os.walk(os.path.join(shared, "refs", "heads"))):
            if count < _MOST_REFS:
                yield folder


def _affects_work_tree(inside: str) -> bool:
    """True if a file of git's own determines the current commit or the files of the work tree."""
    if inside.endswith(".lock"):
        return False
    return inside in _IN_GIT or inside == "info/exclude" or inside.startswith("refs/heads/")
