"""Joins declarations and definitions of the same symbol, in languages that keep them in different files.

In: symbols. Out: the symbols with all their definitions and declarations. Two symbols are the same if they have the
same qualified name and number of parameters; a symbol that is private to its file is not joined with those of other
files.
"""

from __future__ import annotations

from collections.abc import Iterable

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import TYPE_KINDS, Kind, Symbol
from concordance.extract.registry import language_of
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import memoised
from concordance.query.answers import split_key
from concordance.query.index.repository import Index

_TYPES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM))
_VALUES = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
_CONSTRUCTORS = frozenset(("__init__", "__new__", "constructor"))
_MAX_SYMBOLS = 32  # symbols of one qualified name above which they are different things


def with_counterparts(index: Index, places: Iterable[SymbolPlace], warm: bool = False) -> list[SymbolPlace]:
    """Return the given symbols, followed by their other definitions and declarations.

    More than a few symbols are returned as they are: they are all symbols of a name already. With `warm`, the table of
    all names is used, which takes a second to build.
    """
    counterparts = {place.id: place for place in places}
    if len(counterparts) > _MAX_SYMBOLS:
        return list(counterparts.values())
    done: set[tuple[str, int, str]] = set()
    for place in list(counterparts.values()):
        key = (place.name, _family(place), place.parent_key)
        if place.place >= 0 and key not in done and language_of(place.language).has_prototypes:
            done.add(key)
            for other in _find_counterparts(index, place, warm):
                counterparts.setdefault(other.id, other)
    return list(counterparts.values())


def cached_counterparts(index: Index, place: SymbolPlace) -> list[SymbolPlace]:
    """Return a symbol, followed by its other definitions and declarations, by the table of all names.

    Results are cached, because what a header declares is named everywhere.
    """
    return _counterparts_by_id(index, str(place.id))


@memoised(1 << 15)
def _counterparts_by_id(index: Index, identity: str) -> list[SymbolPlace]:
    place = index.facts.place(int(identity))
    return with_counterparts(index, [place], warm=True) if place is not None else []


def class_of_constructor(index: Index, place: SymbolPlace) -> SymbolPlace:
    """Return the class of a constructor, which is what its users name; any other symbol as it is."""
    parent = place.parent_key
    if not parent or (place.name not in _CONSTRUCTORS and place.name != split_key(parent)[-1]):
        return place
    return enclosing_class(index, place) or place


def enclosing_class(index: Index, place: SymbolPlace) -> SymbolPlace | None:
    """Return the class of a member, which may be in another file; None if a symbol is in no class."""
    parent = place.parent_key
    named = index.facts.symbols_named(split_key(parent)[-1]) if parent else ()
    classes = [symbol for symbol in named if symbol.key == parent and symbol.kind in TYPE_KINDS]
    return min(classes, key=lambda symbol: (symbol.path != place.path, symbol.declaration), default=None)


def _find_counterparts(index: Index, place: SymbolPlace, warm: bool) -> list[SymbolPlace]:
    """Return the other definitions and declarations of a symbol, definitions first."""
    parent_names = split_key(place.parent_key)
    if warm:
        ids = [namesake for declared in (False, True) for namesake in index.namesakes(place.key, declared)]
        named = list(index.facts.places(ids).values())
    else:
        named = index.facts.symbols_named(place.name)
    same = [other for other in named if other.id != place.id and _is_same_symbol(other, place, parent_names)]
    if not same or len(same) > _MAX_SYMBOLS or not any(other.declaration for other in (place, *same)):
        return []
    mine = _symbol(index, place)
    if "static" in mine.modifiers and not parent_names:
        same = [other for other in same if other.path == place.path]
    if place.kind in FUNCTION_KINDS:
        same = [
            other
            for other in same
            if _is_visible_and_fits(mine, _symbol(index, other), other.path == place.path, bool(parent_names))
        ]
    return sorted(same, key=lambda other: (other.declaration, other.path != place.path, other.path, other.place))


def _is_same_symbol(one: SymbolPlace, other: SymbolPlace, container: list[str]) -> bool:
    kinds = _family(one) == _family(other) and language_of(one.language).has_prototypes
    return kinds and split_key(one.parent_key) == container


def _family(place: SymbolPlace) -> int:
    return next((n for n, kinds in enumerate((FUNCTION_KINDS, _TYPES, _VALUES)) if place.kind in kinds), -1)


def _symbol(index: Index, place: SymbolPlace) -> Symbol:
    return index.open_file(place.path).symbols[place.place]


def _is_visible_and_fits(symbol: Symbol, other: Symbol, same_file: bool, member: bool) -> bool:
    hidden = "static" in other.modifiers and not member and not same_file
    return not hidden and len(symbol.parameters) == len(other.parameters)
