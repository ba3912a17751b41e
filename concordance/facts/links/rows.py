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

from concordance.base.model import Links, pack_column, unpack_column
from concordance.facts import schema
from concordance.facts.codec import pack, unpack_asks, unpack_links
from concordance.facts.links.graph import remap_targets

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
    base: int  # the id of the file as a target
    loads: bytes  # the ids of the files that it loads, packed
    extends: list[tuple[int, int]]  # class, base
    imports: bytes = b""  # a digest of where its imports lead
    mentions: bytes = b""  # digests of the names that it looks for in other files, ascending
    files: bytes = b""  # the bases of the files that it links to in any way
    included: bytes | None = None  # C family: the bases of the files that it includes, in order
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
    told = (row.file, row.imports, row.named, row.resolved, encode(row.uses), rest)
    run.execute("INSERT OR REPLACE INTO linked VALUES (?, ?, ?, ?, ?, ?)", told)
    leads = (row.file, row.base, row.included, row.files, row.loads, row.edges)
    run.execute("INSERT OR REPLACE INTO led VALUES (?, ?, ?, ?, ?, ?)", leads)
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
        told = (row.imports, row.named, row.resolved, row.file)
        run.execute("UPDATE linked SET imports = ?, named = ?, resolved = ? WHERE file = ?", told)
        run.execute("UPDATE mention SET names = ? WHERE file = ?", (row.mentions, row.file))
        run.execute("UPDATE led SET files = ?, included = ? WHERE file = ?", (row.files, row.included, row.file))
        _insert_foreign_names(run, row)
    else:
        _insert_links(run, row)
        _differ(run, had, new)
    return had, new


def foreign_names_changed(run: sqlite3.Connection, row: LinkedFile) -> bool:
    """True if the names that a file looks for in other languages changed, or the symbols in it that do so."""
    had = run.execute("SELECT packed, base FROM asks JOIN led USING (file) WHERE file = ?", (row.file,)).fetchone()
    was = [(one.name, one.user - had[1], one.roles) for one in unpack_asks(had[0])] if had else []
    now = [(one.name, one.user - row.base, one.roles) for one in unpack_asks(row.asks)] if row.asks else []
    return was != now


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
        gone = [row[:2] for row in before if row not in after]
        run.executemany("DELETE FROM used WHERE target = ? AND user = ?", gone)
        run.executemany("INSERT INTO used VALUES (?, ?, ?, ?, ?)", [row for row in after if row not in before])
    if old.rest.overrides != new.rest.overrides:
        gone = [row[:2] for row in old.rest.overrides]
        run.executemany("DELETE FROM override WHERE symbol = ? AND target = ?", gone)
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


def retarget(run: sqlite3.Connection, new_ids: Mapping[int, int]) -> None:
    """Update the targets in all indexed rows to their current ids."""
    pairs = [(new, old) for old, new in new_ids.items()]
    for table in ("used", "override", "extends"):
        run.executemany(f"UPDATE {table} SET target = ? WHERE target = ?", pairs)  # noqa: S608


def remap_part(run: sqlite3.Connection, file: int, new_ids: Mapping[int, int]) -> tuple[FileLinks, FileLinks] | None:
    """Update the targets in the stored part of a file to their current ids; return it before and after."""
    had = read_part(run, file)
    if had is None:
        return None
    links = unpack_links(had.links)
    targets = _with_new_ids(links.target, new_ids)
    uses = (_with_new_ids(had.uses[0], new_ids), *had.uses[1:]) if had.uses else had.uses
    rest = StoredFlow(
        had.rest.missed, [(one, new_ids.get(target, target), trust) for one, target, trust in had.rest.overrides],
        [(one, new_ids.get(target, target)) for one, target in had.rest.extends],
    )  # fmt: skip
    new = FileLinks(
        pack(_with_targets(links, targets)),
        uses,
        rest,
        remap_targets(had.edges, new_ids),
        _with_new_ids(had.loads, new_ids),
    )
    columns = run.execute("SELECT files, included FROM led WHERE file = ?", (file,)).fetchone()
    there, included = (
        [new_ids.get(base, base) for base in array("I", one)] if one is not None else None for one in columns
    )
    encode = msgspec.msgpack.encode
    run.execute("UPDATE link SET packed = ? WHERE file = ?", (new.links, file))
    run.execute("UPDATE linked SET uses = ?, rest = ? WHERE file = ?", (encode(new.uses), encode(new.rest), file))
    files = array("I", sorted(there or ())).tobytes()
    leads = (new.edges, new.loads, files, array("I", included).tobytes() if included is not None else None, file)
    run.execute("UPDATE led SET edges = ?, loads = ?, files = ?, included = ? WHERE file = ?", leads)
    return had, new


def _with_targets(links: Links, targets: bytes) -> Links:
    return links._replace(target=targets)


def _with_new_ids(column: bytes, new_ids: Mapping[int, int]) -> bytes:
    """Return a column with ids replaced."""
    return pack_column([new_ids.get(one, one) for one in unpack_column(column)])


def files_holding(rows: Iterable[tuple[int, bytes]], numbers: Iterable[int]) -> Iterator[int]:
    """Yield the files whose column of four-byte numbers contains one of the given numbers."""
    every = frozenset(numbers)
    few = [array("I", [one]).tobytes() for one in every] if len(every) < 12 else []
    for file, column in rows:
        if any(_contains(one, column) for one in few) if few else not every.isdisjoint(array("I", column)):
            yield file


def _contains(digest: bytes, column: bytes) -> bool:
    at = column.find(digest)
    while at % 4 and at >= 0:
        at = column.find(digest, at + 1)
    return at >= 0
