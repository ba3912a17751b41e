"""The sections about a class: its members, inherited members, bases, subclasses, and what its methods override.

In: a definition in the model of its file, by position. Out: blocks. Bases are followed as far as they are in the
repository; others are named as not found. Lists are complete: long ones are grouped by file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from concordance.base.blocks import (
    Block,
    Diagram,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Node,
    Piece,
    Ref,
    Table,
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.base.model import TYPE_KINDS, Category, Kind, Symbol
from concordance.extract.registry import language_of
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import memoised
from concordance.query.answers import split_key
from concordance.query.folders.folder_tree import folders
from concordance.query.index.definition_pages import has_page, symbols_with_pages
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.index.graphs.ancestors import Ancestor, ancestors_of
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index
from concordance.query.markup.summary import first_sentence
from concordance.query.sections.structure import count_kind

_MAX_BOXES = 40  # boxes of a diagram
_MAX_SUBCLASSES = 8  # subclasses of one class that are named; more are counted
CAPTION = "Arrows point from a class to its subclasses."
_KIND_ORDER = (*sorted(TYPE_KINDS), Kind.METHOD, Kind.FUNCTION, Kind.PROPERTY, Kind.FIELD)
_ORDER = {kind: number for number, kind in enumerate(_KIND_ORDER)}


def definition_link(index: Index, identity: int) -> Ref:
    """Return a link to the page of a definition if it has one, else to its place on the page of its file."""
    ref = ref_of(index, identity)
    return ref._replace(to=To.DEFINITION) if has_page(index, identity) else ref


# --- members


def members(model: FileModel, place: int) -> Iterator[Block]:
    """Yield what a class defines and what it inherits."""
    index = model.index
    rows = [(model.path, inner) for inner in _own_members(model, place)]
    if language_of(model.file.language).imports_folders:  # a method may be in another file of the package
        folder = model.path.rpartition("/")[0]
        methods = _methods_outside(index, f"{model.file.language} {folder}").get(model.symbols[place].key, ())
        rows += [row for row in methods if row[0] != model.path]
    if rows:
        yield Heading(2, ["Members"])
    by_kind: dict[str, list[tuple[str, int]]] = {}
    for path, inner in rows:
        by_kind.setdefault(outline(index, path).symbols[inner].kind, []).append((path, inner))
    for kind in sorted(by_kind, key=lambda kind: _ORDER.get(Kind(kind), len(_ORDER))):
        yield Heading(3, [count_kind(kind, 2).partition(" ")[2].capitalize()])
        yield Table(("Name", "Description", "Line"), [_member(model, *row) for row in by_kind[kind]])
    yield from _inherited(model, place)


def _own_members(model: FileModel, place: int) -> list[int]:
    """Return what a file defines inside of a class, and for it: in Go and Rust, methods are outside of their types."""
    inside = model.children.get(place, [])
    names = {model.symbols[inner].name for inner in inside}
    key = model.symbols[place].key
    outside = (n for n in model.children.get(-1, []) if model.symbols[n].key.rpartition(".")[0] == key)
    return [*inside, *(n for n in outside if model.symbols[n].name not in names)]


@memoised(64)
def _methods_outside(index: Index, package: str) -> dict[str, list[tuple[str, int]]]:
    """Return the methods that the files of a package define outside of any class, by the key of the class.

    `package`: the language and the folder.
    """
    language, _, folder = package.partition(" ")
    methods: dict[str, list[tuple[str, int]]] = {}
    for path in folders(index).all[folder].files:
        if index.language_of(path) != language or index.category_of(path) == Category.TEST:
            continue
        for place, symbol in enumerate(outline(index, path).symbols):
            if symbol.kind == Kind.METHOD and symbol.parent < 0:
                methods.setdefault(symbol.key.rpartition(".")[0], []).append((path, place))
    return methods


def _member(model: FileModel, path: str, place: int) -> tuple[list[Piece], list[Piece], list[Piece]]:
    symbol = outline(model.index, path).symbols[place]
    paged = place in symbols_with_pages(model.index, path)
    ref = Ref(To.DEFINITION if paged else To.SYMBOL, path, symbol.key, symbol.name)
    summary = first_sentence(symbol.doc, model.file.language, symbol.name) if symbol.doc else ""
    words: list[Piece] = [summary] if summary else [Mono(_short(symbol.signature))] if symbol.signature else []
    name = path.rpartition("/")[2]
    return [ref], words, [Line(path, symbol.line, 0, "" if path == model.path else f"{name}:{symbol.line}")]


def _short(signature: str) -> str:
    signature = " ".join(signature.split())
    return signature if len(signature) <= _MAX_LABEL_LENGTH else f"{signature[:_MAX_LABEL_LENGTH]} …"


_MAX_LABEL_LENGTH = 160


def _inherited(model: FileModel, place: int) -> Iterator[Block]:
    """Yield the members of ancestors that no nearer class defines."""
    index = model.index
    taken = {model.symbols[member].name for member in _own_members(model, place)}
    rows = []
    for base in ancestors_of(index, model.ids.id_at(place)):
        file = index.open_file(base.path)
        names: dict[str, Symbol] = {}
        for symbol in file.symbols:
            if symbol.parent == base.place and symbol.name not in taken:
                names.setdefault(symbol.name, symbol)
        taken |= names.keys()
        if names:
            refs: list[Piece] = [Ref(To.SYMBOL, base.path, symbol.key, name) for name, symbol in names.items()]
            rows.append(Item(["from ", definition_link(index, base.id), ": ", *join_with_commas(refs)]))
    if rows:
        yield Heading(3, ["Inherited members"])
        yield Items(rows)


# --- classes around


def bases(model: FileModel, place: int) -> Iterator[Block]:
    """Yield the classes that a class extends."""
    if model.symbols[place].bases or model.bases.get(place):
        yield Heading(2, ["Bases"])
        yield from _bases(model, place)


def subclass_blocks(model: FileModel, place: int) -> Iterator[Block]:
    """Yield the classes that extend a class."""
    index, identity = model.index, model.ids.id_at(place)
    subclasses = sorted(set(index.facts.subclasses_of(identity)), key=index.order_of)
    if subclasses:
        yield Heading(2, ["Subclasses"])
        below = _subclass_count(index, identity)
        farther = f", and {below - len(subclasses):,} more below them" if below > len(subclasses) else ""
        yield Text([f"{count_noun(len(subclasses), 'class', 'classes')} directly{farther}."])
        yield list_by_file(index, subclasses)


def _bases(model: FileModel, place: int) -> Iterator[Block]:
    index, symbol = model.index, model.symbols[place]
    known = {split_key(index.key_of(base))[-1] for base in model.bases.get(place, ()) if index.key_of(base)}
    rows = [
        Item([definition_link(index, base.id), *_place_words(base)])
        for base in ancestors_of(index, model.ids.id_at(place))
    ]
    for written in symbol.bases:
        bare = written.partition("<")[0].partition("[")[0].replace("::", ".").rpartition(".")[2].strip()
        if bare not in known:
            rows.append(Item([Mono(written), ", not found in the repository"]))
    if rows:
        yield Items(rows)


def _place_words(base: Ancestor) -> list[Piece]:
    steps = "" if base.far == 1 else f", {base.far} levels above"
    return [f"{steps} in ", Ref(To.FILE, base.path, "", base.path)]


def _subclass_count(index: Index, identity: int) -> int:
    """Return how many classes extend one, directly or indirectly."""
    seen: set[int] = set()
    left = [identity]
    while left:
        now = left.pop()
        for heir in index.facts.subclasses_of(now):
            if heir not in seen and heir != identity:
                seen.add(heir)
                left.append(heir)
    return len(seen)


def hierarchy_diagram(model: FileModel, place: int) -> Iterator[Block]:
    """Yield a diagram of a class with its ancestors and direct subclasses."""
    index, identity = model.index, model.ids.id_at(place)
    shown = [identity, *(base.id for base in ancestors_of(index, identity))]
    bases = {now: [base for base in index.facts.bases_of(now) if base in shown] for now in shown}
    heirs = {identity: sorted(set(index.facts.subclasses_of(identity)), key=index.order_of)}
    drawn = class_tree([identity], bases, heirs, lambda other: definition_link(index, other))
    if drawn:
        yield Heading(2, ["Class hierarchy"])
        yield from drawn


# --- methods


def overrides(model: FileModel, places: Sequence[SymbolPlace]) -> Iterator[Block]:
    """Yield the methods that a method overrides, and those that override it."""
    index = model.index
    over = {target for place in places for target, trust in index.facts.overridden(place.id) if trust}
    under = {symbol for place in places for symbol, trust in index.facts.overriding(place.id) if trust}
    if over:
        yield Heading(2, ["Overrides"])
        yield Items([Item([definition_link(index, identity)]) for identity in sorted(over, key=index.order_of)])
    if under:
        yield Heading(2, ["Overridden by"])
        yield Text([f"{count_noun(len(under), 'definition')}."])
        yield list_by_file(index, sorted(under, key=index.order_of))


# --- lists


def list_by_file(index: Index, ids: Iterable[int]) -> Items:
    """List all definitions, grouped by file."""
    rows: dict[str, list[int]] = {}
    for identity in ids:
        rows.setdefault(index.path_of(identity), []).append(identity)
    items = []
    for path, inside in rows.items():
        refs: list[Piece] = [_user_link(index, identity) for identity in inside]
        items.append(Item([Ref(To.FILE, path, "", path), ": ", *join_with_commas(refs)]))
    return Items(items)


def _user_link(index: Index, identity: int) -> Piece:
    return ref_of(index, identity) if index.key_of(identity) else "code outside of named functions"


def class_tree(
    classes: Iterable[int], bases: Mapping[int, Sequence[int]], subclasses: Mapping[int, Sequence[int]],
    ref: Callable[[int], Ref],
) -> list[Block]:  # fmt: skip
    """Draw the given classes (marked) with their bases to the left and their subclasses to the right.

    `ref` returns the link of a class, whose label is the name to show. The result is empty if there is too little to
    draw, or so much that nobody could read it: the page also says everything in words.
    """
    marked = dict.fromkeys(classes)
    edges: dict[tuple[int | str, int | str], None] = {}
    more: dict[str, tuple[int, str]] = {}  # boxes for subclasses that are only counted
    known: dict[int, None] = {}
    for identity in {**marked, **dict.fromkeys(bases)}:
        below = subclasses.get(identity, ())
        named = below if len(below) <= _MAX_SUBCLASSES else [heir for heir in below if heir in marked]
        if len(named) < len(below):
            box, left = f"below {identity}", count_noun(len(below) - len(named), "subclass", "subclasses")
            more[box] = (identity, f"{left} more" if named else left)
            edges[identity, box] = None
            known[identity] = None
        for base, heir in [
            *((base, identity) for base in bases.get(identity, ())),
            *((identity, heir) for heir in named),
        ]:
            edges[base, heir] = None
            known |= {base: None, heir: None}
    if len(edges) < 2 or len(known) + len(more) > _MAX_BOXES:
        return []
    links = {class_id: ref(class_id) for class_id in known}
    # Readers see the names of boxes; the number of a symbol depends on the history of the store.
    names: dict[int | str, str] = {class_id: f"{link.path}: {link.at}" for class_id, link in links.items()}
    nodes = [
        Node(names[class_id], links[class_id].label, "", class_id in marked, links[class_id]) for class_id in known
    ]
    names.update({box: f"subclasses of {names[class_id]}" for box, (class_id, _) in more.items()})
    nodes += [Node(names[box], words) for box, (_, words) in more.items()]
    return [Diagram(nodes, [(names[base], names[heir], "") for base, heir in edges]), Text([CAPTION])]
