"""The keyword index of a folder and everything below it: its definitions, what it uses from elsewhere, its concepts.

In: a folder. Out: one page, and further pages if the list is long. Unless the subtree is small, a page lists the names
of the files directly in the folder, and each subfolder's own page those of its files, so that no name is listed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import nlargest, nsmallest
from math import log2
from typing import NamedTuple

from concordance.base.blocks import Block, Heading, Item, Items, Mono, Page, Piece, Ref, Strong, Text, To, count_noun
from concordance.extract.text.terms import weight
from concordance.facts.updates.reads import NAMES_BELOW, TERMS_BELOW, memoised
from concordance.query.folders.definition_uses import UsedDefinition, most_used
from concordance.query.folders.folder_tree import MAX_SYMBOLS, Folder, FolderDefinitions, folder_definitions, folders
from concordance.query.index.census import CensusFile
from concordance.query.index.repository import Index
from concordance.query.names.file_keywords import GROUPS, is_characteristic, name_key
from concordance.query.names.index_entries import definitions_table

TO = To.SUBTREE  # what links to these pages say

_MAX_LISTED_SYMBOLS = 100  # definitions up to which a page lists those of the whole subtree
_MAX_CONCEPTS = 30  # concepts of a ranking
_VERY_OFTEN = 1e9  # more often than any term occurs
_MAX_DEFINITIONS = 4_000  # definitions on one part of a page


def subjects(index: Index) -> list[str]:
    """Return every folder, the root first."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the keyword index of a folder, in parts if it is long."""
    index.reads.note(NAMES_BELOW, subject)
    folder, below = folders(index).all[subject], index.census.below(subject)
    defined = folder_definitions(index).all[subject]
    count = defined.kinds.total()
    whole = count <= _MAX_LISTED_SYMBOLS
    listed = below if whole else [file for file in below if file.path.rpartition("/")[0] == subject]
    parts = _split_files(index, listed)
    title: list[Piece] = ["Subtree Index: ", Mono(subject or ".")]
    blocks: list[Block] = [_summary(folder, defined)]
    ranked = definitions_table(index, defined.used_symbols[: _rows_of_ranking(count)], subject)
    blocks += [Heading(2, ["Most Used"]), *ranked] if ranked else []
    blocks += [Heading(2, ["Defined"])] if count else []
    blocks += _subfolder_counts(index, folder) if not whole else []
    blocks += _contents(subject, parts) if len(parts) > 1 else []
    blocks += [_definitions(index, subject, parts[0])] if len(parts) == 1 else []
    blocks += _used_outside(index, below, count) if subject else []
    blocks += _concepts(_concepts_below(index, subject)[: 5 + count // 10])
    yield Page(Ref(To.SUBTREE, subject), title, blocks)
    for number, part in enumerate(parts if len(parts) > 1 else [], 2):
        back = Text([Ref(To.SUBTREE, subject, "", subject or ".")])
        page = [back, _definitions(index, subject, part)]
        yield Page(Ref(To.SUBTREE, subject, part=number), [*title, f", {_span(part)}"], page)


def _split_files(index: Index, files: list[CensusFile]) -> list[list[CensusFile]]:
    """Return the files that define something from A to Z, split into parts that fit on a page."""
    parts: list[list[CensusFile]] = []
    size = 0
    for file in sorted(files, key=lambda file: file.path):
        count = len(index.census.symbols(file))
        if count and (not parts or size > _MAX_DEFINITIONS):
            parts.append([])
            size = 0
        if count:
            parts[-1].append(file)
            size += count
    return parts


def _span(part: list[CensusFile]) -> str:
    first, last = (file.path.rpartition("/")[2] for file in (part[0], part[-1]))
    return f"{first} – {last}"


def _definitions(index: Index, folder: str, files: list[CensusFile]) -> Block:
    """Return the names that each file defines, by kind; the keyword page of a file links to each of them."""
    name_of, kind_of = index.census.name_of, index.census.kind_of
    start = len(folder) + 1 if folder else 0
    items: list[Item] = []
    for file in files:
        groups: dict[str, Counter[str]] = {}
        for identity in index.census.symbols(file):
            groups.setdefault(kind_of(identity), Counter())[name_of(identity)] += 1
        pieces: list[Piece] = [Ref(To.KEYWORDS, file.path, "", file.path[start:])]
        for kind, title in GROUPS.items():
            if kind in groups:
                word = title.lower() if len(groups[kind]) > 1 else kind
                pieces += [f"{': ' if len(pieces) == 1 else '; '}{word} ", *_names(groups[kind])]
        items.append(Item(pieces))
    return Items(items)


def _names(times: Counter[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for name in sorted(times, key=name_key):
        pieces += [", " if pieces else "", Mono(name), f" ×{times[name]:,}" if times[name] > 1 else ""]
    return pieces


def _contents(folder: str, parts: list[list[CensusFile]]) -> list[Block]:
    rows = [Item([Ref(To.SUBTREE, folder, "", _span(part), True, number)]) for number, part in enumerate(parts, 2)]
    return [Items(rows)]


def _rows_of_ranking(definitions: int) -> int:
    return min(MAX_SYMBOLS, 5 + definitions // 20)


def _summary(folder: Folder, defined: FolderDefinitions) -> Block:
    counts = defined.kinds
    counted = [f"{counts[kind]:,} {title.lower()}" for kind, title in GROUPS.items() if counts[kind] > 1]
    counted += [f"1 {kind}" for kind in GROUPS if counts[kind] == 1]
    return Text(
        [
            f"{count_noun(folder.count, 'file')}, {count_noun(counts.total(), 'definition')}{': ' if counted else ''}",
            ", ".join(counted),
            ".",
        ]
    )


def _subfolder_counts(index: Index, folder: Folder) -> list[Block]:
    """Return the subfolders, each with its number of definitions."""
    known = folder_definitions(index).all
    rows = [
        Item(
            [
                Ref(To.SUBTREE, inner.path, "", inner.name),
                f": {count_noun(known[inner.path].kinds.total(), 'definition')}",
            ]
        )
        for inner in (folders(index).all[path] for path in folder.folders)
    ]
    return [Items(rows)] if rows else []


def _used_outside(index: Index, below: list[CensusFile], count: int) -> list[Block]:
    """Return the definitions outside of the subtree that it uses most."""
    census = index.census
    inside, owners = {file.id for file in below}, index.owners
    counts: Counter[int] = Counter()
    for file in below:
        counts.update(census.external_uses[file.id])
    outside = [identity for identity in counts if owners[identity] not in inside and census.kind_of(identity)]
    limit = _rows_of_ranking(count)
    least = min(
        nlargest(limit, (counts[identity] for identity in outside)), default=0
    )  # the others are not compared by name
    rows = most_used(
        (_used_definition(index, identity, counts[identity]) for identity in outside if counts[identity] >= least),
        limit,
    )
    return [Heading(2, ["Used"]), *definitions_table(index, rows)] if rows else []


def _used_definition(index: Index, identity: int, times: int) -> UsedDefinition:
    return UsedDefinition(
        -times, index.census.name_of(identity), *index.order_of(identity), index.census.kind_of(identity), identity
    )


class _Concept(NamedTuple):
    text: str  # with its long form, if it is an acronym
    times: int
    files: int


@memoised(1 << 14, TERMS_BELOW)
def _concepts_below(index: Index, folder: str) -> list[_Concept]:
    """Return the concepts that distinguish the subtree from the rest of the repository, the best first."""
    census = index.census
    below = census.below(folder)
    terms = [term for file in below for term in census.terms.get(file.id, ()) if term.kind != "name"]
    files = Counter([term.text for term in terms])
    everywhere, band, limit = census.files_per_term, census.file_count_band, _MAX_CONCEPTS
    characteristic = [text for text in files if is_characteristic(everywhere.get(text, 1), band)]

    def value(count: int, spread: int, times: float) -> float:
        """How good a concept is: it occurs in many files of the subtree and in few others."""
        spread = max(count, spread)
        return count / spread * log2(1 + count) * weight(times, spread, max(spread, band))

    # Most terms occur in few files and cannot be among the best, however often they occur there.
    sample = nlargest(4 * limit, characteristic, key=files.__getitem__)
    sure = (value(files[text], everywhere.get(text, 1), files[text]) for text in sample)
    least = min(nlargest(limit, sure), default=0.0) if len(sample) >= limit else 0.0
    may_be_best = {count for count in set(files.values()) if value(count, 0, _VERY_OFTEN) >= least}
    times = {text: 0 for text in characteristic if files[text] in may_be_best}
    stands_for: dict[str, str] = {}
    for text, _, number, _, long_form in terms:
        if text in times:
            times[text] += number
            if long_form:
                stands_for.setdefault(text, long_form)
    weighed = [(-value(files[text], everywhere.get(text, 1), often), text) for text, often in times.items()]
    return [
        _Concept(f"{text} ({stands_for[text]})" if text in stands_for else text, times[text], files[text])
        for _, text in nsmallest(limit, weighed)
    ]


def _concepts(best: list[_Concept]) -> list[Block]:
    rows = [
        Item([Strong(concept.text), f": {concept.times:,}× in {count_noun(concept.files, 'file')}"]) for concept in best
    ]
    return [Heading(2, ["Mentioned"]), Items(rows)] if rows else []
