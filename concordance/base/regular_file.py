"""Opens plain files, and nothing else.

In: a path of which nobody knows what is there. Out: a file to read. A named pipe, on which a reader waits for a
writer, a device, which may never end, and a socket are errors, and are not waited for.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def opened(path: str) -> BinaryIO:
    """A plain file, open for reading; OSError where there is none."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a plain file", path)
    return os.fdopen(handle, "rb")


def is_other(path: str) -> bool:
    """Whether there is something at a path, and no plain file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
