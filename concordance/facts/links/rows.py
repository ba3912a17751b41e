"""The tables that linking fills: all of them at once, or one file's part in place of another.

In: `LinkedFile`s. Out: rows. Who uses a symbol is looked up by the symbol, but a part is replaced by its file, so each
file's part is also kept as it was given: only what differs between the old part and the new one is written.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from concordance.base.model import Links, packed, unpacked
from concordance.facts import schema
from concordance.facts.codec import pack, unpack_asks, unpack_links
from concordance.facts.links.graph import remapped

Columns = tuple[bytes, ...]


class LinkedFile(NamedTuple):
    """What linking one file gives."""

    file: int  # its id
    links: bytes  # packed
    uses: Columns  # in columns: target, user, roles, trust, times; empty where there are none
    missed: dict[str, tuple[int, int]]  # names that lead nowhere: how often they are called, and stand there at all
    overrides: list[tuple[int, int, int]]  # method, what it overrides, trust
    edges: bytes  # who leads to whom, packed as in `graph`
    named: int  # expressions that name something …
    resolved: int  # … of which so many lead somewhere
    base: int  # the id of the file as a target
    loads: bytes  # the ids of the files that it needs when it is loaded, packed
    extends: list[tuple[int, int]]  # class, base
    imports: bytes = b""  # a digest of where its imports lead
    mentions: bytes = b""  # digests of the names that it asks others for, rising
    files: bytes = b""  # the bases of the files that it leads to in any way
    included: bytes | None = None  # in the C family: the bases of the files that it includes, in order
    asks: bytes = b""  # the names that other languages may define, packed


class StoredFlow(NamedTuple):
    """What is kept of a file's part beside its uses."""

    missed: dict[str, tuple[int, int]]
    overrides: list[tuple[int, int, int]]
    extends: list[tuple[int, int]]


class FileLinks(NamedTuple):
    """A file's part as it is kept."""

    links: bytes = b""
    uses: Columns = ()
    rest: StoredFlow = StoredFlow({}, [], [])
    edges: bytes = b""
    loads: bytes = b""


Use = tuple[int, ...]


def part_of(row: LinkedFile) -> FileLinks:
    """What is kept of what linking a file gave."""
    return FileLinks(row.links, row.uses, StoredFlow(row.missed, row.overrides, row.extends), row.edges, row.loads)


def rows_of(uses: Columns) -> list[Use]:
    """A file's uses, unpacked: target, user, roles, trust, times."""
    return list(zip(*map(unpacked, uses), strict=True))


def put_all(run: sqlite3.Connection, rows: Iterable[LinkedFile], fresh: bool) -> None:
    """Writes all files' parts in place of all that was known."""
    missed: dict[str, tuple[int, int]] = {}
    if not fresh:  # to drop a table costs less than to empty it; an index is best made at the end
        for table in schema.LINKED:
            run.execute(f"DROP TABLE {table}")
        for statement in schema.LINK_TABLES.split(";"):
            run.execute(statement)
    for row in rows:
        _put_own(run, row)
        run.executemany("INSERT INTO used VALUES (?, ?, ?, ?, ?)", zip(*map(unpacked, row.uses), strict=True))
        run.executemany("INSERT INTO override VALUES (?, ?, ?)", row.overrides)
        run.executemany("INSERT INTO extends VALUES (?, ?)", row.extends)
        for name, (calls, uses) in row.missed.items():
            had = missed.get(name, (0, 0))
            missed[name] = (had[0] + calls, had[1] + uses)
    run.executemany("INSERT INTO missed VALUES (?, ?, ?)", ((name, *missed[name]) for name in sorted(missed)))
    for statement in () if fresh else schema.LINK_INDEXES.split(";"):
        run.execute(statement)


def _put_own(run: sqlite3.Connection, row: LinkedFile) -> None:
    encode = msgspec.msgpack.encode
    rest = encode(part_of(row).rest)
    run.execute("INSERT OR REPLACE INTO link VALUES (?, ?)", (row.file, row.links))
    told = (row.file, row.imports, row.named, row.resolved, encode(row.uses), rest)
    run.execute("INSERT OR REPLACE INTO linked VALUES (?, ?, ?, ?, ?, ?)", told)
    leads = (row.file, row.base, row.included, row.files, row.loads, row.edges)
    run.execute("INSERT OR REPLACE INTO led VALUES (?, ?, ?, ?, ?, ?)", leads)
    run.execute("INSERT OR REPLACE INTO mention VALUES (?, ?)", (row.file, row.mentions))
    _put_asks(run, row)


def _put_asks(run: sqlite3.Connection, row: LinkedFile) -> None:
    if row.asks:
        run.execute("INSERT OR REPLACE INTO asks VALUES (?, ?)", (row.file, row.asks))
    else:
        run.execute("DELETE FROM asks WHERE file = ?", (row.file,))


def part(run: sqlite3.Connection, file: int) -> FileLinks | None:
    """What is kept of a file; None where it was never linked."""
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
    """Writes one file's part in place of what it had; gives both."""
    had, new = part(run, row.file) or FileLinks(), part_of(row)
    if had.links and new == had:
        told = (row.imports, row.named, row.resolved, row.file)
        run.execute("UPDATE linked SET imports = ?, named = ?, resolved = ? WHERE file = ?", told)
        run.execute("UPDATE mention SET names = ? WHERE file = ?", (row.mentions, row.file))
        run.execute("UPDATE led SET files = ?, included = ? WHERE file = ?", (row.files, row.included, row.file))
        _put_asks(run, row)
    else:
        _put_own(run, row)
        _differ(run, had, new)
    return had, new


def asks_other(run: sqlite3.Connection, row: LinkedFile) -> bool:
    """Whether a file asks other languages for other names than it did, or who in it asks is another."""
    had = run.execute("SELECT packed, base FROM asks JOIN led USING (file) WHERE file = ?", (row.file,)).fetchone()
    was = [(one.name, one.user - had[1], one.roles) for one in unpack_asks(had[0])] if had else []
    now = [(one.name, one.user - row.base, one.roles) for one in unpack_asks(row.asks)] if row.asks else []
    return was != now


def remove(run: sqlite3.Connection, file: int) -> FileLinks:
    """Takes a file's part out, and gives it."""
    had = part(run, file) or FileLinks()
    _differ(run, had, FileLinks())
    for table in ("link", "linked", "led", "mention", "asks"):
        run.execute(f"DELETE FROM {table} WHERE file = ?", (file,))  # noqa: S608
    return had


def _differ(run: sqlite3.Connection, old: FileLinks, new: FileLinks) -> None:
    """Brings the rows that are looked up from one part of a file to another."""
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


def aim(run: sqlite3.Connection, moved: Mapping[int, int]) -> None:
    """Gives all rows that are looked up the ids that their targets have now."""
    pairs = [(new, old) for old, new in moved.items()]
    for table in ("used", "override", "extends"):
        run.executemany(f"UPDATE {table} SET target = ? WHERE target = ?", pairs)  # noqa: S608


def move(run: sqlite3.Connection, file: int, moved: Mapping[int, int]) -> tuple[FileLinks, FileLinks] | None:
    """Writes what is kept of a file with other ids for what it leads to; gives it before and after."""
    had = part(run, file)
    if had is None:
        return None
    links = unpack_links(had.links)
    targets = _with(links.target, moved)
    uses = (_with(had.uses[0], moved), *had.uses[1:]) if had.uses else had.uses
    rest = StoredFlow(
        had.rest.missed, [(one, moved.get(target, target), trust) for one, target, trust in had.rest.overrides],
        [(one, moved.get(target, target)) for one, target in had.rest.extends],
    )  # fmt: skip
    new = FileLinks(pack(_aimed(links, targets)), uses, rest, remapped(had.edges, moved), _with(had.loads, moved))
    columns = run.execute("SELECT files, included FROM led WHERE file = ?", (file,)).fetchone()
    there, included = (
        [moved.get(base, base) for base in array("I", one)] if one is not None else None for one in columns
    )
    encode = msgspec.msgpack.encode
    run.execute("UPDATE link SET packed = ? WHERE file = ?", (new.links, file))
    run.execute("UPDATE linked SET uses = ?, rest = ? WHERE file = ?", (encode(new.uses), encode(new.rest), file))
    files = array("I", sorted(there or ())).tobytes()
    leads = (new.edges, new.loads, files, array("I", included).tobytes() if included is not None else None, file)
    run.execute("UPDATE led SET edges = ?, loads = ?, files = ?, included = ? WHERE file = ?", leads)
    return had, new


def _aimed(links: Links, targets: bytes) -> Links:
    return links._replace(target=targets)


def _with(column: bytes, moved: Mapping[int, int]) -> bytes:
    """A column with other ids in place of some."""
    return packed([moved.get(one, one) for one in unpacked(column)])


def holding(rows: Iterable[tuple[int, bytes]], wanted: Iterable[int]) -> Iterator[int]:
    """The files whose column of numbers, of four bytes each, holds one of some."""
    every = frozenset(wanted)
    few = [array("I", [one]).tobytes() for one in every] if len(every) < 12 else []
    for file, column in rows:
        if any(_stands(one, column) for one in few) if few else not every.isdisjoint(array("I", column)):
            yield file


def _stands(digest: bytes, said: bytes) -> bool:
    at = said.find(digest)
    while at % 4 and at >= 0:
        at = said.find(digest, at + 1)
    return at >= 0
