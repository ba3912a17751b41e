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
from concordance.model import RUN, Change, File, Finding, unpacked

from . import schema
from .pack import unpack

# One file's macros: name and form of each, as `extract.macros` has them; the store only keeps them.
Learned = tuple[tuple[bytes, str], ...]


class Reading(NamedTuple):
    """One file as a worker has read it."""

    file: File
    packed: bytes  # its facts, empty where it was not read
    flow: bytes  # its flow, empty where its language has no names to link
    words: bytes  # for the full-text index
    # name, kind, place, line, declaration, column, public, key, whether it is a test
    symbols: tuple[tuple[str, str, int, int, bool, int, bool, str, bool], ...]
    terms: tuple[str, ...]  # distinct
    key: bytes  # of the cache; empty where there is nothing to keep
    problems: int  # findings that say that it could not be read whole
    cached: bool


class Linkable(NamedTuple):
    """One file as the linker needs it."""

    id: int
    base: int  # the id of the file as a target; its symbols' ids follow
    path: str
    language: str
    category: str
    flow: bytes  # empty where there is nothing to link


class LinkedFile(NamedTuple):
    """What linking one file gives."""

    file: int  # its id
    links: bytes  # packed
    uses: tuple[bytes, ...]  # in columns: target, user, roles, trust, times; empty where there are none
    missed: dict[str, tuple[int, int]]  # names that lead nowhere: how often they are called, and stand there at all
    overrides: list[tuple[int, int, int]]  # method, what it overrides, trust
    edges: bytes  # who leads to whom, packed as in `graph`
    named: int  # expressions that name something …
    resolved: int  # … of which so many lead somewhere
    base: int  # the id of the file as a target
    loads: bytes  # the ids of the files that it needs when it is loaded, packed
    extends: list[tuple[int, int]]  # class, base


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
        self._base = 1
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
        # Most of the store is values of some ten thousand bytes; on pages of that size they are read twice as fast.
        self._connection.executescript("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        self._connection.executescript(schema.TABLES)

    def _resume(self) -> None:
        self._open = schema.connect(self.target, "rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        rows = self._connection.execute("SELECT id, path FROM file").fetchall()
        self._ids = {schema.path_from(path): identity for identity, path in rows}
        self._next = max(self._ids.values(), default=0) + 1
        (base,) = self._connection.execute("SELECT max(base) FROM file").fetchone()
        (symbol,) = self._connection.execute("SELECT max(id) FROM symbol").fetchone()
        self._base = max(base or 0, symbol or 0) + 1

    def put(self, readings: Iterable[Reading]) -> None:
        """Writes files, in place of what was known of them; what they say of macros is written by `put_macros`."""
        with self._guarded():
            self._put(readings)

    def _put(self, readings: Iterable[Reading]) -> None:
        files, facts, flows, symbols = [], [], [], []
        for reading in readings:
            path = reading.file.path
            identity = self._ids.get(path)
            if identity is None:
                identity = self._ids[path] = self._next
                self._next += 1
            else:
                self._forget(identity)
            row = reading.file
            base = self._base
            self._base += 1 + len(reading.symbols)
            files.append((identity, base, schema.stored_path(path), *row[1:]))
            if reading.packed:
                facts.append((identity, reading.packed))
            if reading.flow:
                flows.append((identity, reading.flow))
            symbols += [(base + 1 + s[2], s[0], s[1], identity, *s[2:]) for s in reading.symbols]
            self.terms.update(reading.terms)
        run = self._connection.executemany
        run(f"INSERT INTO file (id, base, {schema.FILE_COLUMNS}) VALUES (?, ?, {schema.FILE_MARKS})", files)  # noqa: S608
        run("INSERT INTO facts VALUES (?, ?)", facts)
        run("INSERT INTO flow VALUES (?, ?)", flows)
        run("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", symbols)

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
        run("DELETE FROM flow WHERE file = ?", (identity,))
        run("DELETE FROM remark WHERE file = ?", (identity,))
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

    def put_remarks(self, rows: Iterable[tuple[str, tuple[Finding, ...]]], anew: bool) -> None:
        """Writes what an outside checker says of files, in place of what it said; `anew` of all files."""
        encode = msgspec.msgpack.Encoder().encode
        said = [(self._ids[path], encode(found)) for path, found in rows if path in self._ids]
        with self._guarded():
            if anew:
                self._connection.execute("DELETE FROM remark")
            self._connection.executemany("INSERT OR REPLACE INTO remark VALUES (?, ?)", said)

    def put_links(self, rows: Iterable[LinkedFile]) -> None:
        """Writes what files' names mean, who uses what and which methods override which; all links, for a use of a
        symbol is known by its id, and ids change when a file does."""
        with self._guarded():
            run = self._connection
            missed: dict[str, tuple[int, int]] = {}
            if not self.fresh:  # to drop a table costs less than to empty it; an index is best made at the end
                for table in schema.LINKED:
                    run.execute(f"DROP TABLE {table}")
                for statement in schema.LINK_TABLES.split(";"):
                    run.execute(statement)
            for row in rows:
                run.execute("INSERT INTO link VALUES (?, ?)", (row.file, row.links))
                columns = zip(*map(unpacked, row.uses), strict=True)
                run.executemany("INSERT INTO used VALUES (?, ?, ?, ?, ?)", columns)
                run.executemany("INSERT INTO override VALUES (?, ?, ?)", row.overrides)
                run.executemany("INSERT INTO extends VALUES (?, ?)", row.extends)
                for name, (calls, uses) in row.missed.items():
                    had = missed.get(name, (0, 0))
                    missed[name] = (had[0] + calls, had[1] + uses)
            run.executemany("INSERT INTO missed VALUES (?, ?, ?)", ((name, *missed[name]) for name in sorted(missed)))
            for statement in () if self.fresh else schema.LINK_INDEXES.split(";"):
                run.execute(statement)

    def put_pass(self, name: str, packed: bytes) -> None:
        """Writes what an analysis over the whole gives, in place of what it gave before."""
        with self._guarded():
            self._connection.execute("INSERT OR REPLACE INTO pass VALUES (?, ?)", (name, packed))

    def put_ranks(self, ranks: Iterable[tuple[float, int]]) -> None:
        """Writes how central files are: rank and id."""
        with self._guarded():
            self._connection.executemany("UPDATE file SET rank = ? WHERE id = ?", ranks)

    @property
    def top(self) -> int:
        """A number above all ids of files and symbols."""
        return self._base

    def ledger(self) -> list[File]:
        """Every file, what is not yet committed, too."""
        with self._guarded():
            rows = self._connection.execute(f"SELECT {schema.FILE_COLUMNS} FROM file").fetchall()  # noqa: S608
        return [File(schema.path_from(row[0]), *row[1:]) for row in rows]

    def bases(self) -> list[tuple[int, int, str, str, str]]:
        """Every file's base, id, path, language and category, in the order of bases."""
        with self._guarded():
            query = "SELECT base, id, path, language, category FROM file ORDER BY base"
            rows = self._connection.execute(query).fetchall()
        return [(row[0], row[1], schema.path_from(row[2]), row[3], row[4]) for row in rows]

    def runnable(self) -> tuple[list[int], list[int]]:
        """The ids of all symbols that run, and of those that are tests."""
        kinds = ", ".join(f"'{kind}'" for kind in sorted(RUN))
        with self._guarded():
            rows = self._connection.execute(f"SELECT id, test FROM symbol WHERE kind IN ({kinds})").fetchall()  # noqa: S608
        return [row[0] for row in rows], [row[0] for row in rows if row[1]]

    def linkable(self) -> list[Linkable]:
        """The files as the linker needs them, in the order of paths; what is not yet committed, too."""
        query = (
            "SELECT id, base, path, language, category, (SELECT packed FROM flow WHERE flow.file = file.id) FROM file "
            "ORDER BY path"
        )
        with self._guarded():
            rows = self._connection.execute(query).fetchall()
        return [Linkable(row[0], row[1], schema.path_from(row[2]), row[3], row[4], row[5] or b"") for row in rows]

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
