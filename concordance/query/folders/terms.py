"""The words that mark a folder: phrases and acronyms that its files use and the rest of the repository hardly does.

In: an index and a folder. Out: blocks. A phrase counts by how many files of the folder have it, against how many of
the repository do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Piece, Strong, Text, listed
from concordance.base.model import Term
from concordance.facts.updates.store_delta import Aspect
from concordance.query.folders import ASIDE
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import kept

_OF_FILE = 12  # terms of a file that stand for it
_SHOWN = 10
_FEW = 4  # files of which a term that one has tells, too
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


class _Told(NamedTuple):
    """What tells the files of one folder from others."""

    texts: list[str]  # each as often as files have it
    stands: list[tuple[str, str, Term]]  # acronyms with a meaning: the path of the file, the text, and the term


@kept(1 << 20)
def _told(index: Index, folder: str) -> _Told:
    """What tells the files of a folder itself."""
    rows = [(path, term) for path in index.beside(folder) for term in _telling(index, path)]
    return _Told([term.text for _, term in rows], [(path, term.text, term) for path, term in rows if term.stands_for])


def marking(index: Index, homes: Sequence[str]) -> list[Block]:
    """The terms that mark the files of some folders, acronyms with what they stand for."""
    with index.reads.unheard():  # who asks hears of whatever changes below a folder
        told = [_told(index, folder) for folder in homes]
        count = sum(len(index.beside(folder)) for folder in homes)
    files = Counter(chain.from_iterable(one.texts for one in told))
    best = _best(files, index.census.spread, 1 if count < _FEW else 2)
    if not best:
        return []
    shown = set(best)
    rows = sorted((row for one in told for row in one.stands if row[1] in shown), key=lambda row: row[:2], reverse=True)
    stands = {text: (path, term) for path, text, term in rows}  # the first path counts
    pieces: list[Piece] = [f"{text} ({stands[text][1].stands_for})" if text in stands else text for text in best]
    cites = [Cite(stands[text][0], stands[text][1].line) for text in best if text in stands]
    return [Text([Strong("Words that mark it"), ": ", *listed(pieces), ".", *cites])]


def _best(files: Counter[str], spread: Mapping[str, int], least: int) -> list[str]:
    """The terms that tell most, of those that at least so many files have. Of very many, only those are weighed that
    enough files have to be among them."""
    floor, best = max(files.values(), default=0), list[tuple[float, str]]()
    while floor >= least:
        floor //= 4
        rows = [
            (-times * math.log2(1 + times * 4 / max(spread.get(text, 1), 1)), text)
            for text, times in files.items()
            if times > floor and times >= least
        ]
        best = nsmallest(_SHOWN, rows)
        if len(best) == _SHOWN and -best[-1][0] > floor * math.log2(1 + floor * 4):  # no other can weigh more
            break
    return [text for _, text in best]


def acronyms(index: Index) -> dict[str, list[tuple[str, str, int]]]:
    """All acronyms with what they stand for, where that is said, in the order of paths."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    for base, terms in sorted(index.census.terms.items(), key=lambda row: index.path_of_base(row[0])):
        for term in terms:
            if term.stands_for:
                found.setdefault(term.text, []).append((term.stands_for, index.path_of_base(base), term.line))
    return found
