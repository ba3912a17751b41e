"""Updates the times of files whose content is unchanged, as after a checkout, a copy or `touch`.

In: rows of the ledger. Out: their rows in the store, with these times. Nothing else depends on the times, so nothing
counts as changed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress

from concordance.base.model import File
from concordance.facts import schema
from concordance.facts.integrity import checksums
from concordance.facts.integrity.failures import FAILURES

_RENEW = "UPDATE file SET changed = ?, altered = ?, inode = ? WHERE path = ?"


def put_times(connection: sqlite3.Connection, files: Iterable[File]) -> None:
    """Write the times into a store that is being written."""
    rows = ((file.changed, file.altered, file.inode, schema.stored_path(file.path)) for file in files)
    connection.executemany(_RENEW, rows)


def renew_times(folder: str, files: Iterable[File]) -> None:
    """Write the times into a store that is otherwise up to date, so that the files need not be hashed again.

    If that fails, the files are hashed again.
    """
    path = os.path.join(folder, "index.db")
    with suppress(OSError, *FAILURES):
        with closing(schema.connect(path, "rw")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            put_times(connection, files)
            connection.execute("COMMIT")
            checksums.add_committed(path)
        checksums.note_seen(path)
