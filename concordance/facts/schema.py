"""The store's tables, made from the types of `base/model.py`, and how a path is written in them.

A table that mirrors a row type has that type's fields as columns, so a field added there is a
column here. What is read a file at a time (its facts) is one packed value; what is looked up (a
name, a path) is a row with an index. `VERSION` changes when the tables do; a store of another
version is built anew.
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

VERSION = 10
_TIMES, _ALWAYS = 4, 100_000  # ids: of those that the first build gave, and beside them

_TYPES = {"int": "INTEGER", "str": "TEXT", "float": "REAL", "bool": "INTEGER", "bytes": "BLOB"}


def _columns(row: type[Any]) -> str:
    """A row type's fields as columns; a value that is no plain one is packed."""
    return ", ".join(f"{name} {_TYPES.get(str(kind), 'BLOB')}" for name, kind in row.__annotations__.items())


# What linking gives. Each file's part is kept as it was given, too, so that one can be put in place of another: what a
# file mentions, where it leads and its share of the rest lie apart, for each is read without the others.
LINKED = ("link", "linked", "led", "mention", "asks", "used", "missed", "override", "extends")
LINK_TABLES = """
CREATE TABLE link (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE linked (file INTEGER PRIMARY KEY, imports BLOB, named INTEGER, resolved INTEGER, uses BLOB, rest BLOB);
CREATE TABLE led (file INTEGER PRIMARY KEY, base INTEGER, included BLOB, files BLOB, loads BLOB, edges BLOB);
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
CREATE TABLE file (id INTEGER PRIMARY KEY, base INTEGER, rank REAL, {_columns(File)});
CREATE TABLE facts (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE flow (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE ends (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE remark (file INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE symbol (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, file INTEGER, place INTEGER, line INTEGER,
  declaration INTEGER, col INTEGER, public INTEGER, key TEXT, test INTEGER);
CREATE TABLE pass (name TEXT PRIMARY KEY, packed BLOB) WITHOUT ROWID;
CREATE TABLE term (text TEXT PRIMARY KEY, files INTEGER) WITHOUT ROWID;
CREATE TABLE change (path PRIMARY KEY, packed BLOB) WITHOUT ROWID;
CREATE TABLE touched (aspect TEXT, key BLOB, at INTEGER, PRIMARY KEY (aspect, key)) WITHOUT ROWID;
CREATE TABLE macro (file INTEGER PRIMARY KEY, packed BLOB);
"""

# Made after the rows of a first build: filling a sorted index row by row costs several times more.
INDEXES = f"""{LINK_INDEXES};
CREATE UNIQUE INDEX IF NOT EXISTS file_path ON file (path);
CREATE INDEX IF NOT EXISTS file_base ON file (base);
CREATE INDEX IF NOT EXISTS symbol_name ON symbol (name);
CREATE INDEX IF NOT EXISTS symbol_file ON symbol (file);
CREATE INDEX IF NOT EXISTS symbol_test ON symbol (id) WHERE test;
"""

BESIDE = ("-wal", "-shm", "-journal")  # what SQLite lays beside a database

FILE_COLUMNS = ", ".join(File._fields)
FILE_MARKS = ", ".join("?" * len(File._fields))


def is_ours(path: str) -> bool:
    """True if a database and what SQLite keeps beside it are regular files: a repository may come with links."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode) and not any(os.path.islink(path + end) for end in BESIDE)
    except OSError:
        return False


def connect(path: str, mode: str = "rwc") -> sqlite3.Connection:
    """A connection that trusts nothing in the file: a repository may come with a store of its own.

    `mode` is one of SQLite's, or "immutable" for a file in a folder that may not be written.
    """
    asked = "immutable=1" if mode == "immutable" else f"mode={mode}"
    uri = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{asked}"
    if any(confined_folder.is_other(f"{path}{end}") for end in ("", *BESIDE)):
        raise sqlite3.DatabaseError(f"{path} is not a plain file")  # it might be a pipe, and never answer
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=60.0, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def stored_path(path: str) -> str | bytes:
    """A path as a value of the store: text, or bytes where its name is in no encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


# A file's history as it is packed: its path is the row's, and those of its companions are bytes.
StoredChange = tuple[int, tuple[tuple[str, int], ...], int, int, tuple[tuple[bytes, int], ...]]


def stored_change(change: FileHistory) -> StoredChange:
    """A file's history as a value of the store."""
    together = tuple((os.fsencode(path), times) for path, times in change.together)
    return change.commits, change.authors, change.first, change.last, together


def change_from(path: str, value: StoredChange) -> FileHistory:
    """The history of a stored value."""
    commits, authors, first, last, together = value
    return FileHistory(
        path, commits, authors, first, last, tuple((os.fsdecode(other), times) for other, times in together)
    )


def path_from(value: str | bytes) -> str:
    """The path of a stored value."""
    return os.fsdecode(value) if isinstance(value, bytes) else value


def grown(top: int, fresh: bool) -> dict[str, str]:
    """What a store notes of the ids that were given: the highest, and what that was after the first build."""
    return {"top": str(top), **({"first top": str(top)} if fresh else {})}


def is_outgrown(meta: Mapping[str, str]) -> bool:
    """Whether so many ids were given up, by files that got others, that a store made anew would be a fraction of it."""
    return int(meta.get("top", "0")) > _TIMES * int(meta.get("first top", "0")) + _ALWAYS
