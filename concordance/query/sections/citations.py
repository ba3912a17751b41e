"""The notes of a repository, and the standards and issues that comments cite: `PEP 484`, `RFC 7231`, `owner/name#1234`.

In: an index. Out: the notes by title; each citation with every place that has it, in the order of the list on the page
of notes, and links to its entry there.
"""

from __future__ import annotations

import re
from zlib import crc32

from concordance.base.blocks import Ref
from concordance.base.model import Bridge
from concordance.facts.updates.reads import memoised
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index

NOTES = "note"  # what links to the page of notes say
_GROUPS = {"PEP": "Python Enhancement Proposals", "RFC": "Requests for Comments", "": "Issues"}
_STANDARD = re.compile(r"(PEP|RFC) \d+")
_NOT_IN_ANCHORS = re.compile(r"[^a-z0-9]+")
_NAME = re.compile(r"Note \[(.+)\]")
_MAX_SLUG = 80  # characters
_MAX_ANCHOR = 28  # characters of a key that is its own anchor


def notes_by_slug(index: Index) -> dict[str, list[Bridge]]:
    """Return all notes, by the slug of the title, in the order of paths and lines."""
    return _notes_of(index, "notes")


@memoised(1)
def _notes_of(index: Index, bridge: str) -> dict[str, list[Bridge]]:
    rows = [row for row in bridges_of(index).of_kind(bridge) if row.says == "explains"]
    notes: dict[str, list[Bridge]] = {}
    for row in sorted(rows, key=lambda row: (index.path_of(row.source), row.end)):
        notes.setdefault(slug(note_title(row)), []).append(row)
    return dict(sorted(notes.items()))


def note_title(row: Bridge) -> str:
    """Return the title of a note."""
    match = _NAME.fullmatch(row.name)
    return match[1] if match is not None else row.name


def note_named(index: Index, name: str) -> str:
    """Return the slug of the note that the name of a bridge means; "" for none."""
    match = _NAME.fullmatch(name)
    return slug(match[1]) if match is not None and slug(match[1]) in notes_by_slug(index) else ""


def slug(title: str) -> str:
    """Return a title as the subject of a page."""
    plain = _NOT_IN_ANCHORS.sub("-", title.lower()).strip("-")
    if title.isascii() and 0 < len(plain) <= _MAX_SLUG:
        return plain
    return f"{plain[:_MAX_SLUG]}-{crc32(title.lower().encode()):08x}"


def citations(index: Index) -> dict[str, list[Bridge]]:
    """Return what comments cite, each with all places that cite it."""
    return _citations_of(index, "references")


@memoised(1)
def _citations_of(index: Index, bridge: str) -> dict[str, list[Bridge]]:
    citations: dict[str, list[Bridge]] = {}
    for row in bridges_of(index).of_kind(bridge):
        citations.setdefault(row.name, []).append(row)
    return {name: citations[name] for name in sorted(citations, key=_order)}


def _kind(name: str) -> str:
    standard = _STANDARD.fullmatch(name)
    return standard[1] if standard is not None else ""


def _order(name: str) -> tuple[int, str, int]:
    """A sort key: by kind, then by repository, then by number."""
    kind = _kind(name)
    start, _, number = name.rpartition(" " if kind else "#")
    return list(_GROUPS).index(kind), start, int(number)


def title_of_group(name: str) -> str:
    """Return the title of the list that an entry is in."""
    return _GROUPS[_kind(name)]


def link_to(name: str) -> Ref:
    """Return a link to an entry on the page of notes."""
    return Ref(NOTES, "", f"def-{anchor_of(name)}", name, False)


def anchor_of(name: str) -> str:
    """Return the key of an entry's anchor, short and plain."""
    plain = _NOT_IN_ANCHORS.sub("-", name.lower()).strip("-")
    plain = f"issue-{plain}" if name.startswith("#") else plain
    return plain if len(plain) <= _MAX_ANCHOR else f"{plain[: _MAX_ANCHOR - 9]}-{crc32(name.encode()):08x}"
