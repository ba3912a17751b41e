"""An index that goes on after an update: what is still right is kept, the rest is worked out again.

In: an index, and the store as it is now. Out: whether it could go on. A process that follows a repository makes a new
index only where there are other files, or very many have other symbols: to read all names again takes longer than all
else. What is kept is what a new index would have.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from concordance.base.model import Category
from concordance.facts.read import Facts
from concordance.facts.store_delta import Aspect
from concordance.query.index.file_graph import Edges, edges_after, folder_edges
from concordance.query.index.repository import KIND_AT, Index, bare
from concordance.query.index.updates.census_update import Recount, Recounted, Refiled, put_in, take_out
from concordance.query.index.updates.link_tables import link_tables
from concordance.query.index.updates.reads import MOVED, renewed
from concordance.query.search.related_files import Neighbours

_MANY = 200  # files whose symbols are others; with more, all is read again
# What is worked out of what analyses gave.
_OF_PASSES = ("layers", "cycles", "clusters", "_tested")
_OF_BASES = ("by_base", "starts", "_ids", "bases")


def renew(index: Index, facts: Facts) -> bool:
    """Goes on with a store that was updated meanwhile; False where that is not worth it."""
    before, now = index.facts.meta(), facts.meta()
    touched: dict[str, set[str]] = facts.touched_since(int(before.get("update", "0")))
    if before.get("born") != now.get("born") or touched[Aspect.PATHS]:
        return False
    files = _refiled(index, facts, touched)
    if files is None:
        return False
    touched[MOVED] = {file.path for file in files if file.is_moved}
    index.facts.close()
    index.facts = facts
    known = index.__dict__
    index.open.clear()  # they ask the store as it was
    for path in touched[Aspect.TEXT] if "files" in known else ():
        file = facts.file(path)
        if file is not None:
            dict.__setitem__(index.files, path, file)
    paths = index.by_base
    recounted = _recounted(index, files, touched)
    other = known.pop("marks", None) != index.marks or bool(touched[MOVED])
    stale = ["runners", "_owners", "shelves", "loads", *(["graph"] if other or touched[Aspect.INTO] else [])]
    for name in (*stale, *_OF_PASSES) if other else stale:
        known.pop(name, None)
    if other:
        _rank(index)
        _pair(index, paths)
    elif "neighbours" in known:
        index.neighbours.facts = facts
    tables = link_tables(index)
    index.worked_out = renewed(index.worked_out, touched)
    tables.stale = None if recounted.used is None or tables.stale is None else tables.stale | recounted.used
    index.known_letters = None
    return True


def _rank(index: Index) -> None:
    """Ranks files anew."""
    ranks = index.__dict__.pop("ranks", None)
    if ranks != index.ranks:
        index.__dict__.pop("bands", None)


def _pair(index: Index, paths: dict[int, str]) -> None:
    """Finds who uses whom between files; `paths` are those that ids had."""
    known = index.__dict__
    before: Neighbours | None = known.pop("neighbours", None)
    edges: Edges | None = known.pop("_folder_edges", None)
    if before is None:
        return
    index.neighbours = Neighbours(index.facts, index.by_base, index.reads, before)
    if edges is not None:
        gone, come = (
            folder_edges([pair for pair in pairs if index.category_of(of[pair[0]]) != Category.DOCUMENTATION], of)
            for pairs, of in zip(index.neighbours.other, (paths, index.by_base), strict=True)
        )
        known["_folder_edges"] = edges_after(edges, gone, come)


def _refiled(index: Index, facts: Facts, touched: dict[str, set[str]]) -> list[Refiled] | None:
    """The files whose symbols are others, or have other ids; None where they are many."""
    paths = sorted(touched[Aspect.TEXT])
    bases = {path: facts.base(path) for path in paths}
    other = bool(touched[Aspect.NAME] or touched[Aspect.NAMES])
    if not other and all(index.base_of(path) == base for path, base in bases.items()):
        return [] if facts.sum_of_bases() == sum(index.starts) else None
    if len(paths) > _MANY:
        return None
    found = []
    for path in paths:
        symbols, old = facts.symbols_of(path), index.base_of(path)
        place = bisect_left(index.starts, old) + 1
        end = index.starts[place] if place < len(index.starts) else len(index.keys)
        new = range(bases[path], bases[path] + 1 + len(symbols))
        found.append(Refiled(path, range(old, end), new, symbols))
    more = sum(file.new.start - file.old.start for file in found)
    # Of a file that has other ids the text is another, too; were it not so, all is read again.
    return found if facts.sum_of_bases() == sum(index.starts) + more else None


def _recounted(index: Index, files: list[Refiled], touched: dict[str, set[str]]) -> Recounted:
    """Puts the symbols of some files in place of those that they had."""
    known = index.__dict__
    recount = Recount(index.census, files) if "census" in known else None
    if recount is not None:
        recount.before(index.path_of)
    for file in files if "_prototypes" in known else ():
        if index.language_of(file.path) in index.prototyped:
            for key in {bare(index.keys[one]) for one in file.old if index.keys[one]}:
                take_out(known["_prototypes"], key, file, index.path_of)
    for file in files if "_named" in known else ():
        index.keys[file.old.start : file.old.stop] = [""] * len(file.old)
        index.kinds[file.old.start : file.old.stop] = bytes(len(file.old))
        index.declared[file.old.start : file.old.stop] = bytes(len(file.old))
    _rebase(index, [file for file in files if file.is_moved])
    for file in sorted(files, key=lambda file: file.new.start):
        _add(index, file, known)
    if recount is None:
        return Recounted(set(), [], None)
    recounted = recount.after(index.facts, index.bases, touched, index.path_of)
    if "alphabet" in known:
        index.alphabet.renew(recounted.names, recounted.terms)
    return recounted


def _rebase(index: Index, moved: list[Refiled]) -> None:
    """Gives files the ids that they have now."""
    if moved:
        now = {file.path: file.new.start for file in moved}
        rows = [row for row in index.bases if row[1] not in now]
        rows += sorted((now[row[1]], *row[1:]) for row in index.bases if row[1] in now)  # they lie behind all others
        for name in _OF_BASES:
            index.__dict__.pop(name, None)
        index.bases = rows


def _add(index: Index, file: Refiled, known: dict[str, Any]) -> None:
    """Notes the symbols that a file has."""
    if "tests_in" in known:
        index.tests_in.pop(file.path, None)
        tests = [symbol[0] for symbol in file.symbols if symbol[4]]
        index.tests_in.update({file.path: tests} if tests else {})
        known.pop("tests", None)
    if "_named" not in known:
        return
    more = max(0, file.new.stop - len(index.keys))
    index.keys.extend([""] * more)
    index.kinds.extend(bytes(more))
    index.declared.extend(bytes(more))
    for identity, key, kind, declared, _ in file.symbols:
        index.keys[identity] = key
        index.kinds[identity] = KIND_AT[kind]
        index.declared[identity] = declared
        if "_prototypes" in known and index.language_of(file.path) in index.prototyped:
            put_in(known["_prototypes"], bare(key), identity, index.path_of)
