"""Whose a file is, and what its owners say of it.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` names, with the line that says so; and the
notes that the owners wrote into their settings, quoted as theirs, with their lines.
"""

from __future__ import annotations

from concordance.base.blocks import Block, Cite, Doc, Heading, Line, Mono, Piece, Quote, Ref, Text, To
from concordance.query.index.codeowners import found
from concordance.query.index.repository import Index
from concordance.query.markup import markdown

NOTES = "Owners' Notes"


def owner(index: Index, path: str) -> list[Piece] | None:
    """Who owns a file, and where that is said; None where nobody does."""
    place, rules = index.owners
    rule = found(rules, path)
    if rule is None or not rule.owners:
        return None
    return [", ".join(rule.owners), " by ", Ref(To.FILE, place, "", place), Cite(place, rule.line)]


def owners_notes(index: Index, path: str) -> list[Block]:
    """What the owners wrote about a file or folder, under a heading of its own; nothing where they wrote nothing."""
    index.reads.note("notes", path)
    notes = [] if index.of_pages else [note for note in index.book.notes if note.path == path]
    blocks: list[Block] = [Heading(2, [NOTES])] if notes else []
    place = index.book.settings
    file = index.files.get(place) if notes else None  # which may be left out of the book
    for note in notes:
        where: list[Piece] = [Mono(place), f", line {note.line}"]
        if file is not None and not file.skip:
            where = [Ref(To.FILE, place, "", place), ", ", Line(place, note.line, note.last)]
        blocks += [Text(["The words of the owners, from ", *where, ":"]), Quote([Doc(markdown(note.text, "markdown"))])]
    return blocks
