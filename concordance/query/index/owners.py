"""Who owns a file according to `CODEOWNERS`, and the notes that the owners wrote about it.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` file names, with a citation of the rule; and
the notes from the repository's settings file, quoted as the owners' own words with their line numbers.

In a `CODEOWNERS` file, the last pattern that matches a path names its owners. Patterns are those of `.gitignore`
without negation and character sets: a pattern with a slash anywhere but at its end is relative to the root, `*` stays
within a folder, `**` does not, and a pattern that matches a folder matches everything in it. A pattern without owners
means that nobody owns the path.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Doc, Heading, Line, Mono, Piece, Quote, Ref, Text, To
from concordance.query.index.repository import Index
from concordance.query.markup import markdown

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")  # the first that exists counts
_WILD = re.compile(r"/\*\*/|\*\*/|/\*\*|\*+|\?|[^*?/]+|/")
_WORD = re.compile(r"(?:\\.|\S)+")
NOTES = "Owners' Notes"


def owner(index: Index, path: str) -> list[Piece] | None:
    """Return who owns a file, with a citation of the rule; None if nobody does."""
    place, rules = index.owners
    rule = found(rules, path)
    if rule is None or not rule.owners:
        return None
    return [", ".join(rule.owners), " by ", Ref(To.FILE, place, "", place), Cite(place, rule.line)]


def owners_notes(index: Index, path: str) -> list[Block]:
    """Return the owners' notes about a file or folder under a heading of their own; empty if there are none."""
    index.reads.note("notes", path)
    notes = [] if index.of_pages else [note for note in index.book.notes if note.path == path]
    blocks: list[Block] = [Heading(2, [NOTES])] if notes else []
    place = index.book.settings
    file = index.files.get(place) if notes else None  # None if the settings file is left out of the book
    for note in notes:
        where: list[Piece] = [Mono(place), f", line {note.line}"]
        if file is not None and not file.skip:
            where = [Ref(To.FILE, place, "", place), ", ", Line(place, note.line, note.last)]
        blocks += [Text(["The owners' own words, from ", *where, ":"]), Quote([Doc(markdown(note.text, "markdown"))])]
    return blocks


class OwnerRule(NamedTuple):
    """One line of a `CODEOWNERS` file: a path pattern and the owners of what it matches."""

    fits: re.Pattern[str]
    owners: tuple[str, ...]
    line: int


def found(rules: list[OwnerRule], path: str) -> OwnerRule | None:
    """Return the last rule that matches a path."""
    return next((rule for rule in reversed(rules) if rule.fits.match(path)), None)


def parsed(text: str) -> list[OwnerRule]:
    """Parse the rules of a file; GitLab's section headers, negations and patterns that start with a set are skipped."""
    rules: list[OwnerRule] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = _WORD.findall(line)
        if not words or words[0].startswith(("#", "[", "^[", "!")):
            continue
        owners: list[str] = []
        for word in words[1:]:
            if word.startswith("#"):
                break
            owners.append(word)
        rules.append(OwnerRule(_pattern(words[0].replace("\\ ", " ").replace("\\#", "#")), tuple(owners), number))
    return rules


def _pattern(glob: str) -> re.Pattern[str]:
    inside = glob.rstrip("/")
    start = "" if "/" in inside else "(?:.*/)?"
    body = "".join(_step(part) for part in _WILD.findall(inside.lstrip("/")))
    if glob.endswith("/"):
        end = "/.*"
    elif inside.endswith("/*"):  # matches the files of a folder, not those of its subfolders
        end = ""
    else:
        end = "(?:/.*)?"
    return re.compile(f"{start}{body}{end}\\Z", re.S)


def _step(part: str) -> str:
    if part == "/**/":
        return "/(?:.*/)?"
    if part == "**/":
        return "(?:.*/)?"
    if part == "/**":
        return "/.*"
    if part.startswith("*"):
        return "[^/]*"
    return "[^/]" if part == "?" else re.escape(part)
