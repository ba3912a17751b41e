"""Who owns a file according to `CODEOWNERS`, and the notes that the owners wrote about it.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` file names, with a citation of the rule; and
the notes from the repository's settings file, quoted as the owners' own words with their line numbers.

In a `CODEOWNERS` file, the last pattern that matches a path names its owners. Patterns are those of `.gitignore`
without negation and character sets: a pattern with a slash anywhere but at its end is relative to the root, `*` stays
within a folder, `**` does not, and a pattern that matches a folder matches everything in it. A pattern without owners
means that nobody owns the path.
"""

from __future__ import annotations

from concordance.base.blocks import Block, Cite, Doc, Heading, Line, Mono, Piece, Quote, Ref, Text, To
from concordance.query.index.codeowners import found
from concordance.query.index.repository import Index
from concordance.query.markup import markdown

NOTES_TITLE = "Owners' Notes"


def describe_owner(index: Index, path: str) -> list[Piece] | None:
    """Return who owns a file, with a citation of the rule; None if nobody does."""
    place, rules = index.owners
    rule = found(rules, path)
    if rule is None or not rule.owners:
        return None
    return [", ".join(rule.owners), " by ", Ref(To.FILE, place, "", place), Cite(place, rule.line)]


def notes_section(index: Index, path: str) -> list[Block]:
    """Return the owners' notes about a file or folder under a heading of their own; empty if there are none."""
    index.reads.note("notes", path)
    notes = [] if index.of_pages else [note for note in index.book.notes if note.path == path]
    blocks: list[Block] = [Heading(2, [NOTES_TITLE])] if notes else []
    place = index.book.settings
    file = index.files.get(place) if notes else None  # None if the settings file is left out of the book
    for note in notes:
        where: list[Piece] = [Mono(place), f", line {note.line}"]
        if file is not None and not file.skip:
            where = [Ref(To.FILE, place, "", place), ", ", Line(place, note.line, note.last)]
        blocks += [Text(["The owners' own words, from ", *where, ":"]), Quote([Doc(markdown(note.text, "markdown"))])]
    return blocks
