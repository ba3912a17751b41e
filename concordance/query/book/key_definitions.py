"""The definitions to know: those that most files use, with what their authors say of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from concordance.base.blocks import Piece
from concordance.base.model import Kind
from concordance.facts.codec import SymbolHead
from concordance.facts.updates.reads import memoised
from concordance.query.descriptions.overloads import describes_branch, documented, implementation
from concordance.query.descriptions.quotations import first_sentence, is_statement, quote_sentence
from concordance.query.folders.definition_uses import NAMED_KINDS, UsedDefinition, used_definitions
from concordance.query.folders.folder_tree import Folder, folder_definitions, used_definitions_of_folder
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index

# ---
#
# In: an index, and a folder or some files. Out: rows, the most used first; of several definitions of one name the
# most used one stands for all.


class KeyDefinition(NamedTuple):
    """A definition that many files use."""

    id: int
    times: int  # number of files that use it
    name: str
    kind: str
    path: str
    words: list[Piece]  # its author's first sentence; empty if there is none
    signature: str
    public: bool


def symbol_by_id(index: Index, identity: int) -> SymbolHead | None:
    """Return the definition with an id, None if it does not exist."""
    path, place = index.order_of(identity)
    symbols = outline(index, path).symbols
    return symbols[place] if place >= 0 else None


def key_definitions_of_folder(index: Index, folder: Folder, limit: int) -> list[KeyDefinition]:
    """Return the definitions in a folder that most files use."""
    return _rows(index, used_definitions_of_folder(index, folder), limit)


def key_types_of_folder(index: Index, folder: Folder, limit: int) -> list[KeyDefinition]:
    """Return the types in a folder that most files use."""
    return _rows(index, folder_definitions(index).all[folder.path].used_types, limit)


def key_definitions_of_files(index: Index, paths: Iterable[str], limit: int) -> list[KeyDefinition]:
    """Return the definitions in the given files that most files use."""
    rows = [row for path in paths for row in used_definitions(index, path) if row.kind in NAMED_KINDS]
    return _rows(index, sorted(rows), limit)


def _rows(index: Index, rows: Iterable[UsedDefinition], limit: int) -> list[KeyDefinition]:
    definitions: dict[str, KeyDefinition] = {}
    for row in rows:
        symbols = outline(index, row.path).symbols
        place = implementation(symbols, row.place)
        symbol = symbols[place]
        if row.times < 2 or symbol.name in definitions:
            continue
        words = _words(index, f"{place} {row.path}")
        definitions[symbol.name] = KeyDefinition(
            index.facts.ids(row.path).id_at(place), row.times, symbol.name, symbol.kind, row.path, words,
            symbol.signature, symbol.public,
        )  # fmt: skip
        if len(definitions) == limit:
            break
    return list(definitions.values())


@memoised(8192)
def _words(index: Index, position: str) -> list[Piece]:
    """Return the first sentence of a definition's documentation; `position`: its place in the file, then the path."""
    place, _, path = position.partition(" ")
    symbols = outline(index, path).symbols
    symbol = symbols[documented(symbols, int(place))]
    if describes_branch(symbols, int(place)):
        return []
    sentence = first_sentence(symbol.doc, index.language_of(path), symbol.name)
    return quote_sentence(index, path, sentence, symbol.doc, symbol.start_line) if is_statement(sentence) else []


def most_used_definition(index: Index, path: str) -> UsedDefinition | None:
    """Return a file's most used definition, a macro only if nothing else is used; None if nothing is."""
    rows = [row for row in used_definitions(index, path) if row.kind in NAMED_KINDS]
    return next((row for row in rows if row.kind != Kind.MACRO), next(iter(rows), None))
