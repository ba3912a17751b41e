"""Code Patterns & Idioms: known patterns in the file, each with a line that shows it."""

from __future__ import annotations

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Strong,
    Text,
    count_noun,
    join_with_commas,
)
from concordance.base.kinds import Section
from concordance.base.model import PatternPlace, Skip
from concordance.query.index.file_model import FileModel
from concordance.query.search.absence import not_analysed

TITLE = Section.PATTERNS.value
ORDER = 50

_MAX_PLACES = (
    8  # places of a pattern that are listed at most; if there are more, they are counted and the first few listed
)
_FIRST_PLACES = 3


def blocks(model: FileModel) -> list[Block]:
    """Return the patterns, each with the lines that show it."""
    rows = _patterns(model)
    shown: Block = Text(["Not searched." if not_analysed(model.file) else "No patterns found."])
    if rows:
        shown = Items([_pattern_item(model, name, places) for name, places in rows.items()])
    return [Heading(3, ["Common Patterns"]), shown]


def _patterns(model: FileModel) -> dict[str, list[PatternPlace]]:
    """Return the places that show each pattern."""
    rows: dict[str, list[PatternPlace]] = {}
    for place in model.facts.patterns if model.file.skip == Skip.NONE else ():
        rows.setdefault(place.pattern, []).append(place)
    return rows


def _pattern_item(model: FileModel, name: str, places: list[PatternPlace]) -> Item:
    """Return an item: a pattern, the names concerned, each with its detail in brackets, and the lines."""
    shown = places if len(places) <= _MAX_PLACES else places[:_FIRST_PLACES]
    pieces: list[Piece] = [Strong(name), ": "]
    if len(shown) < len(places):
        pieces.append(f"{count_noun(len(places), 'place')}, first ")
    for number, place in enumerate(shown):
        if number:
            pieces.append(", ")
        has_name = place.symbol >= 0 or place.subject
        if has_name:
            pieces.append(model.own(place.symbol) if place.symbol >= 0 else Mono(place.subject))
        if place.detail:
            pieces.append(f" ({place.detail})" if has_name else place.detail)
    lines = sorted({place.line for place in shown})
    return Item([*pieces, " ", *join_with_commas([Line(model.path, line) for line in lines])])
