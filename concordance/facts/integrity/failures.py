"""Why a store could not be written: the disk's fault, or the store's.

In: what the system or SQLite raised. Out: which of the two, and whether it is room that is missing.
"""

from __future__ import annotations

import errno
import sqlite3

# What SQLite says where the disk, not the store, is at fault.
_DISK = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
                   sqlite3.SQLITE_BUSY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_TOOBIG))  # fmt: skip
_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


# What a damaged database makes Python raise: of its texts, and of what SQLite says of them, not all can be decoded.
FAILURES = (sqlite3.Error, UnicodeDecodeError)


def is_of_disk(error: Exception) -> bool:
    """Whether the disk is at fault."""
    return isinstance(error, OSError) or _code(error) in _DISK


def is_refusal(error: Exception) -> bool:
    """Whether SQLite would not open or write a file: it may not, or what the file says of its format is damaged."""
    return _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def is_no_space(error: Exception) -> bool:
    """Whether there is no room on it."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)  # the latter where a quota or limit is reached


def _code(error: Exception) -> int:
    """SQLite's code, without the details in its higher bits."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
