"""The one writer of the store.

In: files with their facts, in any order. Out: `index.db`. A first build is written beside the
place and renamed into it when it is whole; an update is one transaction. Either way a reader sees
the last complete store until the next one is complete.
"""

from __future__ import annotations

import errno
import glob
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import msgspec

from concordance.errors import StoreBroken, StoreFailed
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


# What SQLite says where the disk, not the store, is at fault.
_DISK = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
                   sqlite3.SQLITE_BUSY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_TOOBIG))  # fmt: skip
_NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class Writer:
    """Writes one build. Leave it by `commit` or `abandon`."""

    def __init__(self, folder: str, fresh: bool) -> None:
        self.path = os.path.join(folder, "index.db")
        self.fresh = fresh
        self.target = f"{self.path}.{os.getpid()}.new" if fresh else self.path
        self.terms: Counter[str] = Counter()
        self._ids: dict[str, int] = {}
        self._next = 1
        self._open: sqlite3.Connection | None = None
        with self._guarded():
            if fresh:
                self._begin()
            else:
                self._resume()
            self._connection.execute("BEGIN IMMEDIATE")

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise StoreFailed(f"the store {self.path} is no longer open")
        return self._open

    def _begin(self) -> None:
        """Starts a store beside the place. Nobody reads it before it is renamed."""
        for left in glob.glob(f"{glob.escape(self.path)}.*.new*"):  # of builds that were killed
            os.remove(left)
        self._open = schema.connect(self.target)
        self._connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        self._connection.executescript(schema.TABLES)

    def _resume(self) -> None:
        self._open = schema.connect(self.target, "rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        rows = self._connection.execute("SELECT id, path FROM file").fetchall()
        self._ids = {schema.path_from(path): identity for identity, path in rows}
        self._next = max(self._ids.values(), default=0) + 1

    def put(self, readings: Iterable[Reading]) -> None:
        """Writes files, in place of what was known of them; what they say of macros is written by `put_macros`."""
        with self._guarded():
            self._put(readings)

    def _put(self, readings: Iterable[Reading]) -> None:
        files, facts, symbols = [], [], []
        for reading in readings:
            path = reading.file.path
            identity = self._ids.get(path)
            if identity is None:
                identity = self._ids[path] = self._next
                self._next += 1
            else:
                self._forget(identity)
            row = reading.file
            files.append((identity, schema.stored_path(path), *row[1:]))
            if reading.packed:
                facts.append((identity, reading.packed))
            symbols += [(name, kind, identity, place, line, bare) for name, kind, place, line, bare in reading.symbols]
            self.terms.update(reading.terms)
        run = self._connection.executemany
        run(f"INSERT INTO file (id, {schema.FILE_COLUMNS}) VALUES (?, {schema.FILE_MARKS})", files)  # noqa: S608
        run("INSERT INTO facts VALUES (?, ?)", facts)
        run("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?)", symbols)

    def remove(self, path: str) -> None:
        """Forgets a file."""
        with self._guarded():
            identity = self._ids.pop(path, None)
            if identity is not None:
                self._forget(identity)
                self._connection.execute("DELETE FROM macro WHERE file = ?", (identity,))

    def _forget(self, identity: int) -> None:
        """Takes out what reading a file anew puts in again."""
        run = self._connection.execute
        row = run("SELECT packed FROM facts WHERE file = ?", (identity,)).fetchone()
        if row:
            self.terms.subtract({term.text for term in unpack(row[0]).terms})
        run("DELETE FROM file WHERE id = ?", (identity,))
        run("DELETE FROM facts WHERE file = ?", (identity,))
        run("DELETE FROM symbol WHERE file = ?", (identity,))

    def put_changes(self, changes: Iterable[Change]) -> None:
        """Writes the files' history, in place of what was known of it; by path, so that an edit leaves it as it is."""
        encode = msgspec.msgpack.Encoder().encode
        rows = [(schema.stored_path(change.path), encode(schema.stored_change(change))) for change in changes]
        with self._guarded():
            self._connection.execute("DELETE FROM change")
            self._connection.executemany("INSERT INTO change VALUES (?, ?)", rows)

    def put_macros(self, rows: Iterable[tuple[str, Learned]]) -> None:
        """Writes what files say of macros, in place of what they said; the files must have been written."""
        encode = msgspec.msgpack.Encoder().encode
        known = [(self._ids[path], learned) for path, learned in rows if path in self._ids]
        with self._guarded():
            self._connection.executemany("DELETE FROM macro WHERE file = ?", [(identity,) for identity, _ in known])
            said = [(identity, encode(learned)) for identity, learned in known if learned]
            self._connection.executemany("INSERT INTO macro VALUES (?, ?)", said)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Leaves the store as it was where it cannot be written, and says why."""
        try:
            yield
        except (OSError, sqlite3.Error, TypeError, ValueError) as error:
            self.abandon()
            if not self.fresh and not _is_of_disk(error):
                raise StoreBroken(f"the store {self.path} is damaged: {error}", "Build again") from error
            folder = os.path.dirname(self.path)
            advice = "Free some space on that disk" if _is_no_space(error) else f"See that {folder} may be written"
            message = f"the store {self.path} could not be written: {error}"
            raise StoreFailed(message, f"{advice}, and build again; the last complete store is as it was") from error

    def commit(self, meta: dict[str, str]) -> None:
        """Makes the build the store."""
        with self._guarded():
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
                # The log of another database must not be taken for this one's.
                _remove(self.path + end for end in schema.BESIDE)
                os.replace(self.target, self.path)

    def abandon(self) -> None:
        """Leaves the store as it was."""
        if self._open is not None:
            self._open.close()
            self._open = None
        if self.fresh:
            _remove([self.target, *(self.target + end for end in schema.BESIDE)])


def _code(error: Exception) -> int:
    """SQLite's code, without the details in its higher bits."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _is_of_disk(error: Exception) -> bool:
    return isinstance(error, OSError) or _code(error) in _DISK


def _is_no_space(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)  # the latter where a quota or limit is reached


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            os.remove(path)
