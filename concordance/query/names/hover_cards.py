"""The card that is shown when a reader points at a name: signature, doc summary, and how often it is used.

In: a path. Out: a card for each of the file's definitions. A symbol that is declared in one file and defined in another
is one thing: a use that resolves to both is counted once.
"""

from __future__ import annotations

from typing import NamedTuple

from concordance.base.model import Kind, Trust
from concordance.extract.registry import language_of
from concordance.query.descriptions.overloads import documented
from concordance.query.index.definition_pages import symbols_with_pages
from concordance.query.index.file_model import FileModel, model_of
from concordance.query.index.repository import Index
from concordance.query.markup.summary import first_sentence
from concordance.query.names.display_names import public_name

_MAX_SIGNATURE_LENGTH = 600  # characters of a signature on a card; the page shows all of it
_MAX_DOC_LENGTH = 400  # characters of a doc summary on a card
_KINDS_WITHOUT_CARD = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))


class Card(NamedTuple):
    """The card of one definition."""

    key: str
    name: str
    kind: str
    signature: str
    doc: str
    uses: int
    files: int
    path: str
    line: int
    page: bool  # True if it has a page of its own
    called: str  # its public name, if that differs


def cards(index: Index, path: str) -> list[Card]:
    """Return the cards of a file's definitions; keys of data files have none."""
    model = model_of(index, path)
    if language_of(model.file.language).is_keyed:
        return []
    paged = symbols_with_pages(index, path)
    uses = _count_uses(model)
    return [
        Card(
            symbol.key, symbol.name, symbol.kind, _shorten(" ".join(symbol.signature.split()), _MAX_SIGNATURE_LENGTH),
            _summary(model, place),
            *uses.get(place, (0, 0)), path, symbol.line, place in paged, public_name(index, path, symbol.key),
        )
        for place, symbol in enumerate(model.symbols)
        if symbol.kind not in _KINDS_WITHOUT_CARD
    ]  # fmt: skip


def _summary(model: FileModel, place: int) -> str:
    """Return the first sentence of a definition's documentation; "" if it has none."""
    symbol = model.symbols[documented(model.symbols, place)]
    return _shorten(first_sentence(symbol.doc, model.file.language, symbol.name), _MAX_DOC_LENGTH) if symbol.doc else ""


def _shorten(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[:longest].rstrip()} …"


def _count_uses(model: FileModel) -> dict[int, tuple[int, int]]:
    """Return the number of uses and of using files of each symbol, by position."""
    index, ids = model.index, model.ids
    rows = [(ids.place_of(target), target, *row) for target, *row in index.facts.users_of_file(model.path)]
    if language_of(model.file.language).has_prototypes:
        others = {other: place for place, other in model.counterparts.items()}
        rows += [(others[target], target, *row) for target, *row in index.facts.users_of(others)]
    best: dict[int, dict[int, int]] = {}
    for place, _, user, _, trust, times in rows:
        if trust >= Trust.UNIQUE_NAME:
            users = best.setdefault(place, {})
            users[user] = max(users.get(user, 0), times)
    owners = index.owners
    return {place: (sum(users.values()), len({owners[user] for user in users})) for place, users in best.items()}
