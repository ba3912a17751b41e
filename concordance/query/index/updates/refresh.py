"""Refreshes an open index after an update of the store, keeping what is still valid.

In: an index, and the store as it is now. Out: True if the index could be refreshed. A refreshed index has the same
content as a new one would. Tables that are computed quickly are dropped if anything that they are computed from has
changed. Only those over all symbols, names, words and uses, which take longer to compute than an edit should take, are
updated here for the files that changed; if very many did, a new index is built.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from concordance.base.model import Term
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import SymbolIds
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import FILE_USES, TouchedKeys, drop_shared, drop_shared_properties, is_computed
from concordance.query.index.census import WHICH_SYMBOLS, Census
from concordance.query.index.repository import KIND_NUMBERS, Index, analysis_marks, bare_key

_MAX_CHANGED_FILES = 200  # changed files above which the whole index is read again


def refresh_index(index: Index, facts: Facts) -> bool:
    """Switch an index to the updated store; False if that is not possible or not worthwhile."""
    before, now = index.facts.meta(), facts.meta()
    touched: dict[str, set[str]] = facts.touched_since(int(before.get("update", "0")))
    if before.get("born") != now.get("born") or len(touched[Aspect.TEXT]) > _MAX_CHANGED_FILES:
        return False
    touched[FILE_USES] = {""} if vars(index).get("marks") != analysis_marks(facts) else set()
    files = _changed_files(index, facts, touched)
    for identity in (one for file in files if is_computed(index, "symbol_columns") for one in file.ids_before):
        index.keys[identity], index.kinds[identity], index.declared[identity] = "", 0, 0

    index.facts.close()
    index.facts = facts
    index.open_files.clear()  # they read from the old store
    drop_shared(index, touched)
    for path in touched[Aspect.TEXT] if is_computed(index, "files") else ():
        row = facts.file(path)
        if row is not None:
            dict.__setitem__(index.files, path, row)
        else:
            dict.pop(index.files, path, None)
    if is_computed(index, "symbol_columns"):
        more = int(now["top"]) - len(index.keys)
        index.keys.grow(int(now["top"]))
        index.kinds.extend(bytes(more))
        index.declared.extend(bytes(more))
        for file in files:
            _add_symbols(index, file)
    terms = _refresh_census(index.census, files, touched) if is_computed(index, "census") else []
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
    if not any(touched[table] for table in WHICH_SYMBOLS):
        return []
    changes = []
    for path in sorted(touched[Aspect.TEXT]):
        file = index.ids_by_path.get(path)
        before = index.symbol_ids[file] if file is not None else None
        now = facts.ids(path)
        changes.append(ChangedFile(path, before, now if now.file else None, facts.symbols_of(path)))
    return changes


def _add_symbols(index: Index, file: ChangedFile) -> None:
    """Add the new symbols of a file to the tables."""
    prototypes = file.symbols and is_computed(index, "prototypes") and index.language_of(file.path) in index.prototyped
    for identity, key, kind, declared, _ in file.symbols:
        index.keys[identity] = key
        index.kinds[identity] = KIND_NUMBERS[kind]
        index.declared[identity] = declared
        if prototypes:
            index.prototypes.add(bare_key(key), identity)


class TermChange(NamedTuple):
    """The terms of a file that was read again."""

    path: str
    before: tuple[Term, ...]
    after: tuple[Term, ...]


def _refresh_census(census: Census, files: Sequence[ChangedFile], touched: TouchedKeys) -> list[TermChange]:
    """Update the tables over all names after those of files and symbols, and return which terms changed."""
    drop_shared_properties(census, touched)
    if is_computed(census, "code_symbols"):
        for name, symbols in census.facts.ids_named(touched[Aspect.SYMBOLS_NAMED]).items():
            for identity in census.first_code_symbols(symbols):
                census.code_symbols.add(name, identity)
    if is_computed(census, "external_uses"):
        for file in files:
            if file.before is not None:
                del census.external_uses[file.before.file]
            if file.now is not None:
                census.external_uses[file.now.file] = array("I")
        for path in {*touched[Aspect.USES], *(file.path for file in files)}:
            if (ids := census.facts.ids(path)).file:
                used = (one for one in census.facts.used_from(path) if one not in ids)
                census.external_uses[ids.file] = array("I", sorted(used))
    return [*_changed_terms(census, files, touched[Aspect.TEXT])] if is_computed(census, "terms") else []


def _changed_terms(census: Census, files: Sequence[ChangedFile], paths: Collection[str]) -> Iterable[TermChange]:
    """Update the terms of the given files, and yield the changes."""
    known = {file.path: file.before.file for file in files if file.before is not None}
    for path in paths:
        file = census.facts.id(path)
        before = census.terms.pop(known.get(path, file), ())
        after = census.facts.terms_of(path)
        if after:
            census.terms[file] = after
        yield TermChange(path, before, after)
