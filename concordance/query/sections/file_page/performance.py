"""Performance Considerations: findings of the performance rules, and functions of high complexity."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading, Item, Items, Line, Piece
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections.findings import finding_items, no_findings

TITLE = Section.PERFORMANCE.value
ORDER = 60

_MIN_COMPLEXITY = 25  # cyclomatic complexity from which a function is reported


def blocks(model: FileModel) -> list[Block]:
    """Return findings about performance, and functions of high complexity."""
    items = finding_items(model, "performance")
    hot = sorted(
        ((complexity, place) for place, complexity in enumerate(model.complexity) if complexity >= _MIN_COMPLEXITY),
        key=lambda row: (-row[0], row[1]),
    )
    if hot:
        pieces: list[Piece] = ["Complex: "]
        for number, (complexity, place) in enumerate(hot):
            symbol = model.symbols[place]
            pieces += [
                ", " if number else "",
                model.own(place),
                f" (complexity {complexity}) ",
                Line(model.path, symbol.line),
            ]
        items.append(Item(pieces))
    return [Heading(3, ["Performance Notes"]), Items(items) if items else no_findings(model, "performance")]
