"""The one writer of the store.

In: files with their facts, in any order. Out: `index.db`. A first build is written beside the
place and renamed into it when it is whole; an update is one transaction. Either way a reader sees
the last complete store until the next one is complete.
"""

from __future__ import annotations

import glob
import os
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import msgspec

from concordance.base.errors import StoreBroken, StoreFailed
from concordance.base.model import File, FileHistory, Finding
from concordance.facts import schema
from concordance.facts.codec import unpack_terms
from concordance.facts.integrity import checksums
from concordance.facts.integrity.failures import is_no_space, is_of_disk
from concordance.facts.links import rows as links_rows
from concordance.facts.links.bridge_rows import BridgeReads
from concordance.facts.links.reads import LinkReads
from concordance.facts.links.rows import LinkedFile
from concordance.facts.records import ExtractedFile, Learned, Linkable, PreviousFile
from concordance.facts.updates import file_times
from concordance.facts.updates.store_delta import Aspect, StoreDelta, StoredFile, band


class StoreWriter:
    """Writes one build. Leave it by `commit` or `abandon`."""

    def __init__(self, folder: str, fresh: bool, rows: Iterable[Linkable] | None = None) -> None:
        """`rows` are the files, where they are known."""
        self.path = os.path.join(folder, "index.db")
        self.fresh = fresh
        self.target = f"{self.path}.{os.getpid()}.new" if fresh else self.path
        self.terms: Counter[str] = Counter()
        self.touched = StoreDelta()
        self._is_new = fresh  # whether all that pages read may be other than it was
        self._ids: dict[str, int] = {}
        self.before: dict[str, PreviousFile] = {}  # by path: the files that were read again or are gone
        self.added: set[str] = set()
        self.retested = False  # whether there are other tests than before
        self.led: list[
            tuple[links_rows.FileLinks, links_rows.FileLinks]
        ] = []  # parts of files that were linked, before and after
        self.relinked: set[int] = set()  # the files of those that are not as they were
        self.asks_other = False  # whether a file asks other languages for other names
        self.moved: dict[int, int] = {}  # the ids of symbols and files that are others now
        self._old_bases: list[tuple[int, str]] = []  # with the paths of the files that have them, rising
        self._new_bases: list[tuple[int, str]] = []  # likewise, of this update
        self._next = 1
        self._base = 1
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
        """Starts a store beside the place. Nobody reads it before it is renamed."""
        for left in glob.glob(f"{glob.escape(self.path)}.*.new*"):  # of builds that were killed
            os.remove(left)
        self._open = schema.connect(self.target)
        # Most of the store is values of some ten thousand bytes; on pages of that size they are read twice as fast.
        self._connection.executescript("PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        self._connection.executescript(schema.TABLES)

    def _resume(self, rows: Iterable[Linkable] | None) -> None:
        self._open = schema.connect(self.target, "rw")
        run = self._connection.execute
        run("PRAGMA synchronous = NORMAL")
        known = [(row.base, row.id, row.path) for row in rows] if rows is not None else [
            (base, one, schema.path_from(path)) for base, one, path in run("SELECT base, id, path FROM file").fetchall()
        ]  # fmt: skip
        self._ids = {path: identity for _, identity, path in known}
        self._old_bases = sorted((base, path) for base, _, path in known)
        self._next = max(self._ids.values(), default=0) + 1
        (base,) = self._connection.execute("SELECT max(base) FROM file").fetchone()
        (symbol,) = self._connection.execute("SELECT max(id) FROM symbol").fetchone()
        self._base = max(base or 0, symbol or 0) + 1

    def put(self, readings: Iterable[ExtractedFile]) -> None:
        """Writes files, in place of what was known of them; what they say of macros is written by `put_macros`."""
        with self._guarded():
            self._put(readings)

    def _put(self, readings: Iterable[ExtractedFile]) -> None:
        files, facts, flows, ends, symbols = [], [], [], [], []
        for reading in readings:
            path = reading.file.path
            identity = self._ids.get(path)
            before, rank = None, None
            if identity is None:
                identity = self._ids[path] = self._next
                self._next += 1
                self.added.add(path)
                base = self._new_base(path, len(reading.symbols))
            else:
                before = self._known(identity)
                had = self._forget(identity, before)
                # As long as its symbols are the same, so are their ids, and nothing that leads to them changes.
                keys = tuple(symbol[7] for symbol in reading.symbols)
                base = had.base if had.keys == keys else self._new_base(path, len(keys))
                rank = had.rank
                self.retested |= had.is_other({s[7]: (s[1], s[8]) for s in reading.symbols})
            row = reading.file
            if not self.fresh:
                self.touched.read(path, before, StoredFile(row, reading.packed, reading.symbols))
            files.append((identity, base, rank, schema.stored_path(path), *row[1:]))
            if reading.packed:
                facts.append((identity, reading.packed))
            if reading.flow:
                flows.append((identity, reading.flow))
            if reading.ends:
                ends.append((identity, reading.ends))
            symbols += [(base + 1 + s[2], s[0], s[1], identity, *s[2:]) for s in reading.symbols]
            self.terms.update(reading.terms)
        run = self._connection.executemany
        run(f"INSERT INTO file (id, base, rank, {schema.FILE_COLUMNS}) VALUES (?, ?, ?, {schema.FILE_MARKS})", files)  # noqa: S608
        run("INSERT INTO facts VALUES (?, ?)", facts)
        run("INSERT INTO flow VALUES (?, ?)", flows)
        run("INSERT INTO ends VALUES (?, ?)", ends)
        run("INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", symbols)

    def _new_base(self, path: str, symbols: int) -> int:
        base = self._base
        self._new_bases.append((base, path))
        self._base += 1 + symbols
        return base

    def renew(self, files: Iterable[File]) -> None:
        """Writes the times of files whose content is the same."""
        with self._guarded():
            file_times.put(self._connection, files)

    def remove(self, path: str) -> None:
        """Forgets a file."""
        with self._guarded():
            identity = self._ids.pop(path, None)
            if identity is not None:
                known = self._known(identity)
                self.touched.read(path, known, None)
                self._forget(identity, known)
                self._connection.execute("DELETE FROM macro WHERE file = ?", (identity,))

    def _known(self, identity: int) -> StoredFile:
        """A file as it is known."""
        run = self._connection.execute
        query = f"SELECT {schema.FILE_COLUMNS} FROM file WHERE id = ?"  # noqa: S608
        row = run(query, (identity,)).fetchone()
        facts = run("SELECT packed FROM facts WHERE file = ?", (identity,)).fetchone()
        query = (
            "SELECT name, kind, place, line, declaration, col, public, key, test FROM symbol WHERE file = ? "
            "ORDER BY place"
        )
        symbols = run(query, (identity,)).fetchall()
        return StoredFile(File(schema.path_from(row[0]), *row[1:]), facts[0] if facts else b"", symbols)

    def _forget(self, identity: int, known: StoredFile) -> PreviousFile:
        """Takes out what reading a file anew puts in again, and gives it."""
        run = self._connection.execute
        file = known.file
        if known.packed:
            self.terms.subtract({term.text for term in unpack_terms(known.packed)})
        others = "(SELECT packed FROM flow WHERE file = id), (SELECT packed FROM ends WHERE file = id)"
        query = f"SELECT base, rank, {others} FROM file WHERE id = ?"  # noqa: S608
        base, rank, flow, ends = run(query, (identity,)).fetchone()
        keys, kinds = tuple(row[7] for row in known.symbols), tuple((row[1], bool(row[8])) for row in known.symbols)
        form = (file.category, file.skip, file.note)
        had = PreviousFile(identity, base, file.path, file.language, keys, kinds, flow or b"", form, rank, ends or b"")
        run("DELETE FROM file WHERE id = ?", (identity,))
        for table in ("facts", "flow", "ends", "remark", "symbol"):
            run(f"DELETE FROM {table} WHERE file = ?", (identity,))  # noqa: S608
        return self.before.setdefault(file.path, had)

    def put_changes(self, changes: Iterable[FileHistory]) -> None:
        """Writes the files' history, in place of what was known of it; by path, so that an edit leaves it as it is."""
        encode = msgspec.msgpack.Encoder().encode
        rows = [(schema.stored_path(change.path), encode(schema.stored_change(change))) for change in changes]
        with self._guarded():
            if not self.fresh:
                known = dict(self._connection.execute("SELECT path, packed FROM change").fetchall())
                self.touched.add(Aspect.HISTORY, map(schema.path_from, _other(known, dict(rows))))
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
            if not self.fresh:
                known = dict(self._connection.execute("SELECT file, packed FROM remark").fetchall())
                asked = known if anew else {identity: known[identity] for identity, _ in said if identity in known}
                other = _other(asked, dict(said))
                self.touched.add(Aspect.TEXT, (self._paths[one] for one in other if one in self._paths))
            if anew:
                self._connection.execute("DELETE FROM remark")
            self._connection.executemany("INSERT OR REPLACE INTO remark VALUES (?, ?)", said)

    def put_links(self, rows: Iterable[LinkedFile]) -> None:
        """Writes what all files' names mean, who uses what and which methods override which."""
        self._is_new = True
        with self._guarded():
            links_rows.put_all(self._connection, rows, self.fresh)

    def relink(self, rows: Iterable[LinkedFile], gone: Iterable[int]) -> None:
        """Writes the parts of some files in place of what they had, and takes out those of others."""
        with self._guarded():
            for file in gone:
                had = links_rows.remove(self._connection, file)
                self._linked(file, had, links_rows.FileLinks())
            for row in rows:
                self.asks_other |= links_rows.asks_other(self._connection, row)
                self._linked(row.file, *links_rows.replace(self._connection, row))

    def _linked(self, file: int, before: links_rows.FileLinks, after: links_rows.FileLinks) -> None:
        """Notes what linking a file anew has changed; of one that is gone, its own pages are gone, too."""
        self.touched.linked(self._paths.get(file, ""), before, after, self.moved, self.owner)
        self.led.append((before, after))
        if before != after:
            self.relinked.add(file)

    @cached_property
    def _paths(self) -> dict[int, str]:
        """The paths of files by their ids; asked for when all files are written."""
        return {identity: path for path, identity in self._ids.items()}

    def owner(self, identity: int) -> str:
        """The file that an id belongs to, or belonged to before this update."""
        return self._owner(identity)[1]

    def base_now(self, identity: int) -> int:
        """The base that the file of an id has now; 0 where it is gone."""
        base, path = self._owner(identity)
        return self.moved.get(base, base) if path in self._ids else 0

    def is_base(self, base: int) -> bool:
        """Whether a file has a base now."""
        return self._owner(base)[0] == self.base_now(base) == base

    def _owner(self, identity: int) -> tuple[int, str]:
        known = self._new_bases if self._new_bases and identity >= self._new_bases[0][0] else self._old_bases
        return known[bisect_right(known, identity, key=lambda row: row[0]) - 1]

    def move(self, files: Iterable[int]) -> None:
        """Gives what some files lead to the ids that it has now (`moved`)."""
        with self._guarded():
            links_rows.aim(self._connection, self.moved)
            for file in files:
                parts = links_rows.move(self._connection, file, self.moved)
                if parts is not None:
                    self.led.append(parts)

    def put_pass(self, name: str, packed: bytes) -> None:
        """Writes what an analysis over the whole gives, in place of what it gave before."""
        with self._guarded():
            self._connection.execute("INSERT OR REPLACE INTO pass VALUES (?, ?)", (name, packed))

    def put_ranks(self, ranks: Iterable[tuple[float, int]]) -> None:
        """Writes how central files are: rank and id."""
        with self._guarded():
            self._connection.executemany("UPDATE file SET rank = ?1 WHERE id = ?2 AND rank IS NOT ?1", ranks)

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

    def linkable(self, known: list[Linkable] | None = None) -> list[Linkable]:
        """The files as the linker needs them, in the order of paths; what is not yet committed, too. `known` are those
        before this update, where no file has come or gone."""
        columns = "id, base, path, language, category"
        run = self._connection.execute
        with self._guarded():
            if known is None:
                rows = run(f"SELECT {columns} FROM file ORDER BY path").fetchall()  # noqa: S608
                sizes = dict(run("SELECT file, length(packed) FROM flow").fetchall())
            else:
                query = f"SELECT {columns}, (SELECT length(packed) FROM flow WHERE file = id) FROM file WHERE id = ?"  # noqa: S608
                some = [run(query, (had.id,)).fetchone() for had in self.before.values()]
                rows, sizes = [row[:5] for row in some], {row[0]: row[5] or 0 for row in some}
        made = [
            Linkable(one, base, schema.path_from(path), language, category, sizes.get(one, 0))
            for one, base, path, language, category in rows
        ]
        now = {row.id: row for row in made}
        return made if known is None else [now.get(row.id, row) for row in known]

    @property
    def asked(self) -> LinkReads:
        """What the linker looks up when it links a few files."""
        return LinkReads(self._connection, self._guarded, os.path.dirname(self.path))

    @property
    def crossed(self) -> BridgeReads:
        """What bridges are joined by."""
        return BridgeReads(self._connection, self._guarded)

    def index(self) -> None:
        """Makes the indexes of a first build, when all that is looked up by them is written."""
        with self._guarded():
            for statement in schema.INDEXES.split(";") if self.fresh else ():
                self._connection.execute(statement)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Leaves the store as it was where it cannot be written, and says why."""
        try:
            yield
        except (OSError, sqlite3.Error, TypeError, ValueError) as error:
            self.abandon()
            if not self.fresh and not is_of_disk(error):
                raise StoreBroken(f"the store {self.path} is damaged: {error}", "Build again") from error
            folder = os.path.dirname(self.path)
            advice = "Free some space on that disk" if is_no_space(error) else f"See that {folder} may be written"
            message = f"the store {self.path} could not be written: {error}"
            raise StoreFailed(message, f"{advice}, and build again; the last complete store is as it was") from error

    def _put_touched(self, started: str) -> dict[str, str]:
        """Notes what this update changed; a first build changes everything, and begins to count."""
        if self._is_new:
            self._connection.execute("DELETE FROM touched")
            return {"born": started, "update": "0"}
        rows = self._connection.execute("SELECT key, value FROM meta WHERE key IN ('born', 'update')").fetchall()
        known = {str(key): str(value) for key, value in rows}
        number = int(known["update"]) + bool(self.touched.found)
        self._connection.executemany(
            "INSERT OR REPLACE INTO touched VALUES (?, ?, ?)",
            [(aspect, os.fsencode(key), number) for aspect, key in sorted(self.touched.found)],
        )
        return {**known, "update": str(number)}

    def commit(self, meta: dict[str, str]) -> None:
        """Makes the build the store."""
        with self._guarded():
            changed = [(text, files) for text, files in self.terms.items() if files]
            for text, files in () if self.fresh else changed:
                row = self._connection.execute("SELECT files FROM term WHERE text = ?", (text,)).fetchone()
                known = row[0] if row else 0
                if band(known) != band(max(0, known + files)):
                    self.touched.add(Aspect.TERM, [text])
            self._connection.executemany(
                "INSERT INTO term VALUES (?, ?) ON CONFLICT (text) DO UPDATE SET files = files + excluded.files",
                sorted(changed) if self.fresh else changed,
            )
            self._connection.execute("DELETE FROM term WHERE files <= 0")
            made = {"schema": str(schema.VERSION), **schema.grown(self._base, self.fresh)}
            rows = {**meta, **made, **self._put_touched(meta["started"])}.items()
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
            if self.fresh:
                self._connection.executescript(schema.INDEXES)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA optimize")
            else:
                checksums.add_committed(self.path)
            self._connection.close()
            if self.fresh:
                # The log of another database must not be taken for this one's.
                _remove(self.path + end for end in schema.BESIDE)
                with open(self.target, "rb") as file:  # on the disk before it has the name: power may fail
                    os.fsync(file.fileno())
                checksums.move_sealed(self.target, self.path)
            else:
                checksums.note_seen(self.path)

    def abandon(self) -> None:
        """Leaves the store as it was."""
        if self._open is not None:
            self._open.close()
            self._open = None
        if self.fresh:
            _remove([self.target, *(self.target + end for end in schema.BESIDE)])


def _other(before: dict[Any, bytes], after: dict[Any, bytes]) -> list[Any]:
    """The keys of what is not the same in both."""
    return [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            os.remove(path)
