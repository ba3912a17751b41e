"""The words that mark a folder: phrases and acronyms that its files use and the rest of the repository hardly does.

In: an index and a folder. Out: blocks. A phrase counts by how many files of the folder have it, against how many of
the repository do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from concordance.blocks import Block, Cite, Piece, Strong, Text, listed
from concordance.model import Term

from ..index import Index
from ..reads import shared
from . import ASIDE, folders

_OF_FILE = 12  # terms of a file that stand for it
_SHOWN = 10
_COMMON = 8  # what stands in more than a file of so many tells nothing


@shared
def telling(index: Index) -> dict[str, list[Term]]:
    """The phrases and acronyms of each file that tell it from others."""
    census = index.census
    spread, common = census.spread, max(8, census.read // _COMMON)
    found: dict[str, list[Term]] = {}
    for base, terms in census.terms.items():
        path = index.path_of_base(base)
        if index.category_of(path) in ASIDE:
            continue
        rows = [term for term in terms if term.kind in ("phrase", "acronym") and spread.get(term.text, 1) <= common]
        rows.sort(key=lambda term: (-term.times, term.text))
        found[path] = rows[:_OF_FILE]
    return found


def marking(index: Index, folder: str) -> list[Block]:
    """The terms that mark a folder."""
    return marking_of(index, list(folders(index).below(folder)))


def marking_of(index: Index, paths: Sequence[str]) -> list[Block]:
    """The terms that mark some files, acronyms with what they stand for."""
    told = telling(index)
    files: Counter[str] = Counter()
    stands: dict[str, tuple[str, str, int]] = {}
    count = 0
    for path in paths:
        count += 1
        for term in told.get(path, ()):
            files[term.text] += 1
            if term.stands_for and term.text not in stands:
                stands[term.text] = (term.stands_for, path, term.line)
    spread = index.census.spread
    rows = [
        (times * math.log2(1 + times * 4 / max(spread.get(text, 1), 1)), text)
        for text, times in files.items()
        if times > 1 or count < 4
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
