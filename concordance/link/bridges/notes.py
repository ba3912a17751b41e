"""Notes: which place explains a title, and which places refer to it.

In: titles, as stated in files. Out: a row for each note and for each mention. Titles are compared without regard to
case. A mention is joined with the only note of its title, or with the one in its own file or in the nearest folder.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.base.paths import parent_folders
from concordance.link.bridge_context import BridgeContext, StatedEnd

VERBS = {"explains": ("explains", "is explained by"), "refers to": ("refers to", "is referred to by")}


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join all mentions of notes with the notes."""
    ends = context.ends("notes")
    notes: dict[str, list[StatedEnd]] = {}
    for stated in ends:
        if stated.end.says == "explains":
            notes.setdefault(stated.end.name.lower(), []).append(stated)
    for stated in ends:
        same = notes.get(stated.end.name.lower(), [])
        if stated.end.says == "explains":
            yield stated.to(0, Trust.EXACT, "its title", note_name(stated.end.name))
        elif same:
            nearest = min(same, key=lambda note: _distance(stated, note))
            sure = len(same) == 1
            by = "the only note of this title" if sure else f"the nearest of {len(same)} notes of this title"
            trust = Trust.UNIQUE_NAME if sure else Trust.CANDIDATE
            yield stated.to(nearest.id, trust, by, note_name(nearest.end.name))


def note_name(title: str) -> str:
    """Return the name under which a note is looked up."""
    return f"Note [{title}]"


def _distance(stated: StatedEnd, note: StatedEnd) -> tuple[bool, int, str, int]:
    """A sort key: notes of the same file first, then those that share the most folders."""
    shared = len(set(parent_folders(stated.file.path)) & set(parent_folders(note.file.path)))
    return note.file.path != stated.file.path, -shared, note.file.path, note.end.line
