"""High-Level Overview: what the file defines and what uses it."""

from __future__ import annotations

from collections import Counter

from concordance.base.blocks import Block, Item, Items, Piece, Ref, Text, To, join_in_sentence
from concordance.base.kinds import Section
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind
from concordance.query.absence import is_linked
from concordance.query.index.file_model import FileModel
from concordance.query.markup import first_sentence
from concordance.query.sections.structure import count_kind, folder_counts

TITLE = Section.OVERVIEW.value
ORDER = 20

_LISTED_KINDS = frozenset(
    (*TYPE_KINDS, *EXECUTABLE_KINDS, Kind.TYPE, Kind.CONSTANT, Kind.TARGET, Kind.VARIABLE, Kind.NAMESPACE)
)
_OUTLINE_KINDS = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    found: list[Block] = []
    summary = [*_definitions(one), *_users(one)]
    if summary:
        found.append(Text(summary))
    names = [place for place in one.children.get(-1, []) if _is_listed(one, place)]
    names = _inside_namespaces(one, names)
    with_words, without = [], []
    for place in names:
        symbol = one.symbols[place]
        sentence = first_sentence(symbol.doc, one.file.language) if symbol.doc else ""
        if sentence:
            with_words.append(Item([one.own(place), f" — {sentence}"]))
        else:
            without.append(place)
    if with_words:
        found.append(Items(with_words))
    if without:
        found.append(
            Text(["Also " if with_words else "Offers ", *join_in_sentence([one.own(place) for place in without]), "."])
        )
    return found or [Text([f"{one.file.type}, without definitions." if is_linked(one.file) else f"{one.file.type}."])]


def _inside_namespaces(one: FileModel, places: list[int]) -> list[int]:
    """Replace namespaces by their contents, which are what the file provides."""
    found: list[int] = []
    left = places[::-1]
    while left:
        place = left.pop()
        if one.symbols[place].kind in (Kind.NAMESPACE, Kind.MODULE):
            left += [inside for inside in reversed(one.children.get(place, [])) if _is_listed(one, inside)]
        else:
            found.append(place)
    return found


def _is_listed(one: FileModel, place: int) -> bool:
    symbol = one.symbols[place]
    if symbol.declaration and symbol.kind in TYPE_KINDS:  # a forward declaration: the type is defined elsewhere
        return False
    return symbol.public and symbol.kind in _LISTED_KINDS


def _definitions(one: FileModel) -> list[Piece]:
    kinds: Counter[str] = Counter(symbol.kind for symbol in one.symbols if not symbol.declaration)
    if not kinds:
        return []
    most: list[Piece] = [count_kind(kind, number) for kind, number in kinds.most_common()]
    hidden = sum(not symbol.public for symbol in one.symbols if not symbol.declaration)
    private = f", {hidden:,} of them private" if hidden else ""
    verb = "" if kinds.keys() <= _OUTLINE_KINDS else "Defines "
    return [verb, *join_in_sentence(most), private, ". "]


def _users(one: FileModel) -> list[Piece]:
    index = one.index
    paths = Counter(index.path_of_file(user) for user in index.neighbours.users.get(one.ids.file, ()))
    if not paths:
        return []
    if len(paths) <= 3:
        refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in sorted(paths)]
        return ["Used by ", *join_in_sentence(refs), "."]
    return [f"Used by {len(paths):,} files: ", *folder_counts(paths), "."]
