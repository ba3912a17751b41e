"""The one writer of the store.

In: files with their facts, in any order. Out: `index.db`. A first build is written beside the
place and renamed into it when it is whole; an update is one transaction. Either way a reader sees
the last complete store until the next one is complete.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from concordance.errors import ConcordanceError
from concordance.model import Change, File

from . import schema
from .pack import unpack


# One file's macros: name and form of each, as `extract.macros` has them; the store only keeps them.
Learned = tuple[tuple[bytes, str], ...]


class Reading(NamedTuple):
    """One file as a worker has read it."""

    file: File
    packed: bytes  # its facts, empty where it was not read
    symbols: tuple[tuple[str, str, int, int, bool], ...]  # name, kind, place, line, declaration
    terms: tuple[str, ...]  # distinct
    key: bytes  # of the cache; empty where there is nothing to keep
    problems: int  # findings that say that it could not be read whole
    cached: bool


class StoreFailed(ConcordanceError):
    """The store cannot be written."""


class Writer:
    """Writes one build. Leave it by `commit` or `abandon`."""

    def __init__(self, folder: str, fresh: bool) -> None:
        self.path = os.path.join(folder, "index.db")
        self.fresh = fresh
        self.target = f"{self.path}.{os.getpid()}.new" if fresh else self.path
        self.terms: Counter[str] = Counter()
        self._ids: dict[str, int] = {}
        self._next = 1
        self._connection = schema.connect(self.target)
        if fresh:
            # Nobody reads it before it is renamed, and a build that dies leaves it behind.
            self._connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            self._connection.executescript(schema.TABLES)
        else:
            self._connection.execute("PRAGMA synchronous = NORMAL")
            rows = self._connection.execute("SELECT id, path FROM file").fetchall()
            self._ids = {schema.path_from(path): identity for identity, path in rows}
            self._next = max(self._ids.values(), default=0) + 1
        self._connection.execute("BEGIN IMMEDIATE")

    def put(self, readings: Iterable[Reading]) -> None:
        """Writes files, in place of what was known of them."""
        files, facts, symbols = [], [], []
        for reading in readings:
            path = reading.file.path
            self.remove(path)
            identity = self._ids[path] = self._next
            self._next += 1
            row = reading.file
            files.append((identity, schema.stored_path(path), *row[1:]))
            if reading.packed:
                facts.append((identity, reading.packed))
            symbols += [(name, kind, identity, place, line, bare) for name, kind, place, line, bare in reading.symbols]
            self.terms.update(reading.terms)
        self._run(f"INSERT INTO file (id, {schema.FILE_COLUMNS}) VALUES (?, {schema.FILE_MARKS})", files)  # noqa: S608
        self._run("INSERT INTO facts VALUES (?, ?)", facts)
        self._run("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?)", symbols)

    def touch(self, path: str, changed: int) -> None:
        """Notes that a file has another time but is the same."""
        self._connection.execute("UPDATE file SET changed = ? WHERE id = ?", (changed, self._ids[path]))

    def remove(self, path: str) -> None:
        """Forgets a file."""
        identity = self._ids.pop(path, None)
        if identity is None:
            return
        run = self._connection.execute
        row = run("SELECT packed FROM facts WHERE file = ?", (identity,)).fetchone()
        if row:
            self.terms.subtract({term.text for term in unpack(row[0]).terms})
        run("DELETE FROM file WHERE id = ?", (identity,))
        for table in ("facts", "symbol", "change", "macro"):
            run(f"DELETE FROM {table} WHERE file = ?", (identity,))  # noqa: S608

    def put_changes(self, changes: Iterable[Change]) -> None:
        """Writes the files' history, in place of what was known of it."""
        encode = msgspec.msgpack.Encoder().encode
        self._connection.execute("DELETE FROM change")
        rows = [
            (self._ids[change.path], encode(change._replace(path="")))
            for change in changes
            if change.path in self._ids
        ]
        self._run("INSERT INTO change VALUES (?, ?)", rows)

    def put_macros(self, rows: Iterable[tuple[str, Learned]]) -> None:
        """Writes what files say of macros; the files must have been written."""
        encode = msgspec.msgpack.Encoder().encode
        self._run(
            "INSERT OR REPLACE INTO macro VALUES (?, ?)",
            [(self._ids[path], encode(learned)) for path, learned in rows if learned and path in self._ids],
        )

    def _run(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> StoreFailed:
        self.abandon()
        return StoreFailed(
            f"the store {self.path} could not be written: {error}", "Free some space on that disk and build again"
        )

    def commit(self, meta: dict[str, str]) -> None:
        """Makes the build the store."""
        try:
            changed = [(text, files) for text, files in self.terms.items() if files]
            self._connection.executemany(
                "INSERT INTO term VALUES (?, ?) ON CONFLICT (text) DO UPDATE SET files = files + excluded.files",
                sorted(changed) if self.fresh else changed,
            )
            self._connection.execute("DELETE FROM term WHERE files <= 0")
            rows = {**meta, "schema": str(schema.VERSION)}.items()
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
            if self.fresh:
                self._connection.executescript(schema.INDEXES)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA optimize")
            self._connection.close()
            if self.fresh:
                for left in (f"{self.path}-wal", f"{self.path}-shm"):
                    if os.path.exists(left):
                        os.remove(left)
                os.replace(self.target, self.path)
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from error

    def abandon(self) -> None:
        """Leaves the store as it was."""
        self._connection.close()
        if self.fresh:
            for left in (self.target, f"{self.target}-wal", f"{self.target}-shm", f"{self.target}-journal"):
                if os.path.exists(left):
                    os.remove(left)
