"""A search request and its results, as the parts of the search share them.

In: what a person typed. Out: a `SearchRequest`. Prefixes limit a search: `fn:` to functions, `class:` to types, `file:`
to files and folders, `kw:` to headings, keys and concepts, `in:` to a folder. The search field in the browser and the
terminal accept the same prefixes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind

CONCEPT, FILE, FOLDER = "concept", "file", "folder"  # kinds of results that are not symbols; page kinds add theirs
PREFIXES: dict[str, frozenset[str]] = {
    "fn": frozenset(EXECUTABLE_KINDS), "class": frozenset((*TYPE_KINDS, Kind.TYPE)), "file": frozenset((FILE, FOLDER)),
    "kw": frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, CONCEPT)),
}  # fmt: skip
# A C++ name (`class::x`) or an address (`file://…`) is not a prefix.
_PREFIX = re.compile(r'(?<!\S)(fn|class|file|kw|in):(?![:/])("[^"]*"|[^\s"]*)')
_MAX_WORDS = 12  # longer questions are descriptions, which may quote what looks like a prefix


class SearchRequest(NamedTuple):
    """A question and what it is limited to."""

    question: str
    kinds: frozenset[str]  # empty: all
    folder: str
    limit: int

    def has(self, kind: str) -> bool:
        """True if results of this kind are wanted."""
        return not self.kinds or kind in self.kinds

    def covers(self, path: str) -> bool:
        """True if a path is below the folder that the search is limited to."""
        return not self.folder or path.startswith(f"{self.folder}/")


class SearchResult(NamedTuple):
    """One result of a search."""

    path: str
    line: int
    symbol: str  # the innermost symbol that contains the line, or what is not a symbol: an operator; "" if none
    kind: str  # of the symbol; "file" or "folder" if none
    score: float  # only the order is meaningful
    snippet: str  # the line; "" if the file has changed since it was indexed
    called: str = ""  # the symbol's public name, or its qualified one


def parse_filters(text: str, kind: str, folder: str, limit: int) -> SearchRequest:
    """Parse a question; `kind` and `folder` apply unless the question itself sets them."""
    kinds = {kind} if kind else set()
    if len(text.split()) > _MAX_WORDS:
        return SearchRequest(text, frozenset(kinds), folder, limit)
    asked: list[str] = []
    at = 0
    for match in _PREFIX.finditer(text):
        asked.append(text[at : match.start()])
        at = match.end()
        if match[1] == "in":
            folder = match[2].strip('"')
        else:
            kinds |= PREFIXES[match[1]]
            asked.append(match[2])
    asked.append(text[at:])
    return SearchRequest(" ".join("".join(asked).split()), frozenset(kinds), folder, limit)
