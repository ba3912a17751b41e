"""The store, open for reading: one connection and its basic queries.

In: the folder of a store. Out: rows, as SQLite returns them, from one snapshot for as long as it is open.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Self, TypeVar

from concordance.base.errors import StoreBroken
from concordance.facts import schema
from concordance.facts.integrity import checksums
from concordance.facts.integrity.failures import FAILURES

Decoded = TypeVar("Decoded")


class Store:
    """A store that is open for reading."""

    def __init__(self, folder: str, alone: bool = False) -> None:
        """`alone`: the caller holds the lock of the folder, so that nobody else is writing."""
        self.path = os.path.join(folder, "index.db")
        if not schema.is_ours(self.path):
            raise StoreBroken(f"{self.path} is not a store", "Run it without --no-update to build the store")
        self._connection = self._open_database()
        try:
            if self.meta().get("schema") != str(schema.VERSION):
                advice = "Run it without --no-update to rebuild the store"
                raise StoreBroken(f"{self.path} was written by another version", advice)
            checksums.require_intact(self.path, alone)
        except StoreBroken:
            self._connection.close()
            raise

    def _open_database(self) -> sqlite3.Connection:
        """Open a connection that sees one snapshot for as long as it is open."""
        try:
            connection = schema.connect(self.path, "ro")
            connection.execute("BEGIN")
            if connection.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone():
                raise self._broken()  # none of ours: a query of a view may never end
            connection.execute("SELECT count(*) FROM meta")
        except sqlite3.OperationalError:
            # A database with a write-ahead log needs to create a file next to it, which not every folder permits.
            if _size(f"{self.path}-wal") or os.access(os.path.dirname(self.path), os.W_OK):
                raise self._broken() from None
            connection = schema.connect(self.path, "immutable")
        except FAILURES as error:
            raise self._broken() from error
        return connection

    def _broken(self) -> StoreBroken:
        checksums.distrust(self.path)
        return StoreBroken(f"the store {self.path} is damaged", "Rebuild it with: concord build")

    def _rows(self, query: str, values: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            # Not from the cursor itself, which would be closed with this generator: that fails after its connection.
            yield from chain(self._connection.execute(query, values))
        except FAILURES as error:
            raise self._broken() from error

    def _all(self, query: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows at once, for queries whose rows are all needed."""
        try:
            return self._connection.execute(query, values).fetchall()
        except FAILURES as error:
            raise self._broken() from error

    def _row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        except FAILURES as error:
            raise self._broken() from error
        return row

    def _packed(self, table: str, path: str) -> bytes | None:
        """Return the value that a table holds for a file."""
        query = f"SELECT packed FROM {table} JOIN file ON {table}.file = file.id WHERE path = ?"  # noqa: S608
        row = self._row(query, schema.stored_path(path))
        return bytes(row[0]) if row else None

    def _count(self, table: str) -> int:
        row = self._row(f"SELECT count(*) FROM {table}")  # noqa: S608
        return int(row[0]) if row else 0

    def _decoded(self, decode: Callable[[bytes], Decoded], packed: bytes) -> Decoded:
        try:
            return decode(packed)
        except (TypeError, ValueError) as error:
            raise self._broken() from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reopen(self) -> None:
        """Open the store again: a connection must not be used on both sides of a fork.

        The inherited connection stays referenced, because only the other side may close it.
        """
        self._inherited = self._connection
        self._connection = self._open_database()

    def close(self) -> None:
        """Close the store."""
        self._connection.close()

    def meta(self) -> dict[str, str]:
        """Return the metadata that the build stored."""
        return {str(key): str(value) for key, value in self._rows("SELECT key, value FROM meta")}


def _size(path: str) -> int:
    return os.lstat(path).st_size if os.path.lexists(path) else 0
