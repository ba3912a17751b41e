"""One build of a repository at a time.

In: the store's folder. Out: a lock that the operating system takes back when its holder dies, so
that there is no stale one to recognise. Readers need none: they see the last complete store.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def held(folder: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds the lock; `waiting` is called once where another process has it."""
    handle = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
