"""The queries by which bridges are joined: ends in files, names they look for, and the symbols of a name.

In: the connection of a store that is being written. Out: rows of the model.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import msgspec

from concordance.base.model import Bridge, End, ForeignName, Links, Occurrences
from concordance.facts import schema
from concordance.facts.codec import unpack_ends, unpack_foreign_names, unpack_links, unpack_names, unpack_scopes
from concordance.facts.symbol_ids import IdOwners, SymbolIds

SYMBOL = (
    "SELECT symbol.id, name, kind, path, place, line, declaration, col, public, symbol.key, language, category "
    "FROM symbol JOIN file ON symbol.file = file.id"
)
_Rows = list[Bridge]


def pack_bridges(rows: Iterable[Bridge]) -> bytes:
    """Encode the rows of one bridge. A lone surrogate, as a literal can contain, is not valid text: it is replaced."""
    listed = list(rows)
    try:
        return msgspec.msgpack.encode(listed)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode([_encodable_row(row) for row in listed])


def unpack_bridge(data: bytes) -> list[Bridge]:
    """Decode the rows of one bridge."""
    return msgspec.msgpack.decode(data, type=_Rows) if data else []


def encode_text(text: str) -> bytes:
    """Return a text as it is in the encoded rows of every bridge that contains it."""
    return msgspec.msgpack.encode(text)


def pack_parts(parts: Mapping[str, bytes]) -> bytes:
    """Encode what is stored of all bridges, by the name of the bridge: one can be replaced without decoding others."""
    return msgspec.msgpack.encode(parts)


def unpack_parts(data: bytes) -> dict[str, bytes]:
    """Decode what is stored of all bridges, by name."""
    return msgspec.msgpack.decode(data, type=dict[str, bytes]) if data else {}


def unpack_bridges(data: bytes) -> list[Bridge]:
    """Decode the rows of all bridges."""
    return [row for part in unpack_parts(data).values() for row in unpack_bridge(part)]


def call_edges(parts: Mapping[str, bytes]) -> set[int]:
    """Return the call edges of all bridges."""
    return {number for part in parts.values() for number in array("Q", part)}


def _encodable_row(row: Bridge) -> Bridge:
    text = [value.encode("utf-8", "replace").decode() if isinstance(value, str) else value for value in row]
    return Bridge._make(text)._replace(more=())


class BridgeReads:
    """The queries of the store by which bridges are joined."""

    def __init__(
        self, connection: sqlite3.Connection, guarded: Callable[[], AbstractContextManager[None]],
        owners: Callable[[], IdOwners[int]],
    ) -> None:  # fmt: skip
        """`owners` returns which file each id belongs to."""
        self._run, self._guarded, self.owners = connection, guarded, owners

    def packed_ends(self) -> dict[int, bytes]:
        """Return the encoded ends of every file that has any, by file id."""
        with self._guarded():
            return dict(self._run.execute("SELECT file, packed FROM ends").fetchall())

    def foreign_names(self) -> dict[int, list[ForeignName]]:
        """Return the names that files look for in other languages, by file id."""
        with self._guarded():
            rows = self._run.execute("SELECT file, packed FROM asks").fetchall()
            return {file: unpack_foreign_names(packed) for file, packed in rows}

    def symbols_named(self, name: str) -> list[SymbolPlace]:
        """Return every symbol of a name, in path order."""
        query = f"{SYMBOL} WHERE name = ? ORDER BY file.path, place"
        with self._guarded():
            return [place_of(row) for row in self._run.execute(query, (name,))]

    def ends_of(self, file: int) -> tuple[End, ...]:
        """Return the ends of one file."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM ends WHERE file = ?", (file,)).fetchone()
        return unpack_ends(row[0]) if row else ()

    def symbols_in(self, file: int) -> list[SymbolPlace]:
        """Return every symbol of a file, in text order."""
        with self._guarded():
            return [place_of(r) for r in self._run.execute(f"{SYMBOL} WHERE symbol.file = ? ORDER BY place", (file,))]

    def place(self, identity: int) -> SymbolPlace | None:
        """Return the symbol of an id; None if it is the id of a file."""
        with self._guarded():
            row = self._run.execute(f"{SYMBOL} WHERE symbol.id = ?", (identity,)).fetchone()
        return place_of(row) if row else None

    def occurrences(self, file: int) -> Occurrences:
        """Return the occurrences of names in a file."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM facts WHERE file = ?", (file,)).fetchone()
        if row is None:
            return Occurrences()
        columns = unpack_scopes(row[0]).occurrences
        return Occurrences(unpack_names(columns), *columns[1:])

    def links(self, file: int) -> Links:
        """Return what a file's names resolve to."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM link WHERE file = ?", (file,)).fetchone()
        return unpack_links(row[0]) if row else Links()

    def files(self) -> list[tuple[int, SymbolIds, str, str, str]]:
        """Return every file's id, its symbols' ids, its path, language and category, in path order."""
        with self._guarded():
            rows = self._run.execute("SELECT id, symbols, ids, path, language, category FROM file").fetchall()
        files = ((r[0], SymbolIds.unpack(*r[:3]), schema.path_from(r[3]), r[4], r[5]) for r in rows)
        return sorted(files, key=lambda row: row[2])


# --- symbols with their position


class SymbolPlace(NamedTuple):
    """A symbol, its position and its file."""

    id: int
    name: str
    kind: str
    path: str
    place: int
    line: int
    declaration: bool
    col: int
    public: bool
    key: str
    language: str
    category: str

    @property
    def parent_key(self) -> str:
        """The key of the enclosing symbol, "" if there is none."""
        return self.key.rpartition(".")[0]


def place_of(row: tuple[Any, ...]) -> SymbolPlace:
    """Return the symbol of a row that `SYMBOL` selects."""
    path, declaration, public = schema.path_from(row[3]), bool(row[6]), bool(row[8])
    return SymbolPlace(row[0], row[1], row[2], path, row[4], row[5], declaration, row[7], public, *row[9:])
