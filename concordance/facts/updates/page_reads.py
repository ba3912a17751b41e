"""The log of what each page of a book read, so that the next run writes only the pages that may have changed.

In: the subjects of pages with the slots that they read (`facts.updates.delta`), and digests of the tables that
pages share. Out: which subjects read some slots. There is one small database for each book, next to the store. Without
it, or if it was written by another program version or for another store, all pages are written.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from typing import Any

import msgspec

from concordance.base.errors import ConcordanceError, StoreBroken
from concordance.facts import schema
from concordance.facts.integrity import checksums
from concordance.facts.integrity.commit import commit
from concordance.facts.integrity.failures import FAILURES
from concordance.facts.updates.reads import ReadRecord, Subject, pack_slots, slot_array

Digests = dict[str, int]  # digests of one table, by key
Summary = dict[str, Any]  # plain values, by path
_SHARE = 18  # lower bits of a slot; the others are its share

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE subject (number INTEGER PRIMARY KEY, kind TEXT, about BLOB, slots BLOB, pages BLOB);
CREATE TABLE reader (share INTEGER PRIMARY KEY, pairs BLOB);
CREATE TABLE shared (name TEXT PRIMARY KEY, packed BLOB) WITHOUT ROWID;
CREATE TABLE summary (name TEXT PRIMARY KEY, packed BLOB) WITHOUT ROWID;
"""


class PageReadsBroken(ConcordanceError):
    """The page records cannot be read: all pages are made again."""


@contextmanager
def _guarded() -> Iterator[None]:
    try:
        yield
    except (*FAILURES, msgspec.MsgspecError, TypeError, ValueError) as error:
        raise PageReadsBroken(f"the page records are damaged: {error}", "Build again") from error


class PageReadLog:
    """The page records of one book."""

    def __init__(self, folder: str, out: str) -> None:
        name = blake2b(os.fsencode(os.path.realpath(out)), digest_size=6).hexdigest()
        self.path = os.path.join(folder, f"pages-{name}.db")
        self._numbers: dict[Subject, int] = {}
        self._subject_of: dict[int, Subject] = {}  # by number
        self._open: sqlite3.Connection | None = None
        self._seen: tuple[int, ...] = ()  # identity and version of the file when it was last read or written here
        self._subjects: dict[Subject, tuple[str, ...]] | None = None
        self._tables: dict[str, dict[str, dict[str, Any]]] = {}

    def meta(self) -> dict[str, str]:
        """Return the metadata of the records; empty if there are no readable records.

        What was read before stays cached if nobody else has written the records since.
        """
        if not schema.is_ours(self.path):
            self.close()
            return {}
        try:
            if self._open is None or self._state() != self._seen:
                self.close()
                self._open = schema.connect(self.path, "rw")
                self._open.execute("SELECT count(*) FROM meta").fetchone()  # this also reads the write-ahead log
                checksums.require_intact(self.path, alone=True)
                self._seen = self._state()
            return {str(key): str(value) for key, value in self._open.execute("SELECT key, value FROM meta")}
        except (OSError, *FAILURES, StoreBroken):
            self.close()
            return {}

    def _state(self) -> tuple[int, ...]:
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()  # changes if another connection writes
        status = os.stat(self.path)
        return status.st_dev, status.st_ino, version

    def close(self) -> None:
        """Close the database and drop the cached data."""
        self._subjects = None
        self._tables.clear()
        self._numbers.clear()
        self._subject_of.clear()
        if self._open is not None:
            self._open.close()
            self._open = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise sqlite3.ProgrammingError("the page records are not open")
        return self._open

    @_guarded()
    def subjects(self) -> dict[Subject, tuple[str, ...]]:
        """Return all subjects, with the pages that were made for each."""
        if self._subjects is not None:
            return self._subjects
        subjects: dict[Subject, tuple[str, ...]] = {}
        for number, kind, about, pages in self._connection.execute("SELECT number, kind, about, pages FROM subject"):
            subject = (str(kind), os.fsdecode(about))
            self._numbers[subject], self._subject_of[number] = number, subject
            subjects[subject] = tuple(map(os.fsdecode, msgspec.msgpack.decode(pages)))
        self._subjects = subjects
        return subjects

    @_guarded()
    def readers(self, slots: Iterable[int]) -> set[Subject]:
        """Return the subjects that read some slots."""
        numbers, shares = set[int](), dict[int, set[int]]()
        for slot in slots:
            shares.setdefault(slot >> _SHARE, set()).add(slot)
        for share, wanted in shares.items():
            row = self._connection.execute("SELECT pairs FROM reader WHERE share = ?", (share,)).fetchone()
            pairs = iter(slot_array(row[0]) if row else ())
            numbers.update(number for slot, number in zip(pairs, pairs, strict=True) if slot in wanted)
        return {self._subject_of[number] for number in numbers if number in self._subject_of}

    def shared(self) -> dict[str, Digests]:
        """Return the digests of the tables that pages share, as of the last run."""
        return self._table("shared")

    def summaries(self) -> dict[str, Summary]:
        """Return what was counted for each file, by the kind of count."""
        return self._table("summary")

    @_guarded()
    def _table(self, name: str) -> dict[str, dict[str, Any]]:
        known = self._tables.get(name)
        if known is None:
            rows = self._connection.execute(f"SELECT name, packed FROM {name}").fetchall()  # noqa: S608
            known = self._tables[name] = {str(table): _decoded(packed) for table, packed in rows}
        return known

    def drop(self) -> None:
        """Delete the records."""
        self.close()
        self._tidy()
        checksums.remove(self.path)
        for end in ("", *schema.SIDE_SUFFIXES):
            with suppress(FileNotFoundError):
                os.unlink(self.path + end)

    def _tidy(self) -> None:
        """Delete what a killed run left behind."""
        for end in ("", *schema.SIDE_SUFFIXES):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.path}.new{end}")

    @_guarded()
    def write(
        self, meta: Mapping[str, str], records: Mapping[Subject, ReadRecord], shared: Mapping[str, Digests],
        summaries: Mapping[str, Summary],
    ) -> None:  # fmt: skip
        """Write the records of a whole book, replacing the old ones."""
        self.close()
        aside = f"{self.path}.new"
        self._tidy()
        subjects = sorted(records)
        rows = (
            (number, kind, os.fsencode(about), records[kind, about].slots, _pages(records[kind, about].results))
            for number, (kind, about) in enumerate(subjects, 1)
        )
        readers = _pairs_by_share(records[subject].slots for subject in subjects)
        with closing(schema.connect(aside)) as connection:
            connection.executescript("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            connection.executescript(_TABLES)
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO subject VALUES (?, ?, ?, ?, ?)", rows)
            connection.executemany("INSERT INTO reader VALUES (?, ?)", readers)
            connection.executemany("INSERT INTO shared VALUES (?, ?)", _encoded(shared))
            connection.executemany("INSERT INTO summary VALUES (?, ?)", _encoded(summaries))
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        for end in schema.SIDE_SUFFIXES:
            with suppress(FileNotFoundError):
                os.unlink(self.path + end)
        checksums.move_sealed(aside, self.path)

    @_guarded()
    def update(
        self, meta: Mapping[str, str], records: Mapping[Subject, ReadRecord], removed: Iterable[Subject],
        shared: Mapping[str, Digests], summaries: Mapping[str, Summary],
    ) -> None:  # fmt: skip
        """Update the records with the pages that were made and the subjects that are gone.

        Slots that a subject no longer reads stay recorded: removing them would cost more than an occasional unnecessary
        page.
        """
        self._tidy()
        run = self._connection.execute
        subjects = self.subjects()
        run("BEGIN IMMEDIATE")
        top = max(self._numbers.values(), default=0)
        added: dict[int, array[int]] = {}  # by share
        for (kind, about), record in records.items():
            number = self._numbers.get((kind, about))
            old: set[int] = set()
            if number is None:
                top += 1
                number = self._numbers[kind, about] = top
                self._subject_of[top] = kind, about
            else:
                row = run("SELECT slots FROM subject WHERE number = ?", (number,)).fetchone()
                old = set(slot_array(row[0])) if row else set()
            for slot in slot_array(record.slots):
                if slot not in old:
                    added.setdefault(slot >> _SHARE, array("I")).extend((slot, number))
            all_slots = pack_slots(old.union(slot_array(record.slots)))
            values = (number, kind, os.fsencode(about), all_slots, _pages(record.results))
            run("INSERT OR REPLACE INTO subject VALUES (?, ?, ?, ?, ?)", values)
            subjects[kind, about] = record.results
        for share, pairs in added.items():
            row = run("SELECT pairs FROM reader WHERE share = ?", (share,)).fetchone()
            run("INSERT OR REPLACE INTO reader VALUES (?, ?)", (share, (row[0] if row else b"") + pairs.tobytes()))
        for subject in removed:
            number = self._numbers.pop(subject, 0)
            self._subject_of.pop(number, None)
            run("DELETE FROM subject WHERE number = ?", (number,))
            subjects.pop(subject, None)
        self._renew("shared", shared)
        self._renew("summary", summaries)
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
        commit(self._connection, self.path)
        checksums.note_verified(self.path)

    def _renew(self, name: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
        """Write those tables that changed."""
        before = self._table(name)
        known = ((table, rows, before.get(table)) for table, rows in tables.items())
        other = {table: dict(rows) for table, rows, had in known if rows is not had and rows != had}
        self._connection.executemany(f"INSERT OR REPLACE INTO {name} VALUES (?, ?)", _encoded(other))  # noqa: S608
        before |= other


def _pairs_by_share(records: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield shares, each with its slots, and with each slot the number of a record that contains it; they are numbered
    from 1.

    A large repository has tens of millions of such pairs. Writing a row for each slot would take twice as long, and a
    look-up reads only some hundred pairs.
    """
    shares = [array("I") for _ in range(1 << 32 - _SHARE)]
    for number, record in enumerate(records, 1):
        for slot in slot_array(record):
            share = shares[slot >> _SHARE]
            share.append(slot)
            share.append(number)
    yield from ((share, pairs.tobytes()) for share, pairs in enumerate(shares) if pairs)


def _pages(pages: Iterable[str]) -> bytes:
    return msgspec.msgpack.encode([os.fsencode(page) for page in pages])


def _encoded(shared: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, bytes]]:
    encode = msgspec.msgpack.encode
    return [(name, encode({os.fsencode(key): value for key, value in table.items()})) for name, table in shared.items()]


def _decoded(packed: bytes) -> dict[str, Any]:
    return {os.fsdecode(key): value for key, value in msgspec.msgpack.decode(packed, type=dict[bytes, Any]).items()}
