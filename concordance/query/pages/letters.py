"""The keywords of the whole repository from A to Z: a front page, and a page for each part of the alphabet.

In: a part of the alphabet, or "" for the front page. Out: every definition and every concept of the repository whose
name belongs to that part, with its kind and its files.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Mono,
    Page,
    Piece,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
)
from concordance.base.model import Kind
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import WHOLE_TABLE
from concordance.query.folders.folder_tree import folder_definitions
from concordance.query.index.repository import Index
from concordance.query.names.file_keywords import GROUPS
from concordance.query.names.index_entries import EntryWriter, definitions_table
from concordance.query.names.shards import DIGITS, OTHER, letter_of

_AROUND = frozenset((Kind.NAMESPACE, Kind.MODULE))  # which many files reopen, and few look for
TO = To.LETTERS  # what links to these pages say


def subjects(index: Index) -> list[str]:
    """Return "" for the front page, and each part of the alphabet."""
    return ["", *index.letters]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the front page, or the pages of one part of the alphabet."""
    if not subject:
        for what in ("shard", "used definitions", Aspect.SYMBOLS_NAMED, Aspect.CONCEPT):
            index.reads.note(what, WHOLE_TABLE)
        yield Page(Ref(To.LETTERS, ""), ["Keywords"], _front(index))
        return
    index.reads.note("shards", "")
    index.reads.note("shard", subject)
    alphabet, writer = index.alphabet, EntryWriter(index)
    parts = alphabet.pages(subject)
    for number, names in enumerate(parts, 1):
        title: list[Piece] = ["Keywords: ", _title(subject)]
        title += [f", part {number} of {len(parts)}"] if len(parts) > 1 else []
        blocks: list[Block] = [
            Text([Ref(To.LETTERS, "", "", "All letters", False), *_nearby_parts(index, subject, len(parts))])
        ]
        groups: dict[str, list[Item]] = {}
        for name in names:
            index.reads.note(Aspect.SYMBOLS_NAMED, name)
            index.reads.note(Aspect.CONCEPT, name)
        for entry in alphabet.entries(names):
            groups.setdefault(_group_prefix(entry.name, subject), []).append(writer.entry(entry))
        for beginning, items in groups.items():
            blocks += [Heading(2, [Mono(beginning)]), Items(items)] if len(groups) > 1 else [Items(items)]
        yield Page(Ref(To.LETTERS, subject, part=number), title, blocks)


def _group_prefix(name: str, part: str) -> str:
    """Return the prefix that a name is grouped by: one letter more than all names of the part share."""
    return name[:1] if part in (DIGITS, OTHER) else name.lower()[: len(part) + 1]


def _title(part: str) -> str:
    return {DIGITS: "digits", OTHER: "other characters"}.get(part, part)


def _nearby_parts(index: Index, part: str, pages: int) -> Iterator[Piece]:
    """Yield links to the parts whose prefix extends this one or is extended by it, and to this part's pages."""
    for other in _related_parts(index.letters, part) if part not in (DIGITS, OTHER) else ():
        yield " · "
        yield Ref(To.LETTERS, other, "", _title(other), False)
    for number in range(1, pages + 1 if pages > 1 else 1):
        yield " · "
        yield Ref(To.LETTERS, part, "", f"part {number}", False, number)


def _related_parts(parts: list[str], part: str) -> Iterator[str]:
    """Yield the parts whose names begin with a part's name, case aside, or with which it begins; all are in order."""
    low = part.lower()
    for length in range(1, len(low)):
        at = bisect_left(parts, low[:length], key=str.lower)
        if parts[at].lower() == low[:length]:  # `part` comes after it, so there is one
            yield parts[at]
    for other in parts[bisect_left(parts, low, key=str.lower) :]:
        if not other.lower().startswith(low):
            break
        if other != part:
            yield other


def _front(index: Index) -> list[Block]:
    census, shards = index.census, index.alphabet.shards
    letters: dict[str, list[str]] = {}
    for part in shards.parts:
        letters.setdefault(letter_of(part) if part not in (DIGITS, OTHER) else part, []).append(part)
    rows: list[list[list[Piece]]] = []
    row: list[Piece] = []
    for letter, parts in letters.items():
        row += [" · " if row else "", Ref(To.LETTERS, parts[0], "", _title(parts[0]), False)]
        row.append(f" {shards.count(parts[0]):,}")
        pieces: list[Piece] = []
        for part in parts:
            pieces += [" · " if pieces else "", Ref(To.LETTERS, part, "", _title(part), False)]
            pieces.append(f" {shards.count(part):,}")
        rows.append([[_title(letter)], pieces])
    whole = folder_definitions(index).all[""]
    counts = whole.kinds
    kinds: list[list[list[Piece]]] = [
        [[title], [f"{counts[kind]:,}"]] for kind, title in GROUPS.items() if counts[kind]
    ]
    ranked = definitions_table(index, (symbol for symbol in whole.used_symbols if symbol.kind not in _AROUND))
    total = sum(counts.values())
    names, concepts = count_noun(census.name_count, "name"), count_noun(index.alphabet.concept_count, "concept")
    summary = f"{count_noun(total, 'definition')} of {names}, and {concepts}"
    style: list[Piece] = [", which are in ", Strong("bold type")] if index.alphabet.concept_count else []
    blocks: list[Block] = [Text([summary, *style, "."])]
    is_split = len(shards.parts) > len(letters)
    if rows:
        blocks += [Heading(2, ["A–Z"]), Table(["Letter", "Names"], rows) if is_split else Text(row)]
    if ranked:
        blocks += [Heading(2, ["Most Used"]), *ranked]
    return [*blocks, Heading(2, ["Kinds"]), Table(["Kind", "Definitions"], kinds)] if kinds else blocks
