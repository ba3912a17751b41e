"""The build lock: only one build of a repository at a time.

In: the store's folder. Out: a lock that the operating system releases when its holder dies. Readers need no lock: they
see the last complete store. The holder writes into the lock file who it is and since when, so that a waiting process
can report for whom it waits. Waiting has a limit.

A process that the holder forked could keep the lock after the holder's death. Our own children release it and end with
their parent (`forks`); should one hang in the system nevertheless, the lock file is replaced by a new one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from concordance.base.errors import NoPermission, StoreFailed

LIMIT = 1800.0  # seconds that a build waits for another; building a very large repository takes less
_NOTICE = 30.0  # seconds between two messages about waiting
_ORPHANED = 10.0  # seconds after which the lock of a dead holder is replaced
_STEP = 0.05


class LockHolder(NamedTuple):
    """The holder of a lock, as it described itself."""

    pid: int
    began: int  # start time of the process in the system's ticks: the id may be reused by another process
    since: int  # when it took the lock, in seconds since 1970
    system: str  # the machine and container in which the id is valid

    def is_dead(self) -> bool:
        """True if it has certainly ended; unknown for a process of another machine or container."""
        return self.system != "" and self.system == _system() and _start_time(self.pid) != self.began

    def __str__(self) -> str:
        """Return a short description for messages."""
        command = _command(self.pid) if self.system == _system() else ""
        at = time.strftime("%H:%M:%S", time.localtime(self.since))
        return f"process {self.pid}{f', {command},' if command else ''} since {at}"


@contextmanager
def hold_lock(folder: str, report: Callable[[str], None], limit: float = LIMIT) -> Iterator[None]:
    """Hold the lock. Report through `report` while another process has it; raise StoreFailed after the limit."""
    path = os.path.join(folder, "lock")
    handle = _acquire(path, report, limit)
    try:
        _unshare(folder)
        note = f"{os.getpid()} {_start_time(os.getpid())} {int(time.time())} {_system()}\n"
        with suppress(OSError):  # a full disk: the note is only for messages
            os.ftruncate(handle, 0)
            os.pwrite(handle, note.encode(), 0)
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(handle, 0)
        os.close(handle)


def _unshare(folder: str) -> None:
    """Replace files that have another name elsewhere, as a copy by hard links has them, by copies of their own.

    Databases are changed in place, so the store of the original would be changed as well.
    """
    with os.scandir(folder) as inside:
        shared = [item.path for item in inside if item.is_file(follow_symlinks=False) and item.stat().st_nlink > 1]
    for path in shared:
        copy = f"{path}.own"
        with suppress(FileNotFoundError):
            os.unlink(copy)
        shutil.copyfile(path, copy, follow_symlinks=False)
        os.replace(copy, path)


def _acquire(path: str, report: Callable[[str], None], limit: float) -> int:
    """Wait for the lock and return a descriptor that holds it."""
    began = reported = time.monotonic()
    handle = _open(path)
    if not _try(handle):
        report(f"another build of this repository is running{_holder_note(handle)}; waiting for it")
        while not _try(handle):
            now, holder = time.monotonic(), _holder(handle)
            if now - began > limit:
                os.close(handle)
                advice = f"End it with `kill {holder.pid}`" if holder is not None else "Build again when it has ended"
                who = str(holder) if holder is not None else "another process"
                raise StoreFailed(f"{path} is still held by {who} after {limit:,.0f} s of waiting", advice)
            if now - reported > _NOTICE:
                report(f"still waiting for the build of {holder or 'another process'}")
                reported = now
            if now - began > _ORPHANED and holder is not None and holder.is_dead():
                report(f"the build of process {holder.pid} is dead, but its lock is still held; replacing the lock")
                _remove_lock_file(path, handle)
            time.sleep(_STEP)
            if not _is_open_file(path, handle):
                os.close(handle)
                handle = _open(path)
    if not _is_open_file(path, handle):  # it was replaced at this moment
        os.close(handle)
        return _acquire(path, report, limit)
    return handle


def _holder_note(handle: int) -> str:
    holder = _holder(handle)
    return f" ({holder})" if holder is not None else ""


def _open(path: str) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NoPermission(f"{path} cannot be opened: it is a link", "Remove it") from error
        advice = "Put the store elsewhere (--store DIR); an existing store can be read with --no-update"
        raise NoPermission(f"{path} cannot be opened: {error.strerror}", advice) from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise NoPermission(f"{path} cannot be opened: it is not a regular file", "Remove it")
    if status.st_nlink > 1:  # the same file has another name elsewhere, and writing here would change it there
        os.close(handle)
        os.unlink(path)
        return _open(path)
    return handle


def _try(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_open_file(path: str, handle: int) -> bool:
    """True if a path is still that of an open file."""
    try:
        there = os.lstat(path)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(handle))


def _remove_lock_file(path: str, handle: int) -> None:
    """Remove a lock file if it is still the open one; the folder is locked, so that only one process does it."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _try(folder) and _is_open_file(path, handle):
            os.unlink(path)
    finally:
        os.close(folder)


def _holder(handle: int) -> LockHolder | None:
    """Return the holder of a lock; None if the lock file does not say."""
    try:
        pid, began, since, system = os.pread(handle, 200, 0).decode("ascii").split()
        return LockHolder(int(pid), int(began), int(since), system)
    except (OSError, ValueError):
        return None


def _start_time(pid: int) -> int:
    """Return the start time of a process in the system's ticks; 0 if there is none or the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def _system() -> str:
    """Identify the scope in which process ids are unique: a boot of the machine, and a container on it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _command(pid: int) -> str:
    """Return the command line of a process."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read(1000).split(b"\0") if word]
    except OSError:
        return ""
    shown = [os.path.basename(word) if place < 2 else word for place, word in enumerate(words)]
    shown = shown[1:] if len(shown) > 1 and shown[0].startswith("python") else shown
    return " ".join(" ".join(shown).split())[:80]


def is_held(folder: str, patience: float = 0.0) -> bool:
    """True if a build is running, and still is after `patience` seconds."""
    end = time.monotonic() + patience
    try:
        handle = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # there is no usable lock file; a build reports what is wrong with it
        return False
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    return True
                time.sleep(0.02)
            else:
                return False
    finally:
        os.close(handle)
