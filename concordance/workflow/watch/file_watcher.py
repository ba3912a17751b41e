"""Follows a repository on the disk: waits until something changed and is calm again, and says what.

In: a folder, and the folder of its book, in which our own writing is no change. Out: `FileChanges`, the paths that may
have changed, or that the whole must be looked at. Folders are followed one by one, without what is in links, what git
ignores and git's own: a recursive watch would follow links out of the repository and pay for every object that git
writes. Notifications say when to look, and what is looked at is the disk, so one too many does no harm; for one that
the system lost there is `whole`, which follows every large burst, and a last look when all is calm.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from concordance.base.errors import ToolFailed
from concordance.collect import own_output, subprocesses, walk

STEP = 0.08  # seconds without a notification after which an edit is at its end …
CALM = 0.4  # … and a burst
BURST = 40  # paths
PATIENCE = 10.0  # seconds that a burst may last, before what there is of it is looked at
GIT_PATIENCE = 60.0  # the same, where git says that it is still at work
POLL = 2.0  # seconds between two looks where there are no notifications
_IN_GIT = frozenset(("HEAD", "index", "packed-refs", "config"))
_ADDED, _MODIFIED = 1, 2  # kinds of notifications
_TRIES = 5
_MOST_REFS = 1000  # folders of branches' names that are followed


class FileChanges(NamedTuple):
    """What may have changed since the last time."""

    paths: frozenset[str] = frozenset()
    whole: bool = False  # whether there may be more than the paths


class FileWatcher(Protocol):
    """What waits for changes."""

    def changes(self, seconds: float) -> FileChanges:
        """Waits for changes, but no longer than this; then there are none."""

    def close(self) -> None:
        """Ends it."""


class NotifyingWatcher:
    """Follows by the system's notifications; OSError where it has none, or none left."""

    def __init__(self, root: str, out: str) -> None:
        from watchfiles import _rust_notify as notify

        self._lost: type[Exception] = notify.WatchfilesRustInternalError
        self._start: Callable[[list[str]], Any] = lambda paths: notify.RustNotify(paths, False, False, 0, False, True)
        self.root = os.path.realpath(root)
        self._book = self._inside(out)
        self._git = git_folders(self.root)
        self._folders = frozenset(folders(self.root, self._book))
        self._notify = self._started()

    def _started(self) -> Any:
        """Notifications of the folders, as far as they are there: some may go in this moment."""
        for _ in range(_TRIES):
            watched = [os.path.join(self.root, folder) for folder in sorted(self._folders)]
            try:
                return self._start([*filter(os.path.isdir, watched), *_of_git(self._git)])
            except FileNotFoundError:
                continue
        raise OSError("its folders come and go too fast")

    def changes(self, seconds: float) -> FileChanges:
        """Waits for changes, until they end or have lasted for long."""
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
        return self._meant(seen)

    def _wait(self, seconds: float) -> set[tuple[int, str]]:
        """What is notified within some seconds, and until there is a short silence."""
        try:
            found = self._notify.watch(int(PATIENCE * 1000), int(STEP * 1000), max(1, int(seconds * 1000)), None)
        except self._lost:  # of a name that is no text, for one
            return {(_ADDED, "")}
        if found == "signal":
            raise KeyboardInterrupt
        return found if isinstance(found, set) else set()

    def _is_git_at_work(self) -> bool:
        """Whether git is changing the work tree; a lock that is older than any such work was left behind."""
        try:
            since = os.lstat(os.path.join(self._git[0], "index.lock")).st_mtime if self._git else 0.0
        except OSError:
            return False
        return time.time() - since < GIT_PATIENCE if since else False

    def _meant(self, seen: Iterable[tuple[int, str]]) -> FileChanges:
        """Which paths of the repository notifications are about."""
        paths, whole, anew = set(), False, False
        start = os.path.join(self.root, "")
        for kind, path in seen:
            if not path:
                whole = anew = True
            elif (inside := self._in_git(path)) is not None:
                whole = whole or _matters(inside)
                anew = anew or inside == "info/exclude"
            elif path.startswith(start) and not self._is_ours(name := path[len(start) :].replace(os.sep, "/")):
                if name in self._folders or os.path.isdir(path):
                    whole, anew = True, anew or kind != _MODIFIED
                else:
                    paths.add(name)
                    anew = anew or name.rpartition("/")[2] == ".gitignore"
        if anew:
            self._again(())
        return FileChanges(frozenset(paths), whole or anew or len(paths) > BURST)

    def _in_git(self, path: str) -> str | None:
        """The name of a file of git's own, from its folder."""
        for folder in self._git:
            if path.startswith(os.path.join(folder, "")):
                return path[len(folder) + 1 :].replace(os.sep, "/")
        return None

    def _is_ours(self, path: str) -> bool:
        """Whether a path is none of the repository's files, but the program's or version control's."""
        parts = path.split("/")
        if not walk.CONTROL_FOLDERS.isdisjoint(parts):
            return True
        if self._book != "." and not path.startswith(f"{self._book}/"):
            return False
        inside = path if self._book == "." else path[len(self._book) + 1 :]
        return own_output.CLAIMS in parts or inside == own_output.MANIFEST or own_output.is_page(inside)

    def _inside(self, folder: str) -> str:
        return os.path.relpath(os.path.realpath(folder), self.root).replace(os.sep, "/")

    def keep(self, needed: Iterable[str], out: str) -> None:
        """Sees to it that some folders are followed, and that the book is known by the folder that it is in now."""
        book, self._book = self._book, self._inside(out)
        if book != self._book or not self._folders.issuperset(needed):
            self._again(needed)

    def _again(self, needed: Iterable[str]) -> None:
        """Follows the folders that there are now."""
        self._folders = frozenset((*folders(self.root, self._book), *needed))
        before, self._notify = self._notify, self._started()
        before.close()

    def close(self) -> None:
        """Ends it."""
        self._notify.close()


class PollingWatcher:
    """Follows by looking again and again, where the system does not notify."""

    def __init__(self, look: Callable[[], object]) -> None:
        """`look` gives whatever differs when something changed."""
        self._look = look
        self._last, self._cost = self._timed()

    def _timed(self) -> tuple[object, float]:
        began = time.monotonic()
        return self._look(), time.monotonic() - began

    def changes(self, seconds: float) -> FileChanges:
        """Waits for changes, until they end or have lasted for long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(max(POLL, 10 * self._cost))
            now, self._cost = self._timed()
            if now != self._last:
                self._settle(now)
                return FileChanges(whole=True)
        return FileChanges()

    def _settle(self, now: object) -> None:
        latest = time.monotonic() + PATIENCE
        while now != self._last and time.monotonic() < latest:
            self._last = now
            time.sleep(CALM)
            now, self._cost = self._timed()
        self._last = now

    def close(self) -> None:
        """Nothing is held."""


def folders(root: str, book: str) -> Iterator[str]:
    """Every folder in which a file of a repository may stand, from its own, which is "" """
    in_git = walk.is_in_git(root)
    shut = _ignored(root) if in_git else frozenset()
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as items:
                inside = [item.name for item in items if item.is_dir(follow_symlinks=False) or item.name == ".git"]
        except OSError:  # gone meanwhile, or not to be looked into
            continue
        if folder and in_git and ".git" in inside:  # another repository: of this one it is a line in the index
            continue
        yield folder
        for name in inside:
            path = f"{folder}/{name}" if folder else name
            claims = name == own_output.CLAIMS and (book == "." or f"{folder}/".startswith(f"{book}/"))
            if name not in walk.CONTROL_FOLDERS and not claims and path not in shut:
                waiting.append(path)


def _ignored(root: str) -> frozenset[str]:
    """The folders of which git ignores all."""
    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    try:
        listed = b"".join(subprocesses.run_git(root, *asked)).split(b"\0")
    except ToolFailed:
        return frozenset()
    return frozenset(os.fsdecode(path[:-1]) for path in listed if path.endswith(b"/"))


def git_folders(root: str) -> tuple[str, ...]:
    """The folder of git's own files, and the one that all work trees of the repository share; none without git."""
    if not walk.is_in_git(root):
        return ()
    try:
        said = b"".join(subprocesses.run_git(root, "rev-parse", "--absolute-git-dir", "--git-common-dir"))
    except ToolFailed:
        return ()
    found = [os.path.realpath(os.path.join(root, os.fsdecode(line))) for line in said.splitlines()]
    return tuple(dict.fromkeys(found))


def _of_git(own_folders: tuple[str, ...]) -> Iterator[str]:
    """The folders of git that say where a work tree is at, and what it ignores."""
    for folder in own_folders:
        yield folder
    if own_folders:
        shared = own_folders[-1]
        if os.path.isdir(os.path.join(shared, "info")):
            yield os.path.join(shared, "info")
        for count, (folder, _, _) in enumerate(os.walk(os.path.join(shared, "refs", "heads"))):
            if count < _MOST_REFS:
                yield folder


def _matters(inside: str) -> bool:
    """Whether a file of git's own says where the work tree is at, or what belongs to it."""
    if inside.endswith(".lock"):
        return False
    return inside in _IN_GIT or inside == "info/exclude" or inside.startswith("refs/heads/")
