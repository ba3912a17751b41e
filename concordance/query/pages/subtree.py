"""The keyword index of a folder and everything below it: its definitions, what it uses from elsewhere, its concepts.

In: a folder. Out: one page, and further pages if the list is long. Unless the subtree is small, a page lists the names
of the files directly in the folder, and each subfolder's own page those of its files, so that no name is listed twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from itertools import chain
from math import log2

from concordance.base.blocks import Block, Heading, Item, Items, Mono, Page, Piece, Ref, Strong, Text, To, count_noun
from concordance.extract.terms.terms import weight
from concordance.facts.updates.reads import NAMES_BELOW
from concordance.query.index.census import CensusFile
from concordance.query.index.repository import Index
from concordance.query.names.file_keywords import GROUPS, is_characteristic, name_key
from concordance.query.names.index_entries import most_used_table

TO = To.SUBTREE  # what links to these pages say

_MAX_LISTED_SYMBOLS = 100  # definitions up to which a page lists those of the whole subtree
_MAX_RANKED = 25  # rows of a ranking
_MAX_CONCEPTS = 30  # concepts of a ranking
_MAX_DEFINITIONS = 4_000  # definitions on one part of a page


def subjects(index: Index) -> list[str]:
    """Return every folder, the root first."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the keyword index of a folder, in parts if it is long."""
    index.reads.note(NAMES_BELOW, subject)
    census = index.census
    below, count = census.below(subject), census.symbol_counts[subject]
    whole = count <= _MAX_LISTED_SYMBOLS
    listed = below if whole else [file for file in below if file.path.rpartition("/")[0] == subject]
    parts = _parts(index, listed)
    title: list[Piece] = ["Subtree Index: ", Mono(subject or ".")]
    blocks: list[Block] = [_summary(index, below, count)]
    ids = chain.from_iterable(map(census.symbols, below))  # one by one: a large subtree has millions
    ranked = most_used_table(index, ids, census.used_by, min(_MAX_RANKED, 5 + count // 20), subject)
    blocks += [Heading(2, ["Most Used"]), *ranked] if ranked else []
    blocks += [Heading(2, ["Defined"])] if count else []
    blocks += _subfolder_counts(index, subject, below) if not whole else []
    blocks += _contents(subject, parts) if len(parts) > 1 else []
    blocks += [_definitions(index, subject, parts[0])] if len(parts) == 1 else []
    blocks += _used_outside(index, below, count) if subject else []
    blocks += _concepts(index, below, count)
    yield Page(Ref(To.SUBTREE, subject), title, blocks)
    for number, part in enumerate(parts if len(parts) > 1 else [], 2):
        back = Text([Ref(To.SUBTREE, subject, "", subject or ".")])
        page = [back, _definitions(index, subject, part)]
        yield Page(Ref(To.SUBTREE, subject, part=number), [*title, f", {_span(part)}"], page)


def _parts(index: Index, files: list[CensusFile]) -> list[list[CensusFile]]:
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


def _summary(index: Index, below: list[CensusFile], count: int) -> Block:
    counts = index.census.count_kinds(below)
    told = [f"{counts[kind]:,} {title.lower()}" for kind, title in GROUPS.items() if counts[kind] > 1]
    told += [f"1 {kind}" for kind in GROUPS if counts[kind] == 1]
    return Text(
        [
            f"{count_noun(len(below), 'file')}, {count_noun(count, 'definition')}{': ' if told else ''}",
            ", ".join(told),
            ".",
        ]
    )


def _subfolder_counts(index: Index, folder: str, below: list[CensusFile]) -> list[Block]:
    """Return the subfolders, each with its number of definitions."""
    census = index.census
    start = len(folder) + 1 if folder else 0
    rows = [
        Item([Ref(To.SUBTREE, name, "", name[start:]), f": {count_noun(census.symbol_counts[name], 'definition')}"])
        for name in dict.fromkeys(file.path[: file.path.find("/", start)] for file in below if "/" in file.path[start:])
    ]
    return [Items(rows)] if rows else []


def _used_outside(index: Index, below: list[CensusFile], count: int) -> list[Block]:
    """Return the definitions outside of the subtree that it uses most."""
    census = index.census
    inside, owners = {file.id for file in below}, index.owners
    counts: Counter[int] = Counter()
    for file in below:
        counts.update(census.external_uses[file.id])
    outside = (one for one in counts if owners[one] not in inside)
    rows = most_used_table(index, outside, counts, min(_MAX_RANKED, 5 + count // 20))
    return [Heading(2, ["Used"]), *rows] if rows else []


def _concepts(index: Index, below: list[CensusFile], definitions: int) -> list[Block]:
    """Return the concepts that distinguish the subtree from the rest of the repository."""
    census = index.census
    terms = [term for file in below for term in census.terms.get(file.id, ()) if term.kind != "name"]
    files = Counter([term.text for term in terms])
    times = files.copy()
    stands_for: dict[str, str] = {}
    for text, _, number, _, meaning in [term for term in terms if term.times > 1 or term.stands_for]:
        times[text] += number - 1
        if meaning:
            stands_for.setdefault(text, meaning)
    weighed, everywhere, band = [], census.files_per_term, census.file_count_band
    for text, count in files.items():
        if is_characteristic(everywhere.get(text, 1), band):
            spread = max(count, everywhere.get(text, 1))
            telling = weight(times[text], spread, max(spread, band))
            # A good concept occurs in many files of the subtree and in few others.
            weighed.append((-count / spread * log2(1 + count) * telling, text))
    best = [text for _, text in nsmallest(min(_MAX_CONCEPTS, 5 + definitions // 10), weighed)]
    if not best:
        return []
    rows = [
        Item([
            Strong(f"{text} ({stands_for[text]})" if text in stands_for else text),
            f": {times[text]:,}× in {count_noun(files[text], 'file')}",
        ])
        for text in best
    ]  # fmt: skip
    return [Heading(2, ["Mentioned"]), Items(rows)]
