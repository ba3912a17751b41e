"""Architecture & Design: the file's place among the others, its class hierarchy and its import cycle.

In: the model of a file. Out: blocks. Numbers that count the whole repository are rounded, so that a page does not
change with every commit elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from concordance.base.blocks import (
    Block,
    Diagram,
    Heading,
    Item,
    Items,
    Node,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.kinds import Section
from concordance.base.model import TYPE_KINDS, Category
from concordance.extract.registry import language_of
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.file_graph import Band
from concordance.query.index.repository import Index
from concordance.query.search.absence import no_users
from concordance.query.sections.central_definitions import base_verb
from concordance.query.sections.class_family import class_tree

TITLE = Section.DESIGN.value
ORDER = 30

_PROGRAM = frozenset((Category.SOURCE, Category.BUILD, Category.GENERATED, Category.VENDORED))
_MAX_BOXES = 6  # neighbours on each side of a diagram
_MAX_SIBLINGS = 12  # classes of the same bases that are named


def blocks(model: FileModel) -> list[Block]:
    """Return the layer, cluster, rank and neighbours of a file, its class hierarchy and its cycle."""
    index, file = model.index, model.ids.file
    used, users = index.neighbours.uses_of(file), index.neighbours.users_of(file)
    blocks: list[Block] = []
    standing = [Item(pieces) for pieces in _position_items(model, used, users)]
    if standing:
        blocks.append(Items(standing))
    if used or users:
        blocks.append(_diagram(model, used, users))
    if not users:
        blocks.append(Text(no_users(model)))
    blocks += _hierarchy(model)
    return [Heading(3, ["Role in the repository"]), *blocks]


def _used_by_tests_alone(index: Index, users: Collection[int]) -> bool:
    return all(index.files[index.path_of(user)].category not in _PROGRAM for user in users)


def _position_items(model: FileModel, used: Collection[int], users: Collection[int]) -> Iterator[list[Piece]]:
    """Yield the file's place among the others, as far as it is special: most files are in the middle of everything."""
    index, path = model.index, model.path
    layer = index.layers.get(path)
    if used:
        yield [Strong("Uses"), f": {count_noun(len(used), 'file')}"]
    if users:
        yield [Strong("Used by"), f": {count_noun(len(users), 'file')}"]
    # That nothing uses a file is said in words, and what a file at the top defines may be used without being loaded.
    if users and (layer == Band.BASE or (layer == Band.TOP and _used_by_tests_alone(index, users))):
        yield [Strong("Layer"), f": {layer}"]
    band = index.bands.get(path, "")
    if band and users:
        yield [Strong("Rank"), f": {band} of all files"]
    centre = index.clusters.get(path, "")
    # A cluster is worth naming if the file is tied to its centre; a test says nothing of the code that it tests.
    if centre and model.file.category != Category.TEST and index.file_id(centre) in {*used, *users}:
        yield [Strong("Cluster"), ": around ", Ref(To.FILE, centre, "", centre)]
    cycle = index.cycles.get(path, ())
    if cycle:
        others: list[Piece] = [Ref(To.FILE, other, "", other.rpartition("/")[2]) for other in cycle if other != path]
        yield [Strong("Cycle"), ": with ", *join_in_sentence(others)]


def _diagram(model: FileModel, used: dict[int, int], users: dict[int, int]) -> Diagram:
    """Draw the files that use it most and those that it uses most."""
    index = model.index

    def most(rows: dict[int, int]) -> list[str]:
        ordered = sorted(((-times, index.path_of(other)) for other, times in rows.items()))
        return [path for _, path in ordered[:_MAX_BOXES]]

    me = model.path
    before, behind = most(users), most(used)
    names = dict.fromkeys([me, *before, *behind])
    labels = _labels(list(names))
    nodes = [Node(name, labels[name], "", name == me, None if name == me else Ref(To.FILE, name)) for name in names]
    edges = [(name, me, "") for name in before] + [(me, name, "") for name in behind]
    return Diagram(nodes, edges)


def _labels(paths: list[str]) -> dict[str, str]:
    """Return short names of files; two of the same name, and package files, are told apart by their folders."""
    names = Counter(path.rpartition("/")[2] for path in paths)
    return {
        path: name if names[name] == 1 and name != "__init__.py" else "/".join(path.split("/")[-2:])
        for path in paths
        for name in [path.rpartition("/")[2]]
    }


def _hierarchy(model: FileModel) -> list[Block]:
    """List classes with their bases and subclasses in the repository; those that only share their bases, together."""
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for place, symbol in enumerate(model.symbols):
        if symbol.kind in TYPE_KINDS and (place in model.bases or place in model.subclasses):
            alone = place if place in model.subclasses else -1
            groups.setdefault((alone, tuple(model.bases.get(place, ()))), []).append(place)
    items: list[Item] = []
    for (parent, bases), places in groups.items():
        shown: list[Piece] = [model.own(place) for place in places[:_MAX_SIBLINGS]]
        shown += [f"{len(places) - len(shown):,} more"] if len(places) > len(shown) else []
        pieces = join_in_sentence(shown)
        if bases:
            verb = base_verb(model, places[0])
            verb = verb.removesuffix("s") if len(places) > 1 else verb
            pieces += [f" {verb} ", *join_in_sentence([model.ref(base) for base in bases])]
        if parent >= 0:
            below = model.subclasses[parent]
            number = count_noun(len(below), *language_of(model.file.language).heir_noun)
            pieces += [f"{' and' if bases else ''} has {number}"]
            if len(below) <= _MAX_BOXES:
                pieces += [": ", *join_in_sentence([model.ref(heir) for heir in below])]
        items.append(Item(pieces))
    return [Text([Strong("Class hierarchy")]), *_class_diagram(model), Items(items)] if items else []


def _class_diagram(model: FileModel) -> list[Block]:
    """Draw the class hierarchy, if the book has diagrams and there is enough to draw."""
    if not model.index.book.draws_diagrams:
        return []
    classes = {place: model.ids.id_at(place) for place, symbol in enumerate(model.symbols) if symbol.kind in TYPE_KINDS}
    bases = {identity: model.bases.get(place, ()) for place, identity in classes.items()}
    heirs = {identity: model.subclasses.get(place, ()) for place, identity in classes.items()}
    return class_tree(classes.values(), bases, heirs, model.ref)
