"""Compares two stores of the same files: the repository's own, and one that was built anew.

In: the folders of both stores. Out: the files about which the first store says something else, and what. Ids are given
in the order in which files are read, so two sound stores have different ones; here a symbol is identified by a hash of
its path and key. Only hashes are kept of what a store says about each file: all of it would not fit into memory. The
results of whole-repository analyses (`pass`) are not compared; the pages show them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from concordance.base.errors import StoreBroken
from concordance.base.model import unpack_column
from concordance.facts.codec import unpack, unpack_links
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.facts.updates.delta import without_times

# What must be equal, or the next command would rebuild or update the store anyway.
_SAME = ("readers", "linkers", "macros", "largest", "categories", "ruff", "ruff_problem")
_LEDGER, _FACTS, _SYMBOLS, _LINKS, _USES = "ledger", "facts", "symbols", "links", "uses"
_TITLES = {
    _LEDGER: "its row in the ledger", _FACTS: "its facts", "flow": "its expressions and variables",
    "ends": "its ends of bridges", "remark": "what ruff found in it", "macro": "its macros", _SYMBOLS: "its symbols",
    _LINKS: "what its names refer to", _USES: "what it uses", "override": "what its methods override",
    "extends": "the bases of its classes", "term": "the terms of all files",
    "missed": "the unresolved names of all files",
}  # fmt: skip
_PER_FILE = ("facts", "flow", "ends", "remark", "macro")  # tables with one packed value for each file
_EMPTY = (b"", b"\x90")  # as good as no row, which a file has that an update emptied
_LONGEST = 80  # longest value that a message shows, in characters


class StoreDifference(NamedTuple):
    """Something that a store says about a file and that does not follow from the source."""

    path: str  # "" if it is about all files
    problem: str


def compare_stores(folder: str, fresh: str) -> list[StoreDifference] | None:
    """Return what the store in a folder says differently from a fresh one.

    None if it cannot be compared: there is none, it is damaged or outdated, or other code made it. Any command that
    uses it would rebuild or update it first.
    """
    try:
        opened = _StoreContent(folder)
    except StoreBroken:
        return None
    with closing(opened) as store, closing(_StoreContent(fresh)) as right:
        try:
            return _compare(store, right) if _is_current(store, right) else None
        except StoreBroken:
            return [StoreDifference("", "the store is damaged: there are values that cannot be decoded")]


def _compare(store: _StoreContent, right: _StoreContent) -> list[StoreDifference]:
    ours, theirs = store.hashes(), right.hashes()
    differing = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    facts = {path for path, what in differing if what == _FACTS}
    read: dict[str, Callable[[Facts, str], object]] = {_FACTS: Facts.of, _LEDGER: Facts.file}
    return [
        _differing(path, what, *([read[what](content, path) for content in (store, right)] if what in read else ()))
        for path, what in differing
        if what != _SYMBOLS or path not in facts  # they are part of the facts
    ]


def _is_current(store: Facts, right: Facts) -> bool:
    """True if a store is that of the current files and settings, and made by this program."""
    here, there = store.meta(), right.meta()
    digests = ({file.path: (file.digest, file.skip) for file in facts.files()} for facts in (store, right))
    return all(here.get(key) == there.get(key) for key in _SAME) and next(digests) == next(digests)


def compare_files(folder: str, readings: Iterable[ExtractedFile]) -> Iterator[StoreDifference]:
    """Yield what the store in a folder says differently about some files that were read anew."""
    with closing(_StoreContent(folder)) as store:
        for reading in readings:
            path, row = reading.file.path, store.file(reading.file.path)
            if row is None or without_times(row) != without_times(reading.file):
                yield _differing(path, _LEDGER, row, reading.file)
            if store.packed(_FACTS, path) != reading.packed:
                yield _differing(path, _FACTS, store.of(path), unpack(reading.packed) if reading.packed else None)
            for table, value in (("flow", reading.flow), ("ends", reading.ends)):
                if store.packed(table, path) != value:
                    yield _differing(path, table)


def _differing(path: str, what: str, stored: Any = None, rebuilt: Any = None) -> StoreDifference:
    about = f"the store is wrong about {path or 'the repository'}"
    if stored is None or rebuilt is None:
        return StoreDifference(path, f"{about}: {_TITLES[what]} should be different")
    field, here, there = _first_difference(stored, rebuilt, "")
    return StoreDifference(path, f"{about}: {field or what} is {here}, and {there} by the source")


def _first_difference(one: Any, other: Any, field: str) -> tuple[str, str, str]:
    """Return where two values first differ, and what each has there."""
    if type(one) is type(other) and isinstance(one, tuple) and len(one) == len(other):
        fields = getattr(one, "_fields", None)
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            if a != b:
                step = f".{fields[place]}" if fields else f"[{place}]"
                return _first_difference(a, b, f"{field}{step}".removeprefix("."))
    return field, _shortened(one), _shortened(other)


def _shortened(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


class _StoreContent(Facts):
    """A store as hashes of what it says about each file."""

    def packed(self, table: str, path: str) -> bytes:
        """Return the packed value that a table has for a file; empty if there is none."""
        return self._packed(table, path) or b""

    def hashes(self) -> dict[tuple[str, str], int]:
        """Return a hash for each file and kind of statement; independent of ids and of the order of rows."""
        hashes: dict[tuple[str, str], int] = defaultdict(int)
        for path, what, value in self._statements():
            hashes[path, what] += hash(value)
        return hashes

    def _statements(self) -> Iterator[tuple[str, str, object]]:
        paths = {row[0]: row[1] for row in self.file_rows()}
        for file in self.files():
            yield file.path, _LEDGER, without_times(file)
        for table in _PER_FILE:
            for file, packed in self._rows(f"SELECT file, packed FROM {table}"):  # noqa: S608
                if packed not in _EMPTY:
                    yield paths.get(file, ""), table, packed
        symbols: dict[int, tuple[str, int]] = {file: (path, hash(path)) for file, path in paths.items()}
        query = "SELECT id, file, key, name, kind, place, line, declaration, col, public, test FROM symbol"
        for identity, file, key, *rest in self._rows(query):
            path = paths.get(file, "")
            symbols[identity] = path, hash((path, key))
            yield path, _SYMBOLS, (key, *rest)

        def names(identities: Iterable[int]) -> tuple[int, ...]:
            return tuple([symbols[identity][1] if identity in symbols else identity for identity in identities])

        for file, packed in self._rows("SELECT file, packed FROM link"):
            links = self._decoded(unpack_links, packed)
            if not links.by and not links.imports:
                continue
            by = tuple([links.resolvers[place] for place in links.by])
            statement = (links.use, names(unpack_column(links.target)), links.trust, by, links.imports)
            yield paths.get(file, ""), _LINKS, statement
        for target, user, *rest in self._rows("SELECT target, user, roles, trust, times FROM used"):
            yield symbols.get(user, ("", 0))[0], _USES, (names((target, user)), *rest)
        for symbol, target, trust in self._rows("SELECT symbol, target, trust FROM override"):
            yield symbols.get(symbol, ("", 0))[0], "override", (names((symbol, target)), trust)
        for symbol, target in self._rows("SELECT symbol, target FROM extends"):
            yield symbols.get(symbol, ("", 0))[0], "extends", names((symbol, target))
        for table in ("term", "missed"):
            for row in self._rows(f"SELECT * FROM {table}"):  # noqa: S608
                yield "", table, row
