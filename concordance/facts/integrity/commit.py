"""Commits an update of a database together with the checksums of its pages.

In: a connection in a transaction. Out: nothing. Between the two, no signal may end the program: it would close the
connection in good order, whereupon SQLite moves the log into the database and removes it, and then nothing tells the
new pages from damaged ones. (If the program is killed, the log stays.)
"""

from __future__ import annotations

import sqlite3

from concordance.base import forks
from concordance.facts.integrity import checksums


def commit(connection: sqlite3.Connection, path: str) -> None:
    """Commit the transaction and record the digests of the pages that it changed."""
    with forks.signals_deferred():
        connection.execute("COMMIT")
        checksums.add_committed(path)
