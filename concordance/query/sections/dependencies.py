"""The sections about a file's relations: its role in the repository, imports, importers, and related files.

In: the model of a file. Out: blocks. Numbers that count the whole repository are rounded, so that a page does not
change with every commit elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from concordance.base.blocks import (
    Block,
    Cite,
    Diagram,
    Item,
    Items,
    Mono,
    Node,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import TYPE_KINDS, Import, Origin, Skip
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.file_graph import Band
from concordance.query.names.references import import_target
from concordance.query.search.related_files import Reason, Relation
from concordance.query.sections.class_family import class_tree
from concordance.query.sections.structure import folder_counts

_BOXES = 6  # neighbours on each side of a diagram
_COMPANY = 6  # related files that are named
_BESIDE = 20  # files of a folder that are listed one by one
_BY_NAME = 12  # importers that are listed one by one


# --- role


def role(one: FileModel) -> list[Block]:
    """Return the layer, cluster, rank and neighbours of a file, its class hierarchy and its cycle."""
    index, base = one.index, one.base
    used, users = index.neighbours.uses.get(base, {}), index.neighbours.users.get(base, {})
    found: list[Block] = []
    told = list(_standing(one, len(used), len(users)))
    if told:
        found.append(Items([Item(pieces) for pieces in told]))
    if used or users:
        found.append(_diagram(one, used, users))
    found += _hierarchy(one)
    if not found:
        found.append(Text([_alone(one)]))
    return found


def _alone(one: FileModel) -> str:
    if one.file.skip != Skip.NONE or not one.opened.flow.op:
        return f"{one.file.type}: no imports of it or links to it found."
    return "No import, link or name was found that connects it to another file of the repository."


def _standing(one: FileModel, used: int, users: int) -> Iterator[list[Piece]]:
    index, path = one.index, one.path
    where = index.layers.get(path)
    if used or users:
        told = f"uses {count_noun(used, 'file')}, used by {users:,}"
        if where is not None and where.band != Band.ALONE:  # layers follow what is loaded, uses may differ
            told = f"{where.band}; {told}"
        yield [Strong("Layer"), f": {told}"]
    band = index.bands.get(path, "")
    if band and users:
        yield [Strong("Rank"), f": {band}"]
    cluster = index.clusters.get(path)
    if cluster is not None and len(cluster.files) > 1:
        label = cluster.name
        yield [
            Strong("Cluster"),
            ": ",
            Mono(label),
            ", around ",
            Ref(To.FILE, cluster.key, "", cluster.key.rpartition("/")[2]),
        ]
    cycle = index.cycles.get(path, ())
    if cycle:
        others: list[Piece] = [Ref(To.FILE, other, "", other.rpartition("/")[2]) for other in cycle if other != path]
        if len(others) <= _BY_NAME:
            yield [Strong("Cycle"), ": with ", *join_in_sentence(others)]
        else:
            yield [Strong("Cycle"), f": of {len(cycle):,} files in ", *folder_counts(Counter(cycle))]


def _diagram(one: FileModel, used: dict[int, int], users: dict[int, int]) -> Diagram:
    """Draw the files that use it most and those that it uses most."""
    index = one.index

    def most(rows: dict[int, int]) -> list[str]:
        ordered = sorted(((-times, index.path_of(other)) for other, times in rows.items()))
        return [path for _, path in ordered[:_BOXES]]

    me = one.path
    before, behind = most(users), most(used)
    names = dict.fromkeys([me, *before, *behind])
    labels = _labels(list(names))
    nodes = [Node(name, labels[name], "", name == me, None if name == me else Ref(To.FILE, name)) for name in names]
    edges = [(name, me, "") for name in before] + [(me, name, "") for name in behind]
    return Diagram(nodes, edges)


def _labels(paths: list[str]) -> dict[str, str]:
    """Return short names of files; two of the same name are told apart by their folders."""
    names = Counter(path.rpartition("/")[2] for path in paths)
    return {
        path: path.rpartition("/")[2] if names[path.rpartition("/")[2]] == 1 else "/".join(path.split("/")[-2:])
        for path in paths
    }


def _hierarchy(one: FileModel) -> list[Block]:
    """List classes with their bases and subclasses in the repository."""
    items: list[Item] = []
    for place, symbol in enumerate(one.symbols):
        if symbol.kind not in TYPE_KINDS:
            continue
        above: list[Piece] = [one.ref(base) for base in one.bases.get(place, ())]
        below = one.heirs.get(place, [])
        if not above and not below:
            continue
        pieces: list[Piece] = [one.own(place)]
        if above:
            pieces += [" ← ", *join_in_sentence(above)]
        if below:
            pieces += [f" → {count_noun(len(below), 'subclass', 'subclasses')}"]
            if len(below) <= _BOXES:
                pieces += [": ", *join_in_sentence([one.ref(heir) for heir in below])]
        items.append(Item(pieces))
    return [Text([Strong("Class hierarchy")]), *_drawn(one), Items(items)] if items else []


def _drawn(one: FileModel) -> list[Block]:
    """Draw the class hierarchy, if the book has diagrams and there is enough to draw."""
    if not one.index.book.draws_diagrams:
        return []
    first = one.base + 1
    classes = {place: first + place for place, symbol in enumerate(one.symbols) if symbol.kind in TYPE_KINDS}
    bases = {identity: one.bases.get(place, ()) for place, identity in classes.items()}
    heirs = {identity: one.heirs.get(place, ()) for place, identity in classes.items()}
    return class_tree(classes.values(), bases, heirs, one.ref)


# --- dependencies


_TITLES = {
    Origin.REPOSITORY: "This repository", Origin.STANDARD: "Standard library", Origin.THIRD_PARTY: "Third party",
    Origin.GENERATED: "Generated by the build", Origin.UNRESOLVED: "Unresolved",
}  # fmt: skip


def imports(one: FileModel) -> list[Block]:
    """Return what a file imports, grouped by origin, and which files import it."""
    groups: dict[str, dict[str, list[_Imported]]] = {}
    for row, target, named in one.imports:
        origin = target.origin if target is not None else Origin.UNRESOLVED
        path = import_target(one.index, target, 0)
        if path != one.path:  # a document may link to its own sections
            groups.setdefault(origin, {}).setdefault(row.module or row.name, []).append(_Imported(row, path, named))
    found: list[Block] = []
    for origin, title in _TITLES.items():
        modules = groups.get(origin)
        if modules:
            found.append(Text([Strong(title)]))
            if origin == Origin.REPOSITORY:
                found.append(Items([Item(_module(one, module, rows)) for module, rows in modules.items()]))
            else:
                found.append(Text(_commas([_module(one, module, rows) for module, rows in modules.items()])))
    found += _importers(one)
    if not found:
        found.append(Text([_no_imports(one)]))
    return found


def _no_imports(one: FileModel) -> str:
    if one.file.skip != Skip.NONE:
        return f"{one.file.type}: imports are not extracted."
    return "No imports, and no importers found."


class _Imported(NamedTuple):
    row: Import
    path: str  # the file it resolves to; "" if it is outside the repository
    named: int  # the id of the imported name; 0 if it is unknown


def _module(one: FileModel, module: str, rows: list[_Imported]) -> list[Piece]:
    """Return a module with the names imported from it, and the line of the first import."""
    path = rows[0].path
    pieces: list[Piece] = [Ref(To.FILE, path, "", module) if path else Mono(module)]
    names = [[_name(one, row)] for row in rows if row.row.name]
    if names:
        pieces += [": " if path else " (", *_commas(names), "" if path else ")"]
    line = rows[0].row.line
    return [*pieces, f" L{line}", Cite(one.path, line)]


def _name(one: FileModel, row: _Imported) -> Piece:
    told = _imported(row.row)
    return one.ref(row.named)._replace(label=told) if row.named and not one.is_own(row.named) else Mono(told)


def _imported(row: Import) -> str:
    return f"{row.name} as {row.alias}" if row.alias and row.alias != row.name else row.name


def _commas(parts: Sequence[Sequence[Piece]]) -> list[Piece]:
    found: list[Piece] = []
    for part in parts:
        found += [", ", *part] if found else part
    return found


def _importers(one: FileModel) -> list[Block]:
    importers = one.importers
    if not importers:
        return []
    if len(importers) <= _BY_NAME:
        refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in importers]
        return [Text([Strong("Imported by"), " ", *join_in_sentence(refs)])]
    return [Text([Strong("Imported by"), f" {len(importers):,} files: ", *folder_counts(Counter(importers))])]


# --- related files


def _near(path: str, folder: str) -> str:
    """Return a path relative to a folder, if it is below it."""
    return path.removeprefix(f"{folder}/") if folder else path


def _reasons(name: str, reasons: list[Reason]) -> str:
    """Return the reasons why a file is related to the one that the page is about."""
    told = [
        _SEEN[one.why](one) if one.why in _SEEN else one.said(name) for one in reasons if one.why != Relation.BESIDE
    ]
    return "; ".join(told)


def _often(times: int) -> str:
    return "" if times == 1 else f" {times}×"


_SEEN: dict[Relation, Callable[[Reason], str]] = {  # shorter wordings for a page
    Relation.USED: lambda one: f"used here{_often(one.times)}",
    Relation.USES: lambda one: f"uses this{_often(one.times)}",
    Relation.BOTH: lambda one: f"{one.times} files use both",
    Relation.CHANGED: lambda one: f"changed together {one.times}×",
}


def related(one: FileModel) -> list[Block]:
    """Return the files of the same folder, then other related files with their reasons."""
    index, folder = one.index, one.path.rpartition("/")[0]
    beside = [path for path in index.beside(folder) if path != one.path]
    found: list[Block] = []
    where: Piece = Mono(folder) if folder else "the root"
    if beside and len(beside) <= _BESIDE:
        refs: list[Piece] = [Ref(To.FILE, path, "", path.rpartition("/")[2]) for path in beside]
        found.append(Text(["In ", where, ": ", *join_in_sentence(refs), "."]))
    elif beside:
        found.append(
            Text(
                [f"{len(beside):,} other files in ", Ref(To.INDEX, folder, "", folder or "the root", bool(folder)), "."]
            )
        )
    company = index.neighbours.of(one.file, index.book.history)  # history changes with every commit: optional
    rows = [row for row in company if row.reasons != [Reason(Relation.BESIDE)]][:_COMPANY]
    if rows:
        name = one.path.rpartition("/")[2]
        items = [
            Item([Ref(To.FILE, row.path, "", _near(row.path, folder)), f" — {_reasons(name, row.reasons)}"])
            for row in rows
        ]
        found.append(Items(items))
    return found or [Text(["The only file in ", where, "; no related files found."])]
