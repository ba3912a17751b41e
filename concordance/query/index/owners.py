"""Who owns a file according to `CODEOWNERS`, and the notes that the owners wrote about it.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` file names, with a citation of the rule; and
the notes from the repository's settings file, quoted as the owners' own words with their line numbers.

In a `CODEOWNERS` file, the last pattern that matches a path names its owners. A pattern without owners means that
nobody owns the path.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Doc, Heading, Line, Mono, Piece, Quote, Ref, Text, To
from concordance.collect.path_patterns import Patterns
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import shared
from concordance.query.markup import markdown

NOTES_TITLE = "Owners' Notes"


_CODEOWNERS = (
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
)  # the first that exists counts
_WORD = re.compile(r"(?:\\.|\S)+")


class OwnerRule(NamedTuple):
    """One line of a `CODEOWNERS` file: a path pattern and the owners of what it matches."""

    pattern: str
    owners: tuple[str, ...]
    line: int


class CodeOwners:
    """A `CODEOWNERS` file."""

    def __init__(self, path: str, text: str) -> None:
        """GitLab's section headers, negations and patterns that start with a set are skipped."""
        self.path = path
        self.rules: list[OwnerRule] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = _WORD.findall(line)
            if words and not words[0].startswith(("#", "[", "^[", "!")):
                owners = takewhile(lambda word: not word.startswith("#"), words[1:])
                self.rules.append(OwnerRule(words[0], tuple(owners), number))
        self._patterns = Patterns((rule.pattern for rule in self.rules), codeowners=True)

    def rule_of(self, path: str) -> OwnerRule | None:
        """Return the last rule that matches a path."""
        place = self._patterns.last(path)
        return self.rules[place] if place >= 0 else None


@shared
def code_owners(index: Index) -> CodeOwners:
    """Return the repository's `CODEOWNERS` file; one without rules if there is none."""
    path = next((path for path in _CODEOWNERS if path in index.files), "")
    return CodeOwners(path, index.runners.text(path).decode(errors="replace") if path else "")


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
        where: list[Piece] = [Mono(place), f", line {note.line}"]
        if file is not None and not file.skip:
            where = [Ref(To.FILE, place, "", place), ", ", Line(place, note.line, note.last)]
        blocks += [Text(["The owners' own words, from ", *where, ":"]), Quote([Doc(markdown(note.text, "markdown"))])]
    return blocks
