"""One build of a repository at a time.

In: the store's folder. Out: a lock that the operating system takes back when its holder dies, so
that there is no stale one to recognise. Readers need none: they see the last complete store.
"""

from __future__ import annotations

import errno
import fcntl
import os
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
