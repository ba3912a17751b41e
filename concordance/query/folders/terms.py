"""Distinctive terms of a folder: phrases and acronyms that its files use and the rest of the repository hardly uses.

In: an index and a folder. Out: blocks. A term's weight compares the number of files in the folder that contain it with
the number in the whole repository.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Piece, Strong, Text, join_in_sentence
from concordance.base.model import Term
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import memoised
from concordance.query.folders.folder_tree import UNWRITTEN_CATEGORIES
from concordance.query.index.repository import Index

_OF_FILE = 12  # most frequent terms considered per file
_MAX_TERMS = 10
_SMALL_FOLDER = 4  # in folders with fewer files than this, a term of a single file counts too
_COMMON_TERM_SHARE = 8  # a term in more than one of this many files of the repository is too common


@memoised(1 << 20)
def _file_terms(index: Index, path: str) -> list[Term]:
    """Return the phrases and acronyms that distinguish a file from others."""
    index.reads.note(Aspect.TEXT, path)
    index.reads.note("words", path)
    if index.category_of(path) in UNWRITTEN_CATEGORIES:
        return []
    spread, common = index.census.files_per_term, max(8, index.census.file_count_band // _COMMON_TERM_SHARE)
    terms = index.census.terms.get(index.file_id(path), ())
    rows = [term for term in terms if term.kind in ("phrase", "acronym") and spread.get(term.text, 1) <= common]
    return sorted(rows, key=lambda term: (-term.times, term.text))[:_OF_FILE]


class _FolderTerms(NamedTuple):
    """The distinctive terms of the files directly in one folder."""

    texts: list[str]  # each once per file that contains it
    stands: list[tuple[str, str, Term]]  # acronyms that are spelled out: the file's path, the text, and the term


@memoised(1 << 20)
def _folder_terms(index: Index, folder: str) -> _FolderTerms:
    """Return the distinctive terms of the files directly in a folder."""
    rows = [(path, term) for path in index.files_in(folder) for term in _file_terms(index, path)]
    return _FolderTerms(
        [term.text for _, term in rows], [(path, term.text, term) for path, term in rows if term.stands_for]
    )


def distinctive_terms(index: Index, paths: Sequence[str]) -> list[Block]:
    """Return the most distinctive terms of the given folders' files, acronyms with their expansions."""
    with index.reads.not_recording():  # the caller already depends on everything below the folder
        terms_by_folder = [_folder_terms(index, folder) for folder in paths]
        count = sum(len(index.files_in(folder)) for folder in paths)
    files = Counter(chain.from_iterable(terms.texts for terms in terms_by_folder))
    best = _most_distinctive(files, index.census.files_per_term, 1 if count < _SMALL_FOLDER else 2)
    if not best:
        return []
    shown = set(best)
    rows = sorted(
        (row for terms in terms_by_folder for row in terms.stands if row[1] in shown),
        key=lambda row: row[:2],
        reverse=True,
    )
    by_text = {text: (path, term) for path, text, term in rows}  # sorted in reverse, so that the first path wins
    pieces: list[Piece] = [f"{text} ({by_text[text][1].stands_for})" if text in by_text else text for text in best]
    cites = [Cite(by_text[text][0], by_text[text][1].line) for text in best if text in by_text]
    return [Text([Strong("Distinctive terms"), ": ", *join_in_sentence(pieces), ".", *cites])]


def _most_distinctive(files: Counter[str], spread: Mapping[str, int], least: int) -> list[str]:
    """Return the most distinctive terms among those in at least `least` files. To save time with very many terms, the
    weight is computed only for terms in enough files to be among the best."""
    floor, best = max(files.values(), default=0), list[tuple[float, str]]()
    while floor >= least:
        floor //= 4
        rows = [
            (-times * math.log2(1 + times * 4 / max(spread.get(text, 1), 1)), text)
            for text, times in files.items()
            if times > floor and times >= least
        ]
        best = nsmallest(_MAX_TERMS, rows)
        if len(best) == _MAX_TERMS and -best[-1][0] > floor * math.log2(1 + floor * 4):  # no other term can weigh more
            break
    return [text for _, text in best]


def acronyms(index: Index) -> dict[str, list[tuple[str, str, int]]]:
    """Return all acronyms that are spelled out somewhere, with their expansions, paths and lines, in path order."""
    acronyms: dict[str, list[tuple[str, str, int]]] = {}
    for file, term in sorted(index.census.terms.acronyms(), key=lambda row: index.path_of_file(row[0])):
        acronyms.setdefault(term.text, []).append((term.stands_for, index.path_of_file(file), term.line))
    return acronyms
