"""What is asked of a search: words, and by prefixes before them which kinds, and in which folder.

In: what a person typed. Out: a `Wish`. `fn:` and `class:` ask for what runs and for types, `file:` for files, `kw:` for
headings, keys and concepts, `in:` for what lies below a folder. A browser's field and a terminal understand the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.base.model import RUN, TYPES, Kind

CONCEPT = "concept"
PREFIXES: dict[str, frozenset[str]] = {
    "fn": frozenset(RUN), "class": frozenset((*TYPES, Kind.TYPE)), "file": frozenset(("file",)),
    "kw": frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, CONCEPT)),
}  # fmt: skip
# A name of C++ (`class::x`) and an address (`file://…`) are none.
_PREFIX = re.compile(r'(?<!\S)(fn|class|file|kw|in):(?![:/])("[^"]*"|[^\s"]*)')
_WORDS = 12  # who says more describes something, and quotes what looks like a prefix


class Wish(NamedTuple):
    """A question and what it is limited to."""

    question: str
    kinds: frozenset[str]  # none: all
    folder: str
    limit: int

    def has(self, kind: str) -> bool:
        """Whether definitions of a kind, or files, are wanted."""
        return not self.kinds or kind in self.kinds


def wish(text: str, kind: str, folder: str, limit: int) -> Wish:
    """What is wished for; what is said besides the question holds where the question says nothing else."""
    kinds = {kind} if kind else set()
    if len(text.split()) > _WORDS:
        return Wish(text, frozenset(kinds), folder, limit)
    asked: list[str] = []
    at = 0
    for found in _PREFIX.finditer(text):
        asked.append(text[at : found.start()])
        at = found.end()
        if found[1] == "in":
            folder = found[2].strip('"')
        else:
            kinds |= PREFIXES[found[1]]
            asked.append(found[2])
    asked.append(text[at:])
    return Wish(" ".join("".join(asked).split()), frozenset(kinds), folder, limit)
