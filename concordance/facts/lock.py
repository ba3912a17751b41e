"""One build of a repository at a time.

In: the store's folder. Out: a lock that the operating system takes back when its holder dies, so
that there is no stale one to recognise. Readers need none: they see the last complete store.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from concordance.errors import NoPermission


@contextmanager
def held(folder: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock; `waiting` is called once where another process has it."""
    path = os.path.join(folder, "lock")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror
        advice = "See that you may write there; a store that is there already answers with --no-update"
        raise NoPermission(f"{path} cannot be opened: {reason}", advice) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_held(folder: str, patience: float = 0.0) -> bool:
    """Whether a build is running, and still is after so many seconds."""
    end = time.monotonic() + patience
    try:
        handle = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
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
