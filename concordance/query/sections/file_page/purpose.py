"""File Purpose: what the file is for, in its author's words where there are any."""

from __future__ import annotations

from concordance.base.blocks import Block, Cite, Doc, Line, Piece, Pieces, Quote, Ref, Text, To
from concordance.base.kinds import Section
from concordance.extract.documents.legal_text import without_licence
from concordance.query.descriptions import describe
from concordance.query.index.file_model import FileModel
from concordance.query.markup import first_sentence, markdown
from concordance.query.names.mentions import MentionedNames

TITLE = Section.PURPOSE.value
ORDER = 10


def blocks(one: FileModel) -> list[Block]:
    """Return what the file is for: its author's words, or a description of the facts."""
    words = without_licence(one.facts.doc)
    if words and first_sentence(words, one.file.language):
        quoted = Doc(markdown(words, one.file.language, MentionedNames(one).ref))
        lines = one.lines_of(words)
        source: list[Piece] = [Line(one.path, *lines)] if lines else [Ref(To.SOURCE, one.path, "", one.path)]
        return [Quote([quoted]), Text(["— ", *source])]
    return [Text(_sentence(describe(one.index, one.path)))]


def _sentence(pieces: Pieces) -> list[Piece]:
    """Turn pieces into a sentence with a capital letter and a full stop."""
    found = list(pieces)
    if found and type(found[0]) is str and found[0][:1].islower():
        found[0] = found[0][0].upper() + found[0][1:]
    last = next((piece for piece in reversed(found) if not isinstance(piece, Cite)), "")
    if not (type(last) is str and last.endswith((".", "!", "?", "”"))):
        found.append(".")
    return found
