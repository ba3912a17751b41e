"""Classifies errors of the store: is the disk at fault, or the store?

In: an exception of the system or SQLite. Out: whether the disk is at fault, and whether it is full.
"""

from __future__ import annotations

import errno
import sqlite3

# SQLite's errors when the disk, not the store, is at fault.
_DISK = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
                   sqlite3.SQLITE_BUSY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_TOOBIG))  # fmt: skip
_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


# What a damaged database makes Python raise: its texts, and SQLite's messages about them, may not be decodable.
FAILURES = (sqlite3.Error, UnicodeDecodeError)


def is_disk_error(error: Exception) -> bool:
    """True if the disk is at fault."""
    return isinstance(error, OSError) or _code(error) in _DISK


def is_access_error(error: Exception) -> bool:
    """True if SQLite could not open or write a file: no permission, or a damaged file header."""
    return _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def is_disk_full(error: Exception) -> bool:
    """True if the disk is full."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)  # SQLITE_IOERR: a quota or limit is reached


def _code(error: Exception) -> int:
    """Return SQLite's error code, without the details in its higher bits."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
