"""`Facts`: every question that later stages ask of the store.

In: a repository's folder. Out: rows of `model.py`. Read-only, and always one complete build: a
build that ends meanwhile is seen by the next one who opens the store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import NamedTuple

import msgspec

from concordance.model import Change, File, FileFacts

from . import schema
from .pack import unpack
from .write import Learned


class Place(NamedTuple):
    """Where a symbol of some name is."""

    name: str
    kind: str
    path: str
    place: int
    line: int
    declaration: bool


class Facts:
    """A store that is open for reading."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "index.db")
        self._connection = schema.connect(self.path, readonly=True)
        self._connection.execute("BEGIN")  # one snapshot for as long as it is open

    def __enter__(self) -> Facts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def meta(self) -> dict[str, str]:
        """What the build noted of itself."""
        return dict(self._connection.execute("SELECT key, value FROM meta").fetchall())

    def files(self) -> Iterator[File]:
        """The ledger, in the order of paths."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file ORDER BY path"  # noqa: S608
        for row in self._connection.execute(query):
            yield File(schema.path_from(row[0]), *row[1:])

    def file(self, path: str) -> File | None:
        """One line of the ledger."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file WHERE path = ?"  # noqa: S608
        row = self._connection.execute(query, (schema.stored_path(path),)).fetchone()
        return File(path, *row[1:]) if row else None

    def of(self, path: str) -> FileFacts:
        """A file's facts; none where it was not read."""
        query = "SELECT packed FROM facts JOIN file ON facts.file = file.id WHERE path = ?"
        row = self._connection.execute(query, (schema.stored_path(path),)).fetchone()
        return unpack(row[0]) if row else FileFacts()

    def named(self, name: str) -> list[Place]:
        """Every symbol of a name."""
        query = (
            "SELECT name, kind, file.path, place, line, declaration FROM symbol JOIN file ON symbol.file = file.id "
            "WHERE name = ? ORDER BY file.path, place"
        )
        return [_place(row) for row in self._connection.execute(query, (name,))]

    def symbols(self, after: tuple[str, str, int], limit: int) -> list[Place]:
        """Symbols in the order of their names, behind the one at (name, path, place)."""
        query = (
            "SELECT name, symbol.kind, file.path, place, line, declaration FROM symbol JOIN file "
            "ON symbol.file = file.id WHERE (name, path, place) > (?, ?, ?) AND name >= ? ORDER BY name, path, place LIMIT ?"
        )
        name, path, place = after
        values = (name, schema.stored_path(path), place, name, limit)
        return [_place(row) for row in self._connection.execute(query, values)]

    def symbol_count(self) -> int:
        """How many symbols there are."""
        return int(self._connection.execute("SELECT count(*) FROM symbol").fetchone()[0])

    def files_with(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many files each term stands."""
        found = {}
        for term in terms:
            row = self._connection.execute("SELECT files FROM term WHERE text = ?", (term,)).fetchone()
            if row:
                found[term] = int(row[0])
        return found

    def read_count(self) -> int:
        """How many files have facts."""
        return int(self._connection.execute("SELECT count(*) FROM facts").fetchone()[0])

    def macros(self) -> list[tuple[str, Learned]]:
        """What each file says of macros."""
        query = "SELECT path, packed FROM macro JOIN file ON macro.file = file.id ORDER BY path"
        decode = msgspec.msgpack.Decoder(Learned).decode
        return [(schema.path_from(path), decode(packed)) for path, packed in self._connection.execute(query)]

    def change(self, path: str) -> Change | None:
        """A file's history."""
        query = "SELECT packed FROM change JOIN file ON change.file = file.id WHERE path = ?"
        row = self._connection.execute(query, (schema.stored_path(path),)).fetchone()
        return msgspec.msgpack.decode(row[0], type=Change)._replace(path=path) if row else None


def _place(row: tuple[str, str, str | bytes, int, int, int]) -> Place:
    return Place(row[0], row[1], schema.path_from(row[2]), row[3], row[4], bool(row[5]))


class Known(NamedTuple):
    """What the last build left."""

    files: dict[str, File]
    meta: dict[str, str]
    macros: list[tuple[str, Learned]]


def known(folder: str, readers: str) -> Known | None:
    """The last build by these readers; None where there is none, or it is another's or broken."""
    if not os.path.exists(os.path.join(folder, "index.db")):
        return None
    try:
        with Facts(folder) as facts:
            meta = facts.meta()
            if meta.get("schema") != str(schema.VERSION) or meta.get("readers") != readers:
                return None
            return Known({file.path: file for file in facts.files()}, meta, facts.macros())
    except (sqlite3.Error, TypeError, ValueError):
        return None
