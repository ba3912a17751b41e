"""The tables that linking fills: all of them at once, or by replacing the part of one file.

In: `LinkedFile`s. Out: rows. Uses are looked up by target symbol but replaced by using file, so each file's part is
also stored as it was given: only the differences between the old and the new part are written.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from concordance.base.model import ForeignName, unpack_column
from concordance.facts import schema
from concordance.facts.codec import unpack_foreign_names

Columns = tuple[bytes, ...]


class LinkedFile(NamedTuple):
    """The result of linking one file."""

    file: int  # its id
    links: bytes  # packed
    uses: Columns  # as columns: target, user, roles, trust, times; empty if there are none
    missed: dict[str, tuple[int, int]]  # names that could not be resolved: number of calls, and of all uses
    overrides: list[tuple[int, int, int]]  # method, overridden method, trust
    edges: bytes  # packed edges, as in `graph`
    named: int  # expressions that name something …
    resolved: int  # … and how many of them are resolved
    loads: bytes  # the ids of the files that it loads, packed
    extends: list[tuple[int, int]]  # class, base
    imports: bytes = b""  # a digest of where its imports lead
    mentions: bytes = b""  # digests of the names that it looks for in other files, ascending
    included: bytes | None = None  # C family: the ids of the files that it includes, in order
    asks: bytes = b""  # the names that other languages may define, encoded


class StoredFlow(NamedTuple):
    """The stored part of a file besides its uses."""

    missed: dict[str, tuple[int, int]]
    overrides: list[tuple[int, int, int]]
    extends: list[tuple[int, int]]


class FileLinks(NamedTuple):
    """The stored part of a file."""

    links: bytes = b""
    uses: Columns = ()
    rest: StoredFlow = StoredFlow({}, [], [])
    edges: bytes = b""
    loads: bytes = b""


Use = tuple[int, ...]


def part_of(row: LinkedFile) -> FileLinks:
    """Return what is stored of the result of linking a file."""
    return FileLinks(row.links, row.uses, StoredFlow(row.missed, row.overrides, row.extends), row.edges, row.loads)


def rows_of(uses: Columns) -> list[Use]:
    """Decode a file's uses: target, user, roles, trust, times."""
    return list(zip(*map(unpack_column, uses), strict=True))


def insert_all(run: sqlite3.Connection, rows: Iterable[LinkedFile], fresh: bool) -> None:
    """Write the parts of all files, replacing everything that was stored."""
    missed: dict[str, tuple[int, int]] = {}
    if not fresh:  # dropping a table costs less than emptying it; indexes are best created at the end
        for table in schema.LINK_TABLE_NAMES:
            run.execute(f"DROP TABLE {table}")
        for statement in schema.LINK_TABLES.split(";"):
            run.execute(statement)
    for row in rows:
        _insert_links(run, row)
        run.executemany("INSERT INTO used VALUES (?, ?, ?, ?, ?)", zip(*map(unpack_column, row.uses), strict=True))
        run.executemany("INSERT INTO override VALUES (?, ?, ?)", row.overrides)
        run.executemany("INSERT INTO extends VALUES (?, ?)", row.extends)
        for name, (calls, uses) in row.missed.items():
            had = missed.get(name, (0, 0))
            missed[name] = (had[0] + calls, had[1] + uses)
    run.executemany("INSERT INTO missed VALUES (?, ?, ?)", ((name, *missed[name]) for name in sorted(missed)))
    for statement in () if fresh else schema.LINK_INDEXES.split(";"):
        run.execute(statement)


def _insert_links(run: sqlite3.Connection, row: LinkedFile) -> None:
    encode = msgspec.msgpack.encode
    rest = encode(part_of(row).rest)
    run.execute("INSERT OR REPLACE INTO link VALUES (?, ?)", (row.file, row.links))
    values = (row.file, row.imports, row.named, row.resolved, encode(row.uses), rest)
    run.execute("INSERT OR REPLACE INTO linked VALUES (?, ?, ?, ?, ?, ?)", values)
    leads = (row.file, row.included, row.loads, row.edges)
    run.execute("INSERT OR REPLACE INTO led VALUES (?, ?, ?, ?)", leads)
    run.execute("INSERT OR REPLACE INTO mention VALUES (?, ?)", (row.file, row.mentions))
    _insert_foreign_names(run, row)


def _insert_foreign_names(run: sqlite3.Connection, row: LinkedFile) -> None:
    if row.asks:
        run.execute("INSERT OR REPLACE INTO asks VALUES (?, ?)", (row.file, row.asks))
    else:
        run.execute("DELETE FROM asks WHERE file = ?", (row.file,))


def read_part(run: sqlite3.Connection, file: int) -> FileLinks | None:
    """Return the stored part of a file; None if it was never linked."""
    query = (
        "SELECT link.packed, uses, rest, edges, loads FROM link JOIN linked USING (file) JOIN led USING (file) "
        "WHERE link.file = ?"
    )
    row = run.execute(query, (file,)).fetchone()
    if row is None:
        return None
    uses = msgspec.msgpack.decode(row[1], type=Columns)
    return FileLinks(row[0], uses, msgspec.msgpack.decode(row[2], type=StoredFlow), row[3], row[4])


def replace(run: sqlite3.Connection, row: LinkedFile) -> tuple[FileLinks, FileLinks]:
    """Write the part of a file, replacing the old one; return both."""
    had, new = read_part(run, row.file) or FileLinks(), part_of(row)
    if had.links and new == had:
        values = (row.imports, row.named, row.resolved, row.file)
        run.execute("UPDATE linked SET imports = ?, named = ?, resolved = ? WHERE file = ?", values)
        run.execute("UPDATE mention SET names = ? WHERE file = ?", (row.mentions, row.file))
        run.execute("UPDATE led SET included = ? WHERE file = ?", (row.included, row.file))
        _insert_foreign_names(run, row)
    else:
        _insert_links(run, row)
        _differ(run, had, new)
    return had, new


def foreign_names(run: sqlite3.Connection, file: int) -> list[ForeignName]:
    """Return the names that a file looks for in other languages."""
    row = run.execute("SELECT packed FROM asks WHERE file = ?", (file,)).fetchone()
    return unpack_foreign_names(row[0]) if row else []


def remove(run: sqlite3.Connection, file: int) -> FileLinks:
    """Delete the part of a file, and return it."""
    had = read_part(run, file) or FileLinks()
    _differ(run, had, FileLinks())
    for table in ("link", "linked", "led", "mention", "asks"):
        run.execute(f"DELETE FROM {table} WHERE file = ?", (file,))  # noqa: S608
    return had


def _differ(run: sqlite3.Connection, old: FileLinks, new: FileLinks) -> None:
    """Update the indexed rows by the differences between two parts of a file."""
    if old.uses != new.uses:
        before, after = dict.fromkeys(rows_of(old.uses)), dict.fromkeys(rows_of(new.uses))
        removed = [row[:2] for row in before if row not in after]
        run.executemany("DELETE FROM used WHERE target = ? AND user = ?", removed)
        run.executemany("INSERT INTO used VALUES (?, ?, ?, ?, ?)", [row for row in after if row not in before])
    if old.rest.overrides != new.rest.overrides:
        removed = [row[:2] for row in old.rest.overrides]
        run.executemany("DELETE FROM override WHERE symbol = ? AND target = ?", removed)
        run.executemany("INSERT INTO override VALUES (?, ?, ?)", new.rest.overrides)
    if old.rest.extends != new.rest.extends:
        run.executemany("DELETE FROM extends WHERE symbol = ? AND target = ?", old.rest.extends)
        run.executemany("INSERT INTO extends VALUES (?, ?)", new.rest.extends)
    if old.rest.missed != new.rest.missed:
        _miss(run, old.rest.missed, new.rest.missed)


def _miss(run: sqlite3.Connection, old: Mapping[str, tuple[int, int]], new: Mapping[str, tuple[int, int]]) -> None:
    rows = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, (0, 0)), new.get(name, (0, 0))
        if before != after:
            rows.append((name, after[0] - before[0], after[1] - before[1]))
    run.executemany(
        "INSERT INTO missed VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET calls = calls + excluded.calls, "
        "uses = uses + excluded.uses", rows,
    )  # fmt: skip
    run.executemany("DELETE FROM missed WHERE name = ? AND uses <= 0", [row[:1] for row in rows])


def files_holding(rows: Iterable[tuple[int, bytes]], numbers: Iterable[int]) -> Iterator[int]:
    """Yield the files whose column of four-byte numbers contains one of the given numbers."""
    distinct = frozenset(numbers)
    few = [array("I", [packed]).tobytes() for packed in distinct] if len(distinct) < 12 else []
    for file, column in rows:
        if any(_contains(packed, column) for packed in few) if few else not distinct.isdisjoint(array("I", column)):
            yield file


def _contains(digest: bytes, column: bytes) -> bool:
    at = column.find(digest)
    while at % 4 and at >= 0:
        at = column.find(digest, at + 1)
    return at >= 0
