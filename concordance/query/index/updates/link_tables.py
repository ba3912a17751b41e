"""The tables that hang on who uses whom, each look-up as a number (see `tables`).

In: an index. Out: the numbers. An index that goes on after an update has those of the last time, with what they were
made of: a number is made again only where that is another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from concordance.base.model import unpacked
from concordance.facts.page_reads import Digests
from concordance.facts.store_delta import band
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import lasting, unless


def number(value: object) -> int:
    """A value as a number."""
    return crc32(repr(value).encode("utf-8", "backslashreplace"))


class LinkTables:
    """The numbers of one index."""

    def __init__(self) -> None:
        self._rows: dict[str, Mapping[Any, Any]] = {}  # what each table was made of last
        self._found: dict[str, Digests] = {}
        self._made_of: object = None
        self.stale: set[str] | None = None  # files whose symbols are used otherwise than then; None where any may be

    def of(self, index: Index) -> dict[str, Digests]:
        """All of them. Who is given a table may keep it: another one takes its place where it changes."""
        if self._made_of is not index.neighbours:
            self._made_of = index.neighbours
            self._passed(index)
        if self.stale is None:
            self._found["used"], self._found["linked"] = {}, {}
        paths = self.stale if self.stale is not None else [row[1] for row in index.bases]
        if paths:
            self._use(index, paths)
        self.stale = set()
        return dict(self._found)

    def _again(
        self, name: str, rows: Mapping[Any, Any], make: Callable[[Any], int], path_of: Callable[[Any], str] = str
    ) -> None:
        """Makes the numbers of a table of which some rows are others."""
        before, known = self._rows.get(name, {}), self._found.get(name, {})
        if rows is before:
            return
        self._rows[name] = rows
        found: Digests = {}
        for key, row in rows.items():
            path, had = path_of(key), before.get(key)
            same = had is row or (had is not None and had == row)
            found[path] = known[path] if same else make(row)
        self._found[name] = found

    def _passed(self, index: Index) -> None:
        """What analyses over the whole gave."""
        crc = {row[0]: crc32(row[1].encode("utf-8", "surrogateescape")) for row in index.bases}
        path_of, neighbours = index.path_of_base, index.neighbours

        def summed(row: dict[int, int]) -> int:
            return sum([(crc[other] * 1000003 ^ times * 8191) & 0xFFFFFFFF for other, times in row.items()])

        self._again("uses", neighbours.all_uses, summed, path_of)
        self._again("users", neighbours.all_users, summed, path_of)
        self._found["fan"] = {path_of(one): band(len(row)) for one, row in neighbours.all_users.items()}
        edges = {folder: index.folder_edges(folder) for folder in index.folders}
        self._again("edges", edges, lambda row: number(sorted(row.items())))
        for name, rows in (("bands", index.bands), ("ranks", index.ranks), ("layers", index.layers)):
            self._again(name, rows, number)
        known: dict[int, int] = {}  # files share their rows
        self._found["cycles"] = {path: _once(known, ring, number) for path, ring in index.cycles.items()}
        self._found["clusters"] = {
            path: _once(known, one, lambda one: number((one.name, one.key, len(one.files) > 1)))
            for path, one in index.clusters.items()
        }
        self._again("tests", index.tested_rows, _tests(index), path_of)

    def _use(self, index: Index, paths: set[str] | list[str]) -> None:
        """How often symbols are used, and which are."""
        used_by = index.census.used_by
        used, linked = dict(self._found["used"]), dict(self._found["linked"])
        ends = dict(zip(index.starts, [*index.starts[1:], len(index.keys)], strict=True))
        for path in paths:
            base = index.base_of(path)
            rows = [(one - base, used_by[one]) for one in range(base, ends[base]) if one in used_by]
            used.pop(path, None)
            linked.pop(path, None)
            if rows:
                used[path], linked[path] = number(rows), number([place for place, _ in rows])
        self._found["used"], self._found["linked"] = used, linked


def _tests(index: Index) -> Callable[[tuple[list[tuple[int, bytes]], int]], int]:
    """Makes numbers of the tests of files; where tests have other ids, but are the same, so are the numbers."""
    known: dict[int, int] = {}

    def of(test: int) -> int:
        found = known.get(test)
        if found is None:
            found = known[test] = number((index.path_of(test), index.keys[test]))
        return found

    def make(row: tuple[list[tuple[int, bytes]], int]) -> int:
        near, farther = row
        return number(([(steps, sum(map(of, unpacked(column)))) for steps, column in near], farther))

    return make


def _once(known: dict[int, int], row: Any, make: Callable[[Any], int]) -> int:
    found = known.get(id(row))
    if found is None:
        found = known[id(row)] = make(row)
    return found


@lasting(unless())  # `renewal` says what of it is stale
def link_tables(index: Index) -> LinkTables:
    """The numbers of an index, as far as they were made."""
    return LinkTables()
