"""Refreshes an open index after an update of the store, keeping what is still valid.

In: an index, and the store as it is now. Out: True if the index could be refreshed. A long-running process builds a new
index only if files were added or removed, or if the symbols of very many files changed: reading all names again takes
longer than everything else. A refreshed index has the same content as a new one would.

The census is updated too (`CensusUpdate`). A file whose symbols changed gets new ids after all existing ones; its old
ids refer to nothing any more.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from concordance.base.model import Category, Term
from concordance.base.paths import parent_folders
from concordance.facts.read import Facts
from concordance.facts.updates.store_delta import Aspect, round_to_power
from concordance.query.answers import split_key
from concordance.query.index.census import Census, CensusFile, census_files
from concordance.query.index.graphs.file_graph import FolderEdges, folder_edges, updated_edges
from concordance.query.index.repository import KIND_NUMBERS, Index, bare_key
from concordance.query.index.updates.reads import RENUMBERED, TouchedKeys, still_valid
from concordance.query.index.updates.tables import link_tables
from concordance.query.search.related_files import Neighbours

Terms = tuple[str, tuple[Term, ...], tuple[Term, ...]]  # a path, the file's terms before, and now
_MAX_CHANGED_FILES = 200  # changed files above which the whole index is read again
# Attributes that are computed from the results of analyses.
_ANALYSIS_ATTRIBUTES = ("layers", "cycles", "clusters", "_test_table")
_BASE_ATTRIBUTES = ("by_base", "starts", "_ids", "bases")


def refresh_index(index: Index, facts: Facts) -> bool:
    """Switch an index to the updated store; False if that is not possible or not worthwhile."""
    before, now = index.facts.meta(), facts.meta()
    touched: dict[str, set[str]] = facts.touched_since(int(before.get("update", "0")))
    if before.get("born") != now.get("born") or touched[Aspect.PATHS]:
        return False
    files = _renumbered_files(index, facts, touched)
    if files is None:
        return False
    touched[RENUMBERED] = {file.path for file in files if file.is_moved}
    index.facts.close()
    index.facts = facts
    known = index.__dict__
    index.open_files.clear()  # they read from the old store
    for path in touched[Aspect.TEXT] if "files" in known else ():
        file = facts.file(path)
        if file is not None:
            dict.__setitem__(index.files, path, file)
    paths = index.by_base
    recounted = _update_symbols(index, files, touched)
    other = known.pop("marks", None) != index.marks or bool(touched[RENUMBERED])
    stale = ["runners", "text_shards", "loads", *(["graph"] if other or touched[Aspect.USED_BY] else [])]
    for name in (*stale, *_ANALYSIS_ATTRIBUTES) if other else stale:
        known.pop(name, None)
    if other:
        _refresh_ranks(index)
        _refresh_neighbours(index, paths)
    elif "neighbours" in known:
        index.neighbours.facts = facts
    tables = link_tables(index)
    index.cache = still_valid(index.cache, touched)
    tables.stale = None if recounted.used is None or tables.stale is None else tables.stale | recounted.used
    index.reused_letters = None
    return True


def _refresh_ranks(index: Index) -> None:
    """Read the files' ranks again."""
    ranks = index.__dict__.pop("ranks", None)
    if ranks != index.ranks:
        index.__dict__.pop("bands", None)


def _refresh_neighbours(index: Index, paths: dict[int, str]) -> None:
    """Recompute which files use which; `paths` maps the old ids to paths."""
    known = index.__dict__
    before: Neighbours | None = known.pop("neighbours", None)
    edges: FolderEdges | None = known.pop("_folder_edges", None)
    if before is None:
        return
    index.neighbours = Neighbours(index.facts, index.by_base, index.reads, before)
    if edges is not None:
        gone, come = (
            folder_edges([pair for pair in pairs if index.category_of(of[pair[0]]) != Category.DOCUMENTATION], of)
            for pairs, of in zip(index.neighbours.other, (paths, index.by_base), strict=True)
        )
        known["_folder_edges"] = updated_edges(edges, gone, come)


def _renumbered_files(index: Index, facts: Facts, touched: dict[str, set[str]]) -> list[RenumberedFile] | None:
    """Return the files whose symbols or ids changed; None if there are too many or the ids do not add up."""
    paths = sorted(touched[Aspect.TEXT])
    bases = {path: facts.base(path) for path in paths}
    other = bool(touched[Aspect.SYMBOLS_NAMED] or touched[Aspect.DISPLAY_NAMES])
    if not other and all(index.base_of(path) == base for path, base in bases.items()):
        return [] if facts.sum_of_bases() == sum(index.starts) else None
    if len(paths) > _MAX_CHANGED_FILES:
        return None
    found = []
    for path in paths:
        symbols, old = facts.symbols_of(path), index.base_of(path)
        place = bisect_left(index.starts, old) + 1
        end = index.starts[place] if place < len(index.starts) else len(index.keys)
        new = range(bases[path], bases[path] + 1 + len(symbols))
        found.append(RenumberedFile(path, range(old, end), new, symbols))
    more = sum(file.new.start - file.old.start for file in found)
    # A file can have new ids only if its text changed. If that does not explain all ids, everything is read again.
    return found if facts.sum_of_bases() == sum(index.starts) + more else None


def _update_symbols(index: Index, files: list[RenumberedFile], touched: dict[str, set[str]]) -> CensusChanges:
    """Replace the old symbols of the given files by the new ones in all tables."""
    known = index.__dict__
    recount = CensusUpdate(index.census, files) if "census" in known else None
    if recount is not None:
        recount.before(index.path_of)
    for file in files if "_prototypes" in known else ():
        if index.language_of(file.path) in index.prototyped:
            for key in {bare_key(index.keys[one]) for one in file.old if index.keys[one]}:
                remove_ids(known["_prototypes"], key, file, index.path_of)
    for file in files if "_symbol_columns" in known else ():
        index.keys[file.old.start : file.old.stop] = [""] * len(file.old)
        index.kinds[file.old.start : file.old.stop] = bytes(len(file.old))
        index.declared[file.old.start : file.old.stop] = bytes(len(file.old))
    _rebase(index, [file for file in files if file.is_moved])
    for file in sorted(files, key=lambda file: file.new.start):
        _add(index, file, known)
    if recount is None:
        return CensusChanges(set(), [], None)
    recounted = recount.after(index.facts, index.bases, touched, index.path_of)
    if "alphabet" in known:
        index.alphabet.renew(recounted.names, recounted.terms)
    return recounted


def _rebase(index: Index, renumbered: list[RenumberedFile]) -> None:
    """Give renumbered files their new ids."""
    if renumbered:
        now = {file.path: file.new.start for file in renumbered}
        rows = [row for row in index.bases if row[1] not in now]
        rows += sorted((now[row[1]], *row[1:]) for row in index.bases if row[1] in now)  # after all others
        for name in _BASE_ATTRIBUTES:
            index.__dict__.pop(name, None)
        index.bases = rows


def _add(index: Index, file: RenumberedFile, computed: dict[str, Any]) -> None:
    """Add the new symbols of a file to the tables."""
    if "tests_in" in computed:
        index.tests_in.pop(file.path, None)
        tests = [symbol[0] for symbol in file.symbols if symbol[4]]
        index.tests_in.update({file.path: tests} if tests else {})
        computed.pop("tests", None)
    if "_symbol_columns" not in computed:
        return
    more = max(0, file.new.stop - len(index.keys))
    index.keys.extend([""] * more)
    index.kinds.extend(bytes(more))
    index.declared.extend(bytes(more))
    for identity, key, kind, declared, _ in file.symbols:
        index.keys[identity] = key
        index.kinds[identity] = KIND_NUMBERS[kind]
        index.declared[identity] = declared
        if "_prototypes" in computed and index.language_of(file.path) in index.prototyped:
            insert_id(computed["_prototypes"], bare_key(key), identity, index.path_of)


# Updating the census at the cost of the changed files alone.


class RenumberedFile(NamedTuple):
    """A file whose symbols changed or have new ids."""

    path: str
    old: range  # the ids of the file and its symbols before …
    new: range  # … and after the update
    symbols: list[tuple[int, str, str, int, int]]  # id, key, kind, is only declared, is a test

    @property
    def is_moved(self) -> bool:
        """True if the ids changed."""
        return self.old.start != self.new.start


class CensusChanges(NamedTuple):
    """What the update of a census changed."""

    names: set[str]  # names whose symbols, or their ids, changed
    terms: list[Terms]
    used: set[str] | None  # files with changed users or ids; None if it may be any


def _path(file: CensusFile) -> str:
    return file.path


def remove_ids(table: dict[str, list[int]], key: str, file: RenumberedFile, path_of: Callable[[int], str]) -> None:
    """Remove a file's symbols from a list of ids in the order of paths; an empty list is removed as well."""
    ids = table.get(key, [])
    first = bisect_left(ids, file.path, key=path_of)
    last = first
    while last < len(ids) and ids[last] in file.old:
        last += 1
    del ids[first:last]
    if not ids:
        table.pop(key, None)


def insert_id(table: dict[str, list[int]], key: str, identity: int, path_of: Callable[[int], str]) -> None:
    """Insert a symbol into such a list."""
    insort(table.setdefault(key, []), identity, key=lambda one: (path_of(one), one))


class CensusUpdate:
    """Updates one census."""

    def __init__(self, census: Census, files: Sequence[RenumberedFile]) -> None:
        self._census, self._computed, self._files = census, census.__dict__, files
        self._names: set[str] = set()

    def before(self, path_of: Callable[[int], str]) -> None:
        """Remove the old symbols; `path_of` maps old ids to paths."""
        census, known = self._census, self._computed
        for file in self._files if "names" in known else ():
            ids = [one for one in file.old if census.names[one]]
            names = {census.names[one] for one in ids}
            self._names |= names
            for name in names if "by_name" in known else ():
                remove_ids(census.by_name, name, file, path_of)
            for table in ("names", "kinds") if "kinds" in known else ("names",):
                known[table][file.old.start : file.old.stop] = [""] * len(file.old)
            self._count(file.path, -len(ids))

    def after(
        self, facts: Facts, bases: list[tuple[int, str, str, str]], touched: TouchedKeys, path_of: Callable[[int], str]
    ) -> CensusChanges:
        """Add the new symbols; `path_of` maps new ids to paths."""
        census, known = self._census, self._computed
        census.facts, census.bases = facts, bases
        for file in self._files if "names" in known else ():
            self._add(file, path_of)
        moved = [file for file in self._files if file.is_moved]
        if moved and "files" in known:
            self._list(moved)
        for path in touched[Aspect.TEXT] if "read_paths" in known else ():
            (census.read_paths.add if facts.is_read(path) else census.read_paths.discard)(path)
        known.pop("file_count_band", None)
        for text in touched[Aspect.TERM] if "files_per_term" in known else ():
            census.files_per_term.pop(text, None)
            census.files_per_term.update(
                (one, round_to_power(files)) for one, files in facts.files_with([text]).items()
            )
        terms = [*self._terms(touched[Aspect.TEXT])] if "terms" in known else []
        return CensusChanges(self._names, terms, self._uses(touched, moved))

    def _add(self, file: RenumberedFile, path_of: Callable[[int], str]) -> None:
        census, known = self._census, self._computed
        for table in ("names", "kinds") if "kinds" in known else ("names",):
            rows: list[str] = known[table]
            rows.extend([""] * (file.new.stop - len(rows)))
        for identity, key, kind, _, _ in file.symbols:
            name = census.names[identity] = split_key(key)[-1]
            self._names.add(name)
            if "kinds" in known:
                census.kinds[identity] = kind
            if "by_name" in known:
                insert_id(census.by_name, name, identity, path_of)
        self._count(file.path, len(file.symbols))

    def _count(self, path: str, more: int) -> None:
        """Adjust the number of symbols in the folders above a file."""
        for folder in parent_folders(path) if "symbol_counts" in self._computed else ():
            self._census.symbol_counts[folder] += more

    def _list(self, renumbered: Sequence[RenumberedFile]) -> None:
        """Update the rows of renumbered files, and of those before their old and new places, whose last ids changed."""
        census, bases = self._census, self._census.bases
        starts = [row[0] for row in bases]
        places = {bisect_right(starts, one) - 1 for file in renumbered for one in (file.old.start, file.new.start)}
        places |= {place - 1 for place in places} | {len(bases) - 1}
        for place in places & set(range(len(bases))):
            file = census_files(bases[place : place + 2], len(census.names))[0]
            census.files[bisect_left(census.files, file.path, key=_path)] = file

    def _terms(self, paths: Collection[str]) -> Iterable[Terms]:
        census = self._census
        had = {file.path: file.old.start for file in self._files}
        for path in paths:
            base = census.facts.base(path)
            before = census.terms.pop(had.get(path, base), ())
            after = census.facts.terms_of(path)
            if after:
                census.terms[base] = after
            yield path, before, after

    # --- uses

    def _uses(self, touched: TouchedKeys, renumbered: Sequence[RenumberedFile]) -> set[str] | None:
        """Count the uses again; return the files whose symbols have changed users, or None if it may be any."""
        if "external_uses" not in self._computed or "names" not in self._computed:
            self._computed.pop("external_uses", None)
            self._computed.pop("used_by", None)
            return None
        census = self._census
        again = {*touched[Aspect.USES], *(file.path for file in renumbered)}
        starts = [row[0] for row in census.bases]
        ends = [*starts[1:], len(census.names)]
        had = {file.path: file.old.start for file in renumbered}
        other: set[int] = set()
        done: set[int] = set()
        for (base, path, _, _), end in zip(census.bases, ends, strict=True):
            if path in again:
                done.add(base)
                used = [one for one in census.facts.used_from(path) if not base <= one < end]
                other |= self._swap(had.get(path, base), base, array("I", sorted(used)))
        for base, targets in self._uses_of_renumbered(renumbered, starts).items():
            if base not in done:
                left = census.external_uses[base][:]
                for file in renumbered:
                    del left[bisect_left(left, file.old.start) : bisect_left(left, file.old.stop)]
                left.extend(sorted(targets))  # after all others
                other |= self._swap(base, base, left)
        if "used_by" in self._computed and any(one in census.used_by for file in renumbered for one in file.old):
            del self._computed["external_uses"], self._computed["used_by"]  # inconsistent: count everything again
            return None
        return had.keys() | {census.bases[bisect_right(starts, one) - 1][1] for one in other}

    def _uses_of_renumbered(self, renumbered: Iterable[RenumberedFile], starts: Sequence[int]) -> dict[int, set[int]]:
        """Return what each file uses of the renumbered files, by the id of the user's file."""
        found: dict[int, set[int]] = {}
        for file in renumbered:
            for user, target in self._census.facts.used_pairs_into(file.new.start, file.new.stop - 1):
                found.setdefault(starts[bisect_right(starts, user) - 1], set()).add(target)
        return found

    def _swap(self, old: int, new: int, targets: array[int]) -> set[int]:
        """Replace what a file uses, and return the ids that are only in the old or only in the new set."""
        outside, known = self._census.external_uses, "used_by" in self._computed
        before = outside.pop(old)
        outside[new] = targets
        now = {*targets}
        other = now.symmetric_difference(before)
        for one in other if known else ():
            times = self._census.used_by.pop(one, 0) + (1 if one in now else -1)
            if times:
                self._census.used_by[one] = times
        return other
