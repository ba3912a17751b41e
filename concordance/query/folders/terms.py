"""The words that mark a folder: phrases and acronyms that its files use and the rest of the repository hardly does.

In: an index and a folder. Out: blocks. A phrase counts by how many files of the folder have it, against how many of
the repository do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from concordance.blocks import Block, Cite, Piece, Strong, Text, listed
from concordance.facts.touched import Aspect
from concordance.model import Term

from ..index import Index
from ..reads import kept
from . import ASIDE, folders

_OF_FILE = 12  # terms of a file that stand for it
_SHOWN = 10
_COMMON = 8  # what stands in more than a file of so many tells nothing


@kept(1 << 20)
def _telling(index: Index, path: str) -> list[Term]:
    """The phrases and acronyms of a file that tell it from others."""
    index.reads.note(Aspect.TEXT, path)
    index.reads.note("words", path)
    if index.category_of(path) in ASIDE:
        return []
    spread, common = index.census.spread, max(8, index.census.read // _COMMON)
    terms = index.census.terms.get(index.base_of(path), ())
    rows = [term for term in terms if term.kind in ("phrase", "acronym") and spread.get(term.text, 1) <= common]
    return sorted(rows, key=lambda term: (-term.times, term.text))[:_OF_FILE]


def marking(index: Index, folder: str) -> list[Block]:
    """The terms that mark a folder."""
    return marking_of(index, folders(index).below(folder))


def marking_of(index: Index, paths: Sequence[str]) -> list[Block]:
    """The terms that mark some files, acronyms with what they stand for."""
    with index.reads.unheard():  # who asks hears of whatever changes below a folder
        told = {path: _telling(index, path) for path in paths}
    files = Counter(term.text for terms in told.values() for term in terms)
    stands: dict[str, tuple[str, str, int]] = {}
    for path, terms in told.items():
        for term in terms:
            if term.stands_for and term.text not in stands:
                stands[term.text] = (term.stands_for, path, term.line)
    spread = index.census.spread
    rows = [
        (times * math.log2(1 + times * 4 / max(spread.get(text, 1), 1)), text)
        for text, times in files.items()
        if times > 1 or len(told) < 4
    ]
    best = [text for _, text in sorted(rows, key=lambda row: (-row[0], row[1]))[:_SHOWN]]
    if not best:
        return []
    pieces: list[Piece] = []
    for text in best:
        if text in stands:
            meaning, _, _ = stands[text]
            pieces.append(f"{text} ({meaning})")
        else:
            pieces.append(text)
    cites = [Cite(stands[text][1], stands[text][2]) for text in best if text in stands]
    return [Text([Strong("Words that mark it"), ": ", *listed(pieces), ".", *cites])]


def acronyms(index: Index) -> dict[str, list[tuple[str, str, int]]]:
    """All acronyms with what they stand for, where that is said, in the order of paths."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    for base, terms in sorted(index.census.terms.items(), key=lambda row: index.path_of_base(row[0])):
        for term in terms:
            if term.stands_for:
                found.setdefault(term.text, []).append((term.stands_for, index.path_of_base(base), term.line))
    return found
