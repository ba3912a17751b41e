"""Notes: long comments with a title.

In: words of a question. Out: every note, to be compared with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.sections.citations import NOTES, note_title, notes_by_slug

TO = NOTES

_WORDS = re.compile(r"\w+(?: \w+)+")


def titled(index: Index, question: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield every note, for a search for words."""
    for subject, rows in notes_by_slug(index).items() if _WORDS.fullmatch(question) else ():
        yield subject, note_title(rows[0]), index.path_of(rows[0].source), bridges_of(index).line(rows[0])
