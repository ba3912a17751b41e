"""One build of a repository at a time.

In: the store's folder. Out: a lock that the operating system takes back when its holder dies. Readers need none: they
see the last complete store. The holder notes in the lock file who it is and since when, so that whoever waits can say
for whom. Waiting has a limit.

A process that the holder forked could keep the lock beyond the holder's death. Our own children let go of it and end
with their parent (`forks`); should one hang in the system nevertheless, the lock file is put aside for a new one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from concordance.base.errors import NoPermission, StoreFailed

LIMIT = 1800.0  # seconds that a build waits for another; that of a very large repository takes less
_NOTICE = 30.0  # seconds between two words about it
_ORPHANED = 10.0  # seconds after which a lock is taken whose holder is dead
_STEP = 0.05


class LockHolder(NamedTuple):
    """Who holds a lock, as it noted itself."""

    pid: int
    began: int  # when the process was started, in the system's ticks: a number may be given to another process
    since: int  # when it took the lock, in seconds since 1970
    system: str  # where the number means this process

    def is_dead(self) -> bool:
        """Whether it has certainly ended; of a process of another machine or container that is not known."""
        return self.system != "" and self.system == _system() and _began(self.pid) != self.began

    def __str__(self) -> str:
        """A few words for a message."""
        command = _command(self.pid) if self.system == _system() else ""
        at = time.strftime("%H:%M:%S", time.localtime(self.since))
        return f"process {self.pid}{f', {command},' if command else ''} since {at}"


@contextmanager
def held(folder: str, say: Callable[[str], None], limit: float = LIMIT) -> Iterator[None]:
    """Holds the lock. While another process has it, `say` is told; StoreFailed where it has it for too long."""
    path = os.path.join(folder, "lock")
    handle = _acquired(path, say, limit)
    try:
        note = f"{os.getpid()} {_began(os.getpid())} {int(time.time())} {_system()}\n"
        with suppress(OSError):  # a full disk: it is only for messages
            os.ftruncate(handle, 0)
            os.pwrite(handle, note.encode(), 0)
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(handle, 0)
        os.close(handle)


def _acquired(path: str, say: Callable[[str], None], limit: float) -> int:
    """A descriptor that holds the lock."""
    began = said = time.monotonic()
    handle = _opened(path)
    if not _try(handle):
        say(f"another build of this repository is running{_by(handle)}; waiting for it")
        while not _try(handle):
            now, holder = time.monotonic(), _holder(handle)
            if now - began > limit:
                os.close(handle)
                advice = f"End it with `kill {holder.pid}`" if holder is not None else "Build again when it has ended"
                who = str(holder) if holder is not None else "another process"
                raise StoreFailed(f"{path} is still held by {who}, after {limit:,.0f} s of waiting", advice)
            if now - said > _NOTICE:
                say(f"still waiting for the build of {holder or 'another process'}")
                said = now
            if now - began > _ORPHANED and holder is not None and holder.is_dead():
                say(f"the build of process {holder.pid} is dead, but left its lock behind; a new one is made")
                _put_aside(path, handle)
            time.sleep(_STEP)
            if not _is_at(path, handle):
                os.close(handle)
                handle = _opened(path)
    if not _is_at(path, handle):  # it was put aside in this moment
        os.close(handle)
        return _acquired(path, say, limit)
    return handle


def _by(handle: int) -> str:
    holder = _holder(handle)
    return f" ({holder})" if holder is not None else ""


def _opened(path: str) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NoPermission(f"{path} cannot be opened: it is a link", "Remove it") from error
        advice = "Put the store elsewhere (--store DIR); one that is there already answers with --no-update"
        raise NoPermission(f"{path} cannot be opened: {error.strerror}", advice) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NoPermission(f"{path} cannot be opened: it is no regular file", "Remove it")
    return handle


def _try(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: str, handle: int) -> bool:
    """Whether a path still leads to an open file."""
    try:
        there = os.lstat(path)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(handle))


def _put_aside(path: str, handle: int) -> None:
    """Removes a lock file, where it is still the one that is open; the folder is locked, so that only one does."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _try(folder) and _is_at(path, handle):
            os.unlink(path)
    finally:
        os.close(folder)


def _holder(handle: int) -> LockHolder | None:
    """Who holds a lock; None where that is not said."""
    try:
        pid, began, since, system = os.pread(handle, 200, 0).decode("ascii").split()
        return LockHolder(int(pid), int(began), int(since), system)
    except (OSError, ValueError):
        return None


def _began(pid: int) -> int:
    """When a process was started, in the system's ticks; 0 where there is none or the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in (b"Z", b"X") else int(fields[19])


def _system() -> str:
    """Names the space in which a process number means one process: a start of the machine, and a container on it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _command(pid: int) -> str:
    """How a process was called."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = [os.fsdecode(word) for word in file.read(1000).split(b"\0") if word]
    except OSError:
        return ""
    shown = [os.path.basename(word) if place < 2 else word for place, word in enumerate(words)]
    shown = shown[1:] if len(shown) > 1 and shown[0].startswith("python") else shown
    return " ".join(" ".join(shown).split())[:80]


def is_held(folder: str, patience: float = 0.0) -> bool:
    """Whether a build is running, and still is after so many seconds."""
    end = time.monotonic() + patience
    try:
        handle = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # none, or none of ours: who wants to build is told
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
