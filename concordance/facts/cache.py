"""A cache of facts by content, shared by all repositories, branches and checkouts of one user.

In: a key made of a file's digest, its language and the version of the readers. Out: packed facts, and the words of the
text, which take most of the time of a file whose facts are cached. Workers look up, the build writes; a build that is
killed loses only its last batch. Each value starts with a digest of its key and itself, because a damaged database can
return a changed value, or the value of another key. Such a value is not used: the file is read again, and the value
replaced.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

import zstandard

from concordance.facts.integrity.failures import FAILURES, is_access_error, is_disk_error
from concordance.facts.schema import SIDE_SUFFIXES, connect

_DIGEST = 16  # bytes
_SIZES = struct.Struct("<III")
_LARGEST_VALUE = 256 << 20  # bytes: more than the facts and words of the largest file that is parsed
_MAX_WINDOW = 1 << 27  # bytes of memory for decompressing
_SMALLEST = 512  # minimum bytes of a database
_TABLE = "CREATE TABLE IF NOT EXISTS facts (key BLOB PRIMARY KEY, packed BLOB)"


class Cache:
    """The cache file. It is never essential: if it cannot be read or written, facts are computed again."""

    def __init__(self, folder: str, largest: int) -> None:
        """Open the cache in a folder; "" for a cache that stays empty."""
        self.path = os.path.join(folder, "facts.db")
        self.largest = largest
        self._connection: sqlite3.Connection | None = None
        self._doubtful = False  # True if a damaged value was replaced
        self.was_replaced = False  # True if the whole file was damaged and replaced
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._open()
        except OSError:
            self.close()
        except FAILURES as error:
            self._failed(error)

    @property
    def is_open(self) -> bool:
        """True if there is a cache to read and write."""
        return self._connection is not None

    def _open(self) -> None:
        if os.path.lexists(self.path) and 0 < os.path.getsize(self.path) < _SMALLEST:
            raise sqlite3.DatabaseError("not a database")  # SQLite itself would treat it as an empty one
        self._connection = connect(self.path)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")  # what a power cut loses is computed again
        self._connection.execute(_TABLE)

    def _failed(self, error: Exception) -> bool:
        """Close the cache after an error, and replace it if it is damaged. Return True if it was.

        It is not damaged if the disk is full, or if the file is locked or may not be written: then the run continues
        without it. Replacing it loses nothing that cannot be computed again.
        """
        self.close()
        damaged = os.access(self.path, os.W_OK) if is_access_error(error) else not is_disk_error(error)
        if damaged:
            self._replace()
        return damaged

    def _replace(self) -> None:
        try:
            for path in (self.path, *(self.path + end for end in SIDE_SUFFIXES)):
                if os.path.lexists(path):
                    os.remove(path)
            self._open()
            self.was_replaced = True
        except (OSError, *FAILURES):
            self.close()

    def get(self, key: bytes) -> bytes | None:
        """Return the facts of a key; None if there are none."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute("SELECT packed FROM facts WHERE key = ?", (key,)).fetchone()
        except FAILURES:
            return None
        return checked(key, row[0]) if row else None

    def has(self, key: bytes) -> bool:
        """True if there are facts of a key, which may be damaged."""
        if self._connection is None:
            return False
        try:
            return self._connection.execute("SELECT 1 FROM facts WHERE key = ?", (key,)).fetchone() is not None
        except FAILURES:
            return False

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys and their facts, without damaged ones."""
        if self._connection is None:
            return
        with suppress(*FAILURES):
            for key, value in self._connection.execute("SELECT key, packed FROM facts ORDER BY key"):
                packed = checked(key, value)
                if packed is not None:
                    yield key, packed

    def put(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Store facts, all or none of them. A key that already exists had a damaged value, or belongs to an equal file
        that was extracted at the same time."""
        if self._connection is None:
            return
        rows = list(rows)
        try:
            for key, _ in rows:
                row = self._connection.execute("SELECT packed FROM facts WHERE key = ?", (key,)).fetchone()
                self._doubtful |= row is not None and checked(key, row[0]) is None
            self._connection.execute("BEGIN IMMEDIATE")
            values = ((key, sealed(key, packed)) for key, packed in rows)
            self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", values)
            self._connection.execute("COMMIT")
        except FAILURES as error:
            self._failed(error)

    def drop_damaged(self) -> tuple[int, int]:
        """Delete all damaged values; return how many, and of how many. If the database itself is damaged, all are
        deleted."""
        if self._connection is None:
            return 0, 0
        run, total = self._connection.execute, 0
        try:
            (total,) = run("SELECT count(*) FROM facts").fetchone()
            bad = [row for row, key, packed in run("SELECT rowid, key, packed FROM facts") if not checked(key, packed)]
            sound = run("PRAGMA integrity_check(1)").fetchone() == ("ok",)
            if sound:
                self._connection.executemany("DELETE FROM facts WHERE rowid = ?", ((row,) for row in bad))
                return len(bad), total
            self.close()
            self._replace()
        except FAILURES as error:
            if not self._failed(error):
                return 0, total
        return total or 1, total or 1

    def trim(self) -> None:
        """Delete all damaged facts if one was found, and the oldest half if the file is too large."""
        if self._doubtful:
            self._doubtful = False
            self.drop_damaged()
        if self._connection is None:
            return
        try:
            if os.path.getsize(self.path) <= self.largest:
                return
            (last,) = self._connection.execute("SELECT max(rowid) FROM facts").fetchone()
            self._connection.execute("DELETE FROM facts WHERE rowid <= ?", (last // 2,))
            self._connection.execute("VACUUM")
        except (OSError, *FAILURES):
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _digest(key: bytes, packed: bytes | memoryview) -> bytes:
    digest = blake2b(key, digest_size=_DIGEST)
    digest.update(packed)
    return digest.digest()


def sealed(key: bytes, packed: bytes) -> bytes:
    """Return facts as they are stored: after a digest of their key and of themselves."""
    return _digest(key, packed) + packed


def checked(key: object, value: object) -> bytes | None:
    """Return the facts in a stored value; None if it is damaged or belongs to another key."""
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        return None
    return value[_DIGEST:] if _digest(key, memoryview(value)[_DIGEST:]) == value[:_DIGEST] else None


class CachedFile(NamedTuple):
    """A value of the cache, as it is stored elsewhere: nothing in it depends on the file's path."""

    facts: bytes
    flow: bytes
    ends: bytes
    words: bytes


def encode_cached_file(file: CachedFile) -> bytes:
    """Return a value of the cache, compressed."""
    sizes = _SIZES.pack(len(file.facts), len(file.flow), len(file.ends))
    return zstandard.compress(b"".join((sizes, *file)), 3)


class CachedFileDecoder:
    """Decodes values of the cache, one at a time: it keeps memory that is otherwise requested for each value."""

    def __init__(self) -> None:
        self._decompressor = decompressor()

    def decode(self, value: bytes) -> CachedFile:
        """Return the parts of a value; ValueError if it is not a value of the cache."""
        data = decompress(value, _LARGEST_VALUE, self._decompressor)
        if len(data) < _SIZES.size:
            raise ValueError("not a value of the cache")
        facts, flow, ends = _SIZES.unpack_from(data)
        flow_at = _SIZES.size + facts
        ends_at = flow_at + flow
        words_at = ends_at + ends
        return CachedFile(data[_SIZES.size : flow_at], data[flow_at:ends_at], data[ends_at:words_at], data[words_at:])


def decompressor() -> zstandard.ZstdDecompressor:
    """Return a decompressor that limits its memory; only for one thread at a time."""
    return zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)


def decompress(data: bytes, most: int, by: zstandard.ZstdDecompressor) -> bytes:
    """Return decompressed data; nothing if it is damaged or larger than it may be."""
    try:
        if not 0 <= zstandard.frame_content_size(data) <= most:
            return b""
        return by.decompress(data, max_output_size=most)
    except zstandard.ZstdError:
        return b""
