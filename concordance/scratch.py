"""A temporary folder for one run, and the removal of those that killed runs left behind.

In: nothing. Out: a folder that is gone when the run ends. A run that is killed cannot remove its own, so each folder
holds a file that its run keeps locked. The system releases the lock when the run dies, however it dies; the next run
removes the folders of this user whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PREFIX = "concordance-"
_NAME = re.compile(_PREFIX + r"[a-z0-9_]{8}")  # as `tempfile` makes them
_ALIVE = "alive"
_NEW = 5.0  # seconds
_OLD = 86_400.0  # the same, of a folder without a lock: of a run that could not make one


@contextmanager
def folder() -> Iterator[str]:
    """A folder of this run."""
    sweep(tempfile.gettempdir())
    made = tempfile.mkdtemp(prefix=_PREFIX)
    lock = _locked(made, os.O_CREAT)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if lock is not None:
            os.close(lock)


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
        lock = _locked(path, 0)
        # One that was made in this moment may not be locked yet.
        if (lock is not None and _age(path) > _NEW) or (lock is None and _age(path) > _OLD and not _has_lock(path)):
            shutil.rmtree(path, ignore_errors=True)  # which follows no links
        if lock is not None:
            os.close(lock)


def _is_ours(path: str) -> bool:
    """Whether it is a folder, no link to one, that belongs to this user."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _locked(path: str, flags: int) -> int | None:
    """The folder's lock, held; None where another run holds it, or there is none and none can be made."""
    try:
        handle = os.open(os.path.join(path, _ALIVE), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | flags)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _has_lock(path: str) -> bool:
    return os.path.lexists(os.path.join(path, _ALIVE))


def _age(path: str) -> float:
    try:
        return time.time() - os.lstat(path).st_mtime
    except OSError:
        return 0.0
