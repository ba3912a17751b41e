"""The owners of a file, and the notes that they wrote about it or a folder.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` file names, with a citation of the rule; and
the notes from the repository's settings file, quoted as the owners' own words with their line numbers.
"""

from __future__ import annotations

from concordance.base.blocks import Block, Cite, Doc, Heading, Line, Mono, Piece, Quote, Ref, Text, To
from concordance.query.index.owners import code_owners
from concordance.query.index.repository import Index
from concordance.query.markup import markdown

NOTES_TITLE = "Owners' Notes"


def describe_owner(index: Index, path: str) -> list[Piece] | None:
    """Return who owns a file, with a citation of the rule; None if nobody does."""
    index.reads.note("owners", "")
    file = code_owners(index)
    rule = file.rule_of(path)
    if rule is None or not rule.owners:
        return None
    return [", ".join(rule.owners), " by ", Ref(To.FILE, file.path, "", file.path), Cite(file.path, rule.line)]


def notes_section(index: Index, path: str) -> list[Block]:
    """Return the owners' notes about a file or folder under a heading of their own; empty if there are none."""
    index.reads.note("notes", path)
    notes = [] if index.of_pages else [note for note in index.book.notes if note.path == path]
    blocks: list[Block] = [Heading(2, [NOTES_TITLE])] if notes else []
    place = index.book.settings
    file = index.files.get(place) if notes else None  # None if the settings file is left out of the book
    for note in notes:
        location: list[Piece] = [Mono(place), f", line {note.line}"]
        if file is not None and not file.skip:
            location = [Ref(To.FILE, place, "", place), ", ", Line(place, note.line, note.last)]
        blocks += [
            Text(["The owners' own words, from ", *location, ":"]),
            Quote([Doc(markdown(note.text, "markdown"))]),
        ]
    return blocks
