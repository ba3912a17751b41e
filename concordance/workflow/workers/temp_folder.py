"""A temporary folder for one run, and the removal of those that killed runs left behind.

In: nothing. Out: a folder that is removed when the run ends. A run that is killed cannot remove its own, so each folder
contains a file that its run keeps locked. The system releases the lock when the process dies, however it dies; the next
run removes the folders of this user whose lock is free.
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

from concordance.base.errors import NoPermission

_PREFIX = "concordance-"
_NAME_LENGTH = 8
_NAME = re.compile(_PREFIX + rf"[a-z0-9_]{{{_NAME_LENGTH}}}")  # as `tempfile` names them
# The names that builds give to unfinished files.
_UNFINISHED_FILE = re.compile(r"^(text|index\.db)\.\d+(\.old)?\.new(-wal|-shm|-journal)?$")
_ALIVE = "alive"
_OPEN = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = 60.0  # seconds after which an empty folder without a lock is removed: its run was killed before locking it
_OLD = 86_400.0  # the same for a folder with content: its run could not create a lock
_TRIES = 10
_SHORT = 68  # bytes: a socket's path may have 107, and our own names take 39


@contextmanager
def folder(parent: str | None = None) -> Iterator[str]:
    """Create a folder for this run, in the temporary folder or another."""
    parent = parent or tempfile.gettempdir()
    sweep(parent)
    path, lock = _create(parent)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@cache
def process_folder() -> str:
    """Return a folder that exists as long as this process, with a path short enough for a socket."""
    stack = ExitStack()
    atexit.register(stack.close)
    parent = tempfile.gettempdir()
    return stack.enter_context(folder(parent if len(os.fsencode(parent)) <= _SHORT else "/tmp"))  # noqa: S108


def shared_path(key: str) -> str:
    """Return the path of the folder that processes of this machine share; its name begins a key, in hexadecimal."""
    return os.path.join(tempfile.gettempdir(), f"{_PREFIX}{key[:_NAME_LENGTH]}")


def shared_folder(key: str) -> str:
    """Create a folder that this process shares with others of this user, until the last of them ends."""
    path = shared_path(key)
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        if not _is_own_folder(path):
            break
        with suppress(FileNotFoundError):  # another run took it for a leftover in the moment before it was locked
            lock = os.open(os.path.join(path, _ALIVE), _OPEN | os.O_CREAT)
            fcntl.flock(lock, fcntl.LOCK_SH)
            if os.path.lexists(os.path.join(path, _ALIVE)):
                return path
            os.close(lock)
    raise NoPermission(f"{path} cannot be created", "Remove it")


def sweep(parent: str) -> None:
    """Remove the folders of runs that have ended."""
    try:
        with os.scandir(parent) as items:
            folders = [item.path for item in items if _NAME.fullmatch(item.name)]
    except OSError:
        return
    for path in folders:
        if not _is_own_folder(path):
            continue
        try:
            lock = _lock(path, 0)
        except BlockingIOError:  # its run is still active
            continue
        if lock is not None or _age(path) > _OLD:
            shutil.rmtree(path, ignore_errors=True)  # does not follow links
        elif _age(path) > _NEW:
            with suppress(OSError):  # fails if it is not empty
                os.rmdir(path)
        if lock is not None:
            os.close(lock)


def sweep_store(folder: str) -> None:
    """Remove unfinished files of killed builds from a store's folder; the caller holds the store's lock."""
    try:
        with os.scandir(folder) as items:
            folders = [
                (item.path, item.is_dir(follow_symlinks=False)) for item in items if _UNFINISHED_FILE.search(item.name)
            ]
    except OSError:
        return
    for path, is_folder in folders:
        if is_folder:
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)


def _is_own_folder(path: str) -> bool:
    """True if it is a folder, not a link to one, that belongs to this user."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _create(parent: str) -> tuple[str, int | None]:
    """Create a folder and its lock."""
    for _ in range(_TRIES):
        path = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        try:
            lock = _lock(path, os.O_CREAT)
        except BlockingIOError:  # another run took it for a leftover in the moment before it was locked
            shutil.rmtree(path, ignore_errors=True)
            continue
        if lock is None or os.path.lexists(os.path.join(path, _ALIVE)):
            return path, lock
        os.close(lock)  # it locks a file that another run has removed, for the same reason
    return tempfile.mkdtemp(prefix=_PREFIX, dir=parent), None


def _lock(path: str, flags: int) -> int | None:
    """Lock a folder and return the descriptor; None if there is no lock file and none can be created. BlockingIOError
    if another run holds the lock."""
    try:
        handle = os.open(os.path.join(path, _ALIVE), _OPEN | flags)
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
