"""The only writer of the store.

In: files with their facts, in any order. Out: `index.db`. A first build is written to another file, which is renamed
when it is complete; an update is one transaction. Either way, a reader sees the last complete store until the next one
is complete.
"""

from __future__ import annotations

import glob
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import Any
from zlib import crc32

import msgspec

from concordance.base.errors import StoreBroken, StoreFailed
from concordance.base.model import File, FileHistory, Finding
from concordance.facts import schema
from concordance.facts.codec import unpack_foreign_names, unpack_terms
from concordance.facts.integrity import checksums
from concordance.facts.integrity.commit import commit
from concordance.facts.integrity.failures import FAILURES, is_disk_error, is_disk_full
from concordance.facts.links import rows as links_rows
from concordance.facts.links.bridge_rows import BridgeReads
from concordance.facts.links.reads import LinkReads
from concordance.facts.links.rows import LinkedFile
from concordance.facts.records import (
    KEY_COLUMN,
    KIND_COLUMN,
    NAME_COLUMN,
    PLACE_COLUMN,
    TEST_COLUMN,
    ExtractedFile,
    FileMacros,
    Linkable,
    PreviousFile,
    form_of,
)
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect, Delta, StoredFile, round_to_power


class StoreWriter:
    """Writes one build. End it with `commit` or `abandon`."""

    def __init__(self, folder: str, fresh: bool, rows: Iterable[Linkable] | None) -> None:
        """`rows` are the files of the store, if the caller already has them."""
        self.path = os.path.join(folder, "index.db")
        self.fresh = fresh
        self.target = f"{self.path}.{os.getpid()}.new" if fresh else self.path
        self.terms: Counter[str] = Counter()
        self.delta = Delta()
        self._is_new = fresh  # True if anything that pages read may have changed
        self._ids: dict[str, int] = {}
        self._paths: dict[int, str] = {}  # by id, also of files that this update removes
        self._removed: list[int] = []  # ids of removed files
        self._next = 1  # the next id
        self._open: sqlite3.Connection | None = None
        with self._guarded():
            if fresh:
                self._begin()
            else:
                self._resume(rows)
            self._connection.execute("BEGIN IMMEDIATE")

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise StoreFailed(f"the store {self.path} is no longer open")
        return self._open

    def _begin(self) -> None:
        """Create a new store next to the old one. Nobody reads it before it is renamed."""
        for left in glob.glob(f"{glob.escape(self.path)}.*.new*"):  # left by killed builds
            os.remove(left)
        self._open = schema.connect(self.target)
        # Most of the store is values of some ten thousand bytes; with pages of that size they are read twice as fast.
        self._connection.executescript("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        self._connection.executescript(schema.TABLES)

    def _resume(self, rows: Iterable[Linkable] | None) -> None:
        self._open = schema.connect(self.target, "rw")
        run = self._connection.execute
        run("PRAGMA synchronous = NORMAL")
        known = [(row.path, row.id) for row in rows] if rows is not None else [
            (schema.path_from(path), identity) for path, identity in run("SELECT path, id FROM file").fetchall()
        ]  # fmt: skip
        self._ids = dict(known)
        self._paths = {identity: path for path, identity in known}
        (last,) = run("SELECT value FROM meta WHERE key = 'top'").fetchone()
        self._next = int(last)

    def put(self, readings: Iterable[ExtractedFile]) -> None:
        """Write files, replacing what was stored for them; their macros are written by `put_macros`."""
        with self._guarded():
            self._insert_files(readings)

    def _insert_files(self, readings: Iterable[ExtractedFile]) -> None:
        files, facts, flows, ends, symbols = [], [], [], [], []
        for reading in readings:
            path = reading.file.path
            identity = self._ids.get(path)
            before, rank = None, None
            now = StoredFile(reading.file, reading.packed, reading.symbols)
            if identity is None:
                ids = self._new_ids(path, len(reading.symbols))
                identity = ids.file
                self.delta.add_new_file(path)
            else:
                before = self._stored_file(identity)
                previous = self._forget(identity, before)
                ids = self._kept_ids(previous, [symbol[KEY_COLUMN] for symbol in reading.symbols])
                rank = previous.rank
                self.delta.add_file(path, previous, now)
            if not self.fresh:
                self.delta.compare_file(path, before, now)
            files.append((identity, len(ids), ids.pack(), rank, schema.stored_path(path), *now.file[1:]))
            if reading.packed:
                facts.append((identity, reading.packed))
            if reading.flow:
                flows.append((identity, reading.flow))
            if reading.ends:
                ends.append((identity, reading.ends))
            symbols += [
                (ids.id_at(s[PLACE_COLUMN]), s[NAME_COLUMN], s[KIND_COLUMN], identity, *s[PLACE_COLUMN:])
                for s in reading.symbols
            ]
            self.terms.update(reading.terms)
        run = self._connection.executemany
        columns, placeholders = f"id, symbols, ids, rank, {schema.FILE_COLUMNS}", f"?, ?, ?, ?, {schema.FILE_MARKS}"
        run(f"INSERT INTO file ({columns}) VALUES ({placeholders})", files)  # noqa: S608
        run("INSERT INTO facts VALUES (?, ?)", facts)
        run("INSERT INTO flow VALUES (?, ?)", flows)
        run("INSERT INTO ends VALUES (?, ?)", ends)
        run("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", symbols)

    def _new_ids(self, path: str, symbols: int) -> SymbolIds:
        """Give ids to a new file and its symbols."""
        identity = self._ids[path] = self._next
        self._paths[identity] = path
        self._take_ids(identity, 1 + symbols)
        return SymbolIds(identity, range(identity + 1, self._next))

    def _kept_ids(self, previous: PreviousFile, keys: list[str]) -> SymbolIds:
        """Return the ids of a file that was read again: those that its symbols had, and others for new symbols."""
        if keys == list(previous.keys):
            return previous.ids
        known = dict(zip(previous.keys, previous.ids, strict=True))
        new = iter(self._take_ids(previous.id, sum(key not in known for key in keys)))
        return SymbolIds(previous.id, [known[key] if key in known else next(new) for key in keys])

    def _take_ids(self, file: int, count: int) -> range:
        """Reserve ids for a file."""
        taken = range(self._next, self._next + count)
        if taken:
            self._next = taken.stop
            self._connection.execute("INSERT INTO id_range VALUES (?, ?, ?)", (taken.start, taken.stop - 1, file))
        return taken

    def renew(self, files: Iterable[File]) -> None:
        """Write the times of files whose content is unchanged."""
        with self._guarded():
            put_times(self._connection, files)

    def remove(self, path: str) -> None:
        """Remove a file."""
        with self._guarded():
            identity = self._ids.pop(path, None)
            if identity is not None:
                known = self._stored_file(identity)
                self.delta.compare_file(path, known, None)
                self.delta.add_file(path, self._forget(identity, known), None)
                self._connection.execute("DELETE FROM macro WHERE file = ?", (identity,))
                self._removed.append(identity)

    def _stored_file(self, identity: int) -> StoredFile:
        """Return a file as stored."""
        run = self._connection.execute
        facts = run("SELECT packed FROM facts WHERE file = ?", (identity,)).fetchone()
        query = (
            "SELECT name, kind, place, line, declaration, col, public, key, test FROM symbol WHERE file = ? "
            "ORDER BY place"
        )
        symbols = run(query, (identity,)).fetchall()
        return StoredFile(self._ledger_row(identity), facts[0] if facts else b"", symbols)

    def _ledger_row(self, identity: int) -> File:
        query = f"SELECT {schema.FILE_COLUMNS} FROM file WHERE id = ?"  # noqa: S608
        row = self._connection.execute(query, (identity,)).fetchone()
        return File(schema.path_from(row[0]), *row[1:])

    def _forget(self, identity: int, stored: StoredFile) -> PreviousFile:
        """Delete what reading a file again will insert, and return it."""
        run = self._connection.execute
        file = stored.file
        if stored.packed:
            self.terms.subtract({term.text for term in unpack_terms(stored.packed)})
        others = "(SELECT packed FROM flow WHERE file = id), (SELECT packed FROM ends WHERE file = id)"
        query = f"SELECT symbols, ids, rank, {others} FROM file WHERE id = ?"  # noqa: S608
        count, listed, rank, flow, ends = run(query, (identity,)).fetchone()
        ids = SymbolIds.unpack(identity, count, listed)
        keys = tuple(symbol[KEY_COLUMN] for symbol in stored.symbols)
        kinds = tuple((symbol[KIND_COLUMN], bool(symbol[TEST_COLUMN])) for symbol in stored.symbols)
        previous = PreviousFile(
            identity, ids, file.path, file.language, keys, kinds, flow or b"", form_of(file), rank, ends or b""
        )
        run("DELETE FROM file WHERE id = ?", (identity,))
        for table in ("facts", "flow", "ends", "remark", "symbol"):
            run(f"DELETE FROM {table} WHERE file = ?", (identity,))  # noqa: S608
        return previous

    def put_changes(self, changes: Iterable[FileHistory]) -> None:
        """Write the history of all files, replacing the old one; it is stored by path, so that an edit does not affect
        it."""
        encode = msgspec.msgpack.Encoder().encode
        rows = [(schema.stored_path(change.path), encode(schema.stored_change(change))) for change in changes]
        with self._guarded():
            if not self.fresh:
                known = dict(self._connection.execute("SELECT path, packed FROM change").fetchall())
                self.delta.add(Aspect.HISTORY, map(schema.path_from, _differing_keys(known, dict(rows))))
            self._connection.execute("DELETE FROM change")
            self._connection.executemany("INSERT INTO change VALUES (?, ?)", rows)

    def put_macros(self, rows: Iterable[tuple[str, FileMacros]]) -> None:
        """Write the macros of files, replacing the old ones; the files must have been written before."""
        encode = msgspec.msgpack.Encoder().encode
        known = [(self._ids[path], learned) for path, learned in rows if path in self._ids]
        with self._guarded():
            self._connection.executemany("DELETE FROM macro WHERE file = ?", [(identity,) for identity, _ in known])
            encoded = [(identity, encode(learned)) for identity, learned in known if learned]
            self._connection.executemany("INSERT INTO macro VALUES (?, ?)", encoded)

    def put_remarks(self, rows: Iterable[tuple[str, tuple[Finding, ...]]], replace_all: bool) -> None:
        """Write an external checker's remarks about files, replacing theirs; with `replace_all`, all old ones."""
        encode = msgspec.msgpack.Encoder().encode
        encoded = [(self._ids[path], encode(findings)) for path, findings in rows if path in self._ids]
        with self._guarded():
            if not self.fresh:
                known = dict(self._connection.execute("SELECT file, packed FROM remark").fetchall())
                before = (
                    known
                    if replace_all
                    else {identity: known[identity] for identity, _ in encoded if identity in known}
                )
                differing = _differing_keys(before, dict(encoded))
                self.delta.add(Aspect.TEXT, (self._paths[file] for file in differing if file in self._paths))
            if replace_all:
                self._connection.execute("DELETE FROM remark")
            self._connection.executemany("INSERT OR REPLACE INTO remark VALUES (?, ?)", encoded)

    def put_links(self, rows: Iterable[LinkedFile]) -> None:
        """Write the links of all files: what names resolve to, what uses what, which methods override which."""
        self._is_new = True
        with self._guarded():
            if self.fresh:
                self._write_terms()  # millions of texts, of which linking needs none
            links_rows.insert_all(self._connection, rows, self.fresh)

    def relink(self, rows: Iterable[LinkedFile], removed: Iterable[int]) -> None:
        """Replace the links of the given files, and delete those of removed files."""
        with self._guarded():
            for file in removed:
                self.delta.add_foreign_names(links_rows.foreign_names(self._connection, file), ())
                before = links_rows.remove(self._connection, file)
                self.delta.add_links(file, before, links_rows.FileLinks(), self.owner)
            for row in rows:
                asks = unpack_foreign_names(row.asks) if row.asks else ()
                self.delta.add_foreign_names(links_rows.foreign_names(self._connection, row.file), asks)
                self.delta.add_links(row.file, *links_rows.replace(self._connection, row), self.owner)

    def ids(self, path: str) -> SymbolIds | None:
        """Return the ids of a file and its symbols; None if there is no such file."""
        with self._guarded():
            row = self._connection.execute(
                "SELECT id, symbols, ids FROM file WHERE path = ?", (schema.stored_path(path),)
            ).fetchone()
        return SymbolIds.unpack(*row) if row else None

    @cached_property
    def owners(self) -> IdOwners[int]:
        """The files of all ids, including those of removed files; computed when all files are written."""
        with self._guarded():
            return IdOwners(self._connection.execute("SELECT start, file FROM id_range ORDER BY start").fetchall())

    def owner(self, identity: int) -> str:
        """Return the path of the file that an id belongs to, or belonged to before this update."""
        return self._paths[self.owners[identity]]

    def put_analysis(self, name: str, packed: bytes) -> None:
        """Write the result of a whole-repository analysis with its checksum, replacing the old one."""
        with self._guarded():
            self._connection.execute("INSERT OR REPLACE INTO pass VALUES (?, ?, ?)", (name, crc32(packed), packed))

    def put_ranks(self, ranks: Iterable[tuple[float, int]]) -> None:
        """Write how central files are: pairs of rank and id."""
        with self._guarded():
            self._connection.executemany("UPDATE file SET rank = ?1 WHERE id = ?2 AND rank IS NOT ?1", ranks)

    @property
    def top(self) -> int:
        """A number above all ids of files and symbols."""
        return self._next

    def ledger(self) -> list[File]:
        """Return every file, including what is not committed yet."""
        with self._guarded():
            rows = self._connection.execute(f"SELECT {schema.FILE_COLUMNS} FROM file").fetchall()  # noqa: S608
        return [File(schema.path_from(row[0]), *row[1:]) for row in rows]

    def file(self, path: str) -> File:
        """Return one file of the ledger, which must be there."""
        with self._guarded():
            return self._ledger_row(self._ids[path])

    def files(self) -> list[tuple[int, str, str, str]]:
        """Return every file's id, path, language and category, in the order of ids."""
        with self._guarded():
            query = "SELECT id, path, language, category FROM file ORDER BY id"
            rows = self._connection.execute(query).fetchall()
        return [(row[0], schema.path_from(row[1]), row[2], row[3]) for row in rows]

    def linkable(self, known: list[Linkable] | None = None) -> list[Linkable]:
        """Return the files as the linker needs them, in path order, including what is not committed yet.

        `known` are the files before this update, if none was added or removed.
        """
        columns = "id, symbols, ids, path, language, category"
        run = self._connection.execute
        with self._guarded():
            if known is None:
                rows = run(f"SELECT {columns} FROM file ORDER BY path").fetchall()  # noqa: S608
                sizes = dict(run("SELECT file, length(packed) FROM flow").fetchall())
            else:
                query = f"SELECT {columns}, (SELECT length(packed) FROM flow WHERE file = id) FROM file WHERE id = ?"  # noqa: S608
                some = [run(query, (had.id,)).fetchone() for had in self.delta.previous.values()]
                rows, sizes = [row[:6] for row in some], {row[0]: row[6] or 0 for row in some}
        files = [
            Linkable(
                identity,
                SymbolIds.unpack(identity, *ids),
                schema.path_from(path),
                language,
                category,
                sizes.get(identity, 0),
            )
            for identity, *ids, path, language, category in rows
        ]
        now = {row.id: row for row in files}
        return files if known is None else [now.get(row.id, row) for row in known]

    @property
    def queries(self) -> LinkReads:
        """The queries of the linker when it links a few files."""
        return LinkReads(self._connection, self._guarded, os.path.dirname(self.path), lambda: self.owners)

    @property
    def bridge_queries(self) -> BridgeReads:
        """The queries of the bridges."""
        return BridgeReads(self._connection, self._guarded, lambda: self.owners)

    def index(self) -> None:
        """Create the indexes of a first build, after everything they cover is written."""
        with self._guarded():
            for statement in schema.INDEXES.split(";") if self.fresh else ():
                self._connection.execute(statement)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Abandon the build if it cannot be written, and raise an error that says why."""
        try:
            yield
        except (OSError, sqlite3.Error, TypeError, ValueError) as error:
            self.abandon()
            if not self.fresh and not is_disk_error(error):
                raise StoreBroken(f"the store {self.path} is damaged: {error}", "Build again") from error
            folder = os.path.dirname(self.path)
            advice = "Free some space on that disk" if is_disk_full(error) else f"Make {folder} writable"
            message = f"the store {self.path} could not be written: {error}"
            raise StoreFailed(message, f"{advice}, and build again; the last complete store is unchanged") from error

    def _write_delta(self, started: str) -> dict[str, str]:
        """Record what this update changed; a first build changes everything, and starts the count of updates."""
        if self._is_new:
            self._connection.execute("DELETE FROM touched")
            return {"born": started, "update": "0"}
        rows = self._connection.execute("SELECT key, value FROM meta WHERE key IN ('born', 'update')").fetchall()
        known = {str(key): str(value) for key, value in rows}
        number = int(known["update"]) + bool(self.delta.aspects)
        self._connection.executemany(
            "INSERT OR REPLACE INTO touched VALUES (?, ?, ?)",
            [(aspect, os.fsencode(key), number) for aspect, key in sorted(self.delta.aspects)],
        )
        return {**known, "update": str(number)}

    def _write_terms(self) -> None:
        """Write in how many files the terms of the files that were read occur."""
        changed = sorted(text for text, files in self.terms.items() if files)
        for text in () if self.fresh else changed:
            row = self._connection.execute("SELECT files FROM term WHERE text = ?", (text,)).fetchone()
            known = row[0] if row else 0
            if round_to_power(known) != round_to_power(max(0, known + self.terms[text])):
                self.delta.add(Aspect.TERM, [text])
        self._connection.executemany(
            "INSERT INTO term VALUES (?, ?) ON CONFLICT (text) DO UPDATE SET files = files + excluded.files",
            ((text, self.terms[text]) for text in changed),
        )
        self._connection.execute("DELETE FROM term WHERE files <= 0")
        self.terms.clear()

    def commit(self, meta: dict[str, str]) -> None:
        """Make this build the store."""
        with self._guarded():
            self._write_terms()
            self._connection.executemany("DELETE FROM id_range WHERE file = ?", [(file,) for file in self._removed])
            metadata = {"schema": str(schema.VERSION), **schema.id_metadata(self._next, self.fresh)}
            rows = {**meta, **metadata, **self._write_delta(meta["started"])}.items()
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            if self.fresh:
                self._connection.execute("COMMIT")
                self._connection.executescript(schema.INDEXES)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA optimize")
            else:
                commit(self._connection, self.path)
            self._connection.close()
            if self.fresh:
                # A log of the old database must not be mistaken for a log of this one.
                _remove(self.path + end for end in schema.SIDE_SUFFIXES)
                with open(self.target, "rb") as file:  # must be on disk before it gets the name: power may fail
                    os.fsync(file.fileno())
                checksums.move_sealed(self.target, self.path)
            else:
                checksums.note_verified(self.path)

    def abandon(self) -> None:
        """Discard this build; the store stays unchanged."""
        if self._open is not None:
            self._open.close()
            self._open = None
        if self.fresh:
            _remove([self.target, *(self.target + end for end in schema.SIDE_SUFFIXES)])


def _differing_keys(before: dict[Any, bytes], after: dict[Any, bytes]) -> list[Any]:
    """Return the keys whose values differ."""
    return [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            os.remove(path)


# --- updates the times of files whose content is unchanged, as after a checkout, a copy or `touch`
# In: rows of the ledger. Out: their rows in the store, with these times. Nothing else depends on the times, so nothing
# counts as changed.


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
            commit(connection, path)
        checksums.note_verified(path)
