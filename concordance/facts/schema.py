"""The tables of the store, derived from the types of `base/model.py`, and how paths are stored in them.

A table that mirrors a row type has that type's fields as columns, so a field added to the type becomes a column here.
Data that is read one file at a time (its facts) is one packed value; data that is looked up (a name, a path) is a row
with an index. Files and symbols share one sequence of ids (`symbol_ids`): `id_range` has the ranges of each file,
and `file.ids` the ids of its symbols where they are not consecutive. `VERSION` changes when the tables do; a store of
another version is rebuilt.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from concordance.base import confined_folder
from concordance.base.model import File, FileHistory

VERSION = 13
GENERATED = "generated"  # folder inside a store, for the store of the program's own pages
_TIMES, _ALWAYS = 4, 100_000  # limits on ids: relative to the number after the first build, and in addition to that

_TYPES = {"int": "INTEGER", "str": "TEXT", "float": "REAL", "bool": "INTEGER", "bytes": "BLOB"}


def _columns(row: type[Any]) -> str:
    """Return the fields of a row type as columns; a value that is not a plain one is packed."""
    return ", ".join(f"{name} {_TYPES.get(str(kind), 'BLOB')}" for name, kind in row.__annotations__.items())


# The results of linking. The part of each file is also stored as it was given, so that it can be replaced. What a file
# mentions, what it links to, and the rest of its part are in separate tables, because each is read without the others.
LINK_TABLE_NAMES = ("link", "linked", "led", "mention", "asks", "used", "missed", "override", "extends")
LINK_TABLES = """
CREATE TABLE link (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE linked (file INTEGER PRIMARY KEY, imports BLOB, named INTEGER, resolved INTEGER, uses BLOB, rest BLOB);
CREATE TABLE led (file INTEGER PRIMARY KEY, included BLOB, loads BLOB, edges BLOB);
CREATE TABLE mention (file INTEGER PRIMARY KEY, names BLOB);
CREATE TABLE asks (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE used (target INTEGER, user INTEGER, roles INTEGER, trust INTEGER, times INTEGER);
CREATE TABLE missed (name TEXT PRIMARY KEY, calls INTEGER, uses INTEGER) WITHOUT ROWID;
CREATE TABLE override (symbol INTEGER, target INTEGER, trust INTEGER);
CREATE TABLE extends (symbol INTEGER, target INTEGER)
"""
LINK_INDEXES = """
CREATE INDEX IF NOT EXISTS used_target ON used (target, user);
CREATE INDEX IF NOT EXISTS override_symbol ON override (symbol);
CREATE INDEX IF NOT EXISTS override_target ON override (target);
CREATE INDEX IF NOT EXISTS extends_symbol ON extends (symbol);
CREATE INDEX IF NOT EXISTS extends_target ON extends (target)
"""

TABLES = f"""{LINK_TABLES};
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE file (id INTEGER PRIMARY KEY, symbols INTEGER, ids BLOB, rank REAL, {_columns(File)});
CREATE TABLE id_range (start INTEGER PRIMARY KEY, last INTEGER, file INTEGER);
CREATE TABLE facts (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE flow (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE ends (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE remark (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, file INTEGER, place INTEGER, line INTEGER,
  declaration INTEGER, col INTEGER, public INTEGER, key TEXT, test INTEGER);
CREATE TABLE pass (name TEXT PRIMARY KEY, mark INTEGER, packed BLOB) WITHOUT ROWID;
CREATE TABLE term (text TEXT PRIMARY KEY, files INTEGER) WITHOUT ROWID;
CREATE TABLE change (path PRIMARY KEY, packed BLOB) WITHOUT ROWID;
CREATE TABLE touched (aspect TEXT, key BLOB, at INTEGER, PRIMARY KEY (aspect, key)) WITHOUT ROWID;
CREATE TABLE macro (file INTEGER PRIMARY KEY, packed BLOB);
"""

# Created after the rows of a first build: filling a sorted index row by row costs several times more.
INDEXES = f"""{LINK_INDEXES};
CREATE UNIQUE INDEX IF NOT EXISTS file_path ON file (path);
CREATE INDEX IF NOT EXISTS id_range_file ON id_range (file);
CREATE INDEX IF NOT EXISTS symbol_name ON symbol (name);
CREATE INDEX IF NOT EXISTS symbol_file ON symbol (file);
CREATE INDEX IF NOT EXISTS symbol_test ON symbol (id) WHERE test;
"""

SIDE_SUFFIXES = ("-wal", "-shm", "-journal")  # suffixes of the files that SQLite puts next to a database

FILE_COLUMNS = ", ".join(File._fields)
FILE_MARKS = ", ".join("?" * len(File._fields))


def is_ours(path: str) -> bool:
    """True if a database and SQLite's files next to it are regular files: a repository may contain links there."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and not any(os.path.islink(path + end) for end in SIDE_SUFFIXES)
    except OSError:
        return False


def connect(path: str, mode: str = "rwc") -> sqlite3.Connection:
    """Open a connection that trusts nothing in the file: a repository may come with its own store.

    `mode` is one of SQLite's, or "immutable" for a file in a folder that may not be written.
    """
    asked = "immutable=1" if mode == "immutable" else f"mode={mode}"
    uri = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{asked}"
    if any(confined_folder.is_special_file(f"{path}{end}") for end in ("", *SIDE_SUFFIXES)):
        raise sqlite3.DatabaseError(f"{path} is not a regular file")  # it might be a pipe, which blocks forever
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=60.0, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def stored_path(path: str) -> str | bytes:
    """Return a path as a value of the store: text, or bytes if its name cannot be encoded."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


# A file's packed history: its path is in the row, and the paths of its companions are bytes.
StoredChange = tuple[int, tuple[tuple[str, int], ...], int, int, tuple[tuple[bytes, int], ...]]


def stored_change(change: FileHistory) -> StoredChange:
    """Return a file's history as a value of the store."""
    together = tuple((os.fsencode(path), times) for path, times in change.together)
    return change.commits, change.authors, change.first, change.last, together


def change_from(path: str, value: StoredChange) -> FileHistory:
    """Return the history that a stored value holds."""
    commits, authors, first, last, together = value
    return FileHistory(
        path, commits, authors, first, last, tuple((os.fsdecode(other), times) for other, times in together)
    )


def path_from(value: str | bytes) -> str:
    """Return the path that a stored value holds."""
    return os.fsdecode(value) if isinstance(value, bytes) else value


def id_metadata(top: int, fresh: bool) -> dict[str, str]:
    """Return the metadata about ids that were given: the highest one, and the highest one after the first build."""
    return {"top": str(top), **({"first top": str(top)} if fresh else {})}


def has_too_many_unused_ids(meta: Mapping[str, str]) -> bool:
    """True if so many ids belong to removed files and symbols that a rebuilt store would be much smaller."""
    return int(meta.get("top", "0")) > _TIMES * int(meta.get("first top", "0")) + _ALWAYS
