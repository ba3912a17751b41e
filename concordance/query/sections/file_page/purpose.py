"""File Purpose: what the file is for, in its author's words where there are any."""

from __future__ import annotations

import re

from concordance.base.blocks import Block, Cite, Doc, Line, Piece, Quote, Ref, Text, To
from concordance.base.kinds import Section
from concordance.extract.registry import language_of
from concordance.query.descriptions.files import describe, describe_by_facts, is_brief, own_description
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.index.file_model import FileModel
from concordance.query.markup import markdown
from concordance.query.names.mentions import MentionedNames

TITLE = Section.PURPOSE.value
ORDER = 10
_CREDITS = re.compile(r"^[ \t]*@(?:author|copyright|license|package|subpackage|category|link|version)\b.*\n?", re.M)


def blocks(model: FileModel) -> list[Block]:
    """Return what the file is for: its author's words, or a description of the facts."""
    words = _CREDITS.sub("", own_description(model.file, model.facts.doc)).strip()
    if not words or language_of(model.file.language).is_markup:  # the page of a document begins with the document
        pieces = as_sentence(describe(model.index, model.path))
        cited = next((piece.path for piece in pieces if isinstance(piece, Cite)), model.path)
        if cited == model.path or any(isinstance(piece, Ref) and piece.path == cited for piece in pieces):
            return [Text(pieces)]
        return [Text(pieces), Text(["— ", Ref(To.FILE, cited, "", cited)])]
    quoted = Doc(markdown(words, model.file.language, MentionedNames(model).ref))
    lines = model.lines_of(words)
    source: list[Piece] = [Line(model.path, *lines)] if lines else [Ref(To.SOURCE, model.path, "", model.path)]
    blocks: list[Block] = [Quote([quoted]), Text(["— ", *source])]
    facts = describe_by_facts(model.index, model.path) if is_brief(model.file, words) else []
    return [*blocks, Text(as_sentence(facts))] if facts else blocks
