"""A temporary folder for one run, and the removal of those that killed runs left behind.

In: nothing. Out: a folder that is gone when the run ends. A run that is killed cannot remove its own, so each folder
holds a file that its run keeps locked. The system releases the lock when the run dies, however it dies; the next run
removes the folders of this user whose lock is free.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

_PREFIX = "concordance-"
_NAME = re.compile(_PREFIX + r"[a-z0-9_]{8}")  # as `tempfile` makes them
_ASIDE = re.compile(r"^(text|index\.db)\.\d+(\.old)?\.new(-wal|-shm|-journal)?$")  # as builds name what they make
_ALIVE = "alive"
_NEW = 60.0  # seconds that an empty folder may be without a lock: its run was killed between the two …
_OLD = 86_400.0  # … and one with contents: its run could not make one
_TRIES = 10
_SHORT = 68  # bytes: a system takes 107 for a socket's path, and the names of ours take 39


@contextmanager
def folder(home: str | None = None) -> Iterator[str]:
    """A folder of this run, in the temporary folder or another."""
    home = home or tempfile.gettempdir()
    sweep(home)
    made, lock = _made(home)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@cache
def lasting() -> str:
    """A folder for as long as this process lives, whose path is short enough for a socket in it."""
    stack = ExitStack()
    atexit.register(stack.close)
    home = tempfile.gettempdir()
    return stack.enter_context(folder(home if len(os.fsencode(home)) <= _SHORT else "/tmp"))  # noqa: S108


def sweep(home: str) -> None:
    """Removes the folders of runs that are dead."""
    try:
        with os.scandir(home) as items:
            found = [item.path for item in items if _NAME.fullmatch(item.name)]
    except OSError:
        return
    for path in found:
        if not _is_ours(path):
            continue
        try:
            lock = _locked(path, 0)
        except BlockingIOError:  # its run is alive
            continue
        if lock is not None or _age(path) > _OLD:
            shutil.rmtree(path, ignore_errors=True)  # which follows no links
        elif _age(path) > _NEW:
            with suppress(OSError):  # it is removed where it is empty
                os.rmdir(path)
        if lock is not None:
            os.close(lock)


def sweep_store(folder: str) -> None:
    """Removes what killed builds left half written in a store's folder; the caller holds the store's lock."""
    try:
        with os.scandir(folder) as items:
            found = [(item.path, item.is_dir(follow_symlinks=False)) for item in items if _ASIDE.search(item.name)]
    except OSError:
        return
    for path, is_folder in found:
        if is_folder:
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)


def _is_ours(path: str) -> bool:
    """Whether it is a folder, no link to one, that belongs to this user."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _made(home: str) -> tuple[str, int | None]:
    """A new folder and its lock."""
    for _ in range(_TRIES):
        made = tempfile.mkdtemp(prefix=_PREFIX, dir=home)
        try:
            return made, _locked(made, os.O_CREAT)
        except BlockingIOError:  # another run took it for that of a dead one in the moment before it was locked
            shutil.rmtree(made, ignore_errors=True)
    return tempfile.mkdtemp(prefix=_PREFIX, dir=home), None


def _locked(path: str, flags: int) -> int | None:
    """The folder's lock, held; None where there is none and none can be made. BlockingIOError where another run has
    it."""
    try:
        handle = os.open(os.path.join(path, _ALIVE), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | flags)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    return handle


def _age(path: str) -> float:
    try:
        return time.time() - os.lstat(path).st_mtime
    except OSError:
        return 0.0
