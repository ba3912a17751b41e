"""Refreshes an open index after an update of the store, keeping what is still valid.

In: an index, and the store as it is now. Out: True if the index could be refreshed. A long-running process builds a new
index only if very many files changed: reading all names again takes longer than everything else. A refreshed index has
the same content as a new one would.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from concordance.base.model import Term
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import SymbolIds
from concordance.facts.updates.delta import Aspect, round_to_power
from concordance.facts.updates.reads import FILE_USES, TouchedKeys, drop_shared, drop_shared_properties, is_computed
from concordance.query.index.census import Census
from concordance.query.index.graphs.file_graph import folder_edges, updated_edges
from concordance.query.index.repository import KIND_NUMBERS, Index, analysis_marks, bare_key
from concordance.query.search.related_files import Neighbours

_MAX_CHANGED_FILES = 200  # changed files above which the whole index is read again


def refresh_index(index: Index, facts: Facts) -> bool:
    """Switch an index to the updated store; False if that is not possible or not worthwhile."""
    before, now = index.facts.meta(), facts.meta()
    touched: dict[str, set[str]] = facts.touched_since(int(before.get("update", "0")))
    if before.get("born") != now.get("born") or len(touched[Aspect.TEXT]) > _MAX_CHANGED_FILES:
        return False
    marks = analysis_marks(facts)
    touched[FILE_USES] = {""} if vars(index).get("marks") != marks else set()
    files = _changed_files(index, facts, touched)
    census = CensusUpdate(index.census, files) if is_computed(index, "census") else None
    for file in files:
        _remove_symbols(index, file)
    neighbours = _NeighboursUpdate(index) if is_computed(index, "neighbours") else None
    ranked = {name: vars(index)[name] for name in ("ranks", "bands") if is_computed(index, name)}

    index.facts.close()
    index.facts = facts
    index.open_files.clear()  # they read from the old store
    _update_files(index, files, touched[Aspect.TEXT])
    drop_shared(index, touched)
    index.marks = marks
    if ranked.get("ranks") == index.ranks:
        vars(index).update(ranked)  # what was computed from equal ranks stays valid

    top = int(now["top"])
    if is_computed(index, "symbol_columns"):
        more = top - len(index.keys)
        index.keys.grow(top)
        index.kinds.extend(bytes(more))
        index.declared.extend(bytes(more))
    for file in files:
        _add_symbols(index, file)
    if neighbours is not None:
        neighbours.finish(bool(touched[FILE_USES] or touched[Aspect.PATHS]))
    terms = census.finish(touched) if census is not None else []
    if is_computed(index, "alphabet"):
        index.alphabet.renew(touched[Aspect.SYMBOLS_NAMED], terms)
    index.reused_letters = None
    return True


class ChangedFile(NamedTuple):
    """A file that was read again, added or removed."""

    path: str
    before: SymbolIds | None  # None if it is new
    now: SymbolIds | None  # None if it was removed
    symbols: list[tuple[int, str, str, int, int]]  # id, key, kind, is only declared, is a test

    @property
    def ids_before(self) -> Iterable[int]:
        """The ids of its symbols before the update."""
        return self.before or ()


def _changed_files(index: Index, facts: Facts, touched: TouchedKeys) -> list[ChangedFile]:
    """Return the files whose symbols or existence may have changed."""
    if not any(touched[one] for one in (Aspect.SYMBOLS_NAMED, Aspect.DISPLAY_NAMES, Aspect.PATHS)):
        return []
    found = []
    for path in sorted(touched[Aspect.TEXT]):
        file = index.ids_by_path.get(path)
        before = index.symbol_ids[file] if file is not None else None
        now = facts.ids(path)
        found.append(ChangedFile(path, before, now if now.file else None, facts.symbols_of(path)))
    return found


def _update_files(index: Index, files: Iterable[ChangedFile], paths: Iterable[str]) -> None:
    """Update the tables of files and of ids."""
    for path in paths if is_computed(index, "files") else ():
        file = index.facts.file(path)
        if file is not None:
            dict.__setitem__(index.files, path, file)
        else:
            dict.pop(index.files, path, None)
    for one in files:
        if one.before is not None:
            del index.symbol_ids[one.before.file]
        if one.now is not None:
            index.symbol_ids[one.now.file] = one.now
    if any(one.now is None for one in files):
        vars(index).pop("owners", None)
    elif is_computed(index, "owners"):
        last = index.owners.starts[-1] if index.owners.starts else 0
        index.owners.extend(index.facts.owners_since(last + 1))


def _remove_symbols(index: Index, file: ChangedFile) -> None:
    """Remove the old symbols of a file from the tables."""
    if is_computed(index, "tests_in"):
        index.tests_in.pop(file.path, None)
    if not is_computed(index, "symbol_columns"):
        return
    for one in file.ids_before:
        index.keys[one], index.kinds[one], index.declared[one] = "", 0, 0


def _add_symbols(index: Index, file: ChangedFile) -> None:
    """Add the new symbols of a file to the tables."""
    tests = [symbol[0] for symbol in file.symbols if symbol[4]]
    if tests and is_computed(index, "tests_in"):
        index.tests_in[file.path] = tests
    if not is_computed(index, "symbol_columns"):
        return
    prototypes = file.symbols and is_computed(index, "prototypes") and index.language_of(file.path) in index.prototyped
    for identity, key, kind, declared, _ in file.symbols:
        index.keys[identity] = key
        index.kinds[identity] = KIND_NUMBERS[kind]
        index.declared[identity] = declared
        if prototypes:
            index.prototypes.add(bare_key(key), identity)


class _NeighboursUpdate:
    """Updates which files use which."""

    def __init__(self, index: Index) -> None:
        self._index, self._paths = index, index.paths_by_id
        self._documents = index.documents

    def finish(self, changed: bool) -> None:
        """Update them after the tables of files, if anything they are computed from changed."""
        index = self._index
        if not changed:
            index.neighbours.facts = index.facts
            return
        index.neighbours = Neighbours(index.facts, index.paths_by_id, index.reads, index.neighbours)
        if is_computed(index, "all_folder_edges"):
            gone, come = index.neighbours.other
            removed = folder_edges([pair for pair in gone if pair[0] not in self._documents], self._paths)
            added = folder_edges([pair for pair in come if pair[0] not in index.documents], index.paths_by_id)
            index.all_folder_edges = updated_edges(index.all_folder_edges, removed, added)


# Updating the census at the cost of the changed files alone.


class TermChange(NamedTuple):
    """The terms of a file that was read again."""

    path: str
    before: tuple[Term, ...]
    after: tuple[Term, ...]


class CensusUpdate:
    """Updates one census."""

    def __init__(self, census: Census, files: Sequence[ChangedFile]) -> None:
        self._census, self._files = census, files

    def _has(self, name: str) -> bool:
        return is_computed(self._census, name)

    def finish(self, touched: TouchedKeys) -> list[TermChange]:
        """Update everything after the tables of files and symbols, and return which terms changed."""
        census, facts = self._census, self._census.facts
        drop_shared_properties(census, touched)
        changed = facts.ids_named(touched[Aspect.SYMBOLS_NAMED]) if self._has("code_symbols") else {}
        for name, ids in changed.items():
            for identity in census.first_code_symbols(ids):
                census.code_symbols.add(name, identity)
        for path in touched[Aspect.TEXT] if self._has("read_paths") else ():
            census.read_paths.discard(path)
            if facts.is_read(path):
                census.read_paths.add(path)
        for text in touched[Aspect.TERM] if self._has("files_per_term") else ():
            census.files_per_term.pop(text, None)
            census.files_per_term.update(
                (one, round_to_power(files)) for one, files in facts.files_with([text]).items() if files > 1
            )
        if self._has("external_uses"):
            self._count_uses(touched)
        return [*self._terms(touched[Aspect.TEXT])] if self._has("terms") else []

    def _terms(self, paths: Collection[str]) -> Iterable[TermChange]:
        census = self._census
        known = {file.path: file.before.file for file in self._files if file.before is not None}
        for path in paths:
            file = census.facts.id(path)
            before = census.terms.pop(known.get(path, file), ())
            after = census.facts.terms_of(path)
            if after:
                census.terms[file] = after
            yield TermChange(path, before, after)

    def _count_uses(self, touched: TouchedKeys) -> None:
        census = self._census
        if self._has("used_by"):
            census.used_by.extend(array("I", [0]) * (int(census.facts.meta()["top"]) - len(census.used_by)))
        for file in self._files:
            if file.now is None and file.before is not None:
                self._replace_uses(file.before.file, ())
                del census.external_uses[file.before.file]
            elif file.before is None and file.now is not None:
                census.external_uses[file.now.file] = array("I")
        for path in touched[Aspect.USES]:
            ids = census.facts.ids(path)
            if ids.file:
                used = [one for one in census.facts.used_from(path) if one not in ids]
                self._replace_uses(ids.file, used)

    def _replace_uses(self, file: int, targets: Iterable[int]) -> None:
        uses = self._census.external_uses
        before, uses[file] = uses[file], array("I", sorted(targets))
        now = {*uses[file]}
        for one in now.symmetric_difference(before) if self._has("used_by") else ():
            self._census.used_by[one] += 1 if one in now else -1
