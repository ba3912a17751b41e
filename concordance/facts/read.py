"""`Facts`: every question that later stages ask of the store.

In: a repository's folder. Out: rows of `model.py`. Read-only, and always one complete build: a
build that ends meanwhile is seen by the next one who opens the store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import msgspec

from concordance.errors import StoreBroken
from concordance.model import Change, File, FileFacts

from . import schema
from .pack import unpack
from .write import Learned

Decoded = TypeVar("Decoded")


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
        if not schema.is_ours(self.path):
            raise StoreBroken(f"{self.path} is no store", "Ask without --no-update, which builds it")
        self._connection = self._opened()
        if self.meta().get("schema") != str(schema.VERSION):
            self._connection.close()
            raise StoreBroken(f"{self.path} was made by another version", "Ask without --no-update, which builds it")

    def _opened(self) -> sqlite3.Connection:
        """A connection that sees one snapshot for as long as it is open."""
        try:
            connection = schema.connect(self.path, "ro")
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM meta")
        except sqlite3.OperationalError:
            # A database with a log wants to lay a file beside it, which not every folder lets it.
            if _size(f"{self.path}-wal") or os.access(os.path.dirname(self.path), os.W_OK):
                raise self._broken() from None
            connection = schema.connect(self.path, "immutable")
        except sqlite3.Error as error:
            raise self._broken() from error
        return connection

    def _broken(self) -> StoreBroken:
        return StoreBroken(f"the store {self.path} is damaged", "Remove it and build again: concord build")

    def _rows(self, query: str, values: tuple[object, ...] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise self._broken() from error

    def _row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        return next(self._rows(query, values), None)

    def _count(self, table: str) -> int:
        row = self._row(f"SELECT count(*) FROM {table}")  # noqa: S608
        return int(row[0]) if row else 0

    def _decoded(self, decode: Callable[[bytes], Decoded], packed: bytes) -> Decoded:
        try:
            return decode(packed)
        except (TypeError, ValueError) as error:
            raise self._broken() from error

    def __enter__(self) -> Facts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def meta(self) -> dict[str, str]:
        """What the build noted of itself."""
        return {str(key): str(value) for key, value in self._rows("SELECT key, value FROM meta")}

    def files(self) -> Iterator[File]:
        """The ledger, in the order of paths."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file ORDER BY path"  # noqa: S608
        for row in self._rows(query):
            yield File(schema.path_from(row[0]), *row[1:])

    def file(self, path: str) -> File | None:
        """One line of the ledger."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file WHERE path = ?"  # noqa: S608
        row = self._row(query, schema.stored_path(path))
        return File(path, *row[1:]) if row else None

    def of(self, path: str) -> FileFacts:
        """A file's facts; none where it was not read."""
        query = "SELECT packed FROM facts JOIN file ON facts.file = file.id WHERE path = ?"
        row = self._row(query, schema.stored_path(path))
        return self._decoded(unpack, row[0]) if row else FileFacts()

    def named(self, name: str) -> list[Place]:
        """Every symbol of a name."""
        query = (
            "SELECT name, kind, file.path, place, line, declaration FROM symbol JOIN file ON symbol.file = file.id "
            "WHERE name = ? ORDER BY file.path, place"
        )
        return [_place(row) for row in self._rows(query, (name,))]

    def symbols(self, after: tuple[str, str, int], limit: int) -> list[Place]:
        """Symbols in the order of their names, behind the one at (name, path, place)."""
        query = (
            "SELECT name, symbol.kind, file.path, place, line, declaration "
            "FROM symbol JOIN file ON symbol.file = file.id "
            "WHERE (name, path, place) > (?, ?, ?) AND name >= ? ORDER BY name, path, place LIMIT ?"
        )
        name, path, place = after
        values = (name, schema.stored_path(path), place, name, limit)
        return [_place(row) for row in self._rows(query, values)]

    def symbol_count(self) -> int:
        """How many symbols there are."""
        return self._count("symbol")

    def files_with(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many files each term stands."""
        found = {}
        for term in terms:
            row = self._row("SELECT files FROM term WHERE text = ?", term)
            if row:
                found[term] = int(row[0])
        return found

    def read_count(self) -> int:
        """How many files have facts."""
        return self._count("facts")

    def macros(self) -> list[tuple[str, Learned]]:
        """What each file says of macros."""
        query = "SELECT path, packed FROM macro JOIN file ON macro.file = file.id ORDER BY path"
        decode = msgspec.msgpack.Decoder(Learned).decode
        return [(schema.path_from(path), self._decoded(decode, packed)) for path, packed in self._rows(query)]

    def change(self, path: str) -> Change | None:
        """A file's history."""
        row = self._row("SELECT packed FROM change WHERE path = ?", schema.stored_path(path))
        decode = msgspec.msgpack.Decoder(schema.StoredChange).decode
        return schema.change_from(path, self._decoded(decode, row[0])) if row else None


def _size(path: str) -> int:
    return os.lstat(path).st_size if os.path.lexists(path) else 0


def _place(row: tuple[Any, ...]) -> Place:
    return Place(row[0], row[1], schema.path_from(row[2]), row[3], row[4], bool(row[5]))


class Known(NamedTuple):
    """What the last build left."""

    files: dict[str, File]
    meta: dict[str, str]
    macros: list[tuple[str, Learned]]


def known(folder: str, readers: str) -> Known | None:
    """The last build by these readers; None where there is none, or it is another's or broken."""
    try:
        with Facts(folder) as facts:
            meta = facts.meta()
            if meta.get("readers") != readers:
                return None
            return Known({file.path: file for file in facts.files()}, meta, facts.macros())
    except StoreBroken:
        return None
