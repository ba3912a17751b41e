"""The verification report: the ledger of every file, what was not read and why, and how much was resolved.

In: nothing but "". Out: one page, and further ones for a ledger that is too long for it. Nothing here depends on the
machine or the hour: two builds of one state give the same bytes. What the writer checks itself (links, checksums) is
its own to add.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Mono,
    Page,
    Piece,
    Pieces,
    Ref,
    Strong,
    Table,
    Text,
    To,
    counted,
    listed,
)
from concordance.base.model import File, Origin, Skip, Trust, unpacked
from concordance.extract.registry import language_of
from concordance.extract.ruleset import rules
from concordance.facts.updates.store_delta import Aspect
from concordance.query.folders import folders
from concordance.query.index.counts.file_counts import Rows
from concordance.query.index.counts.ledger import ledger, outline, size_of
from concordance.query.index.findings import SYNTAX, findings_by_rule, ruled
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import ANY, EVERY, lasting, shared, unless

TO = To.REPORT  # what links to these pages say

_ROWS = 1000  # of the ledger on one page
_REASONS = {
    Skip.BINARY: "no text", Skip.TOO_LARGE: "larger than what is read", Skip.OWN_PAGE: "written by this program",
    Skip.SYMLINK: "a link to another file", Skip.SUBMODULE: "another repository",
    Skip.UNREADABLE: "could not be opened",
}  # fmt: skip
_TRUSTS = ((Trust.EXACT, "exact"), (Trust.VIA_IMPORT, "via import"), (Trust.UNIQUE_NAME, "unique name"),
           (Trust.CANDIDATE, "candidate"))  # fmt: skip
_ORIGINS = ((Origin.REPOSITORY, "this repository"), (Origin.STANDARD, "standard library"),
            (Origin.THIRD_PARTY, "third party"), (Origin.GENERATED, "made by the build"),
            (Origin.UNRESOLVED, "unresolved"))  # fmt: skip


def subjects(index: Index) -> list[str]:
    """The report, and the further parts of its ledger, by their numbers."""
    return ["", *(str(number) for number in range(2, _count(index) + 1))]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """The report, with its ledger where that is short, or a part of the ledger."""
    number, total = int(subject or 1), _count(index)
    index.reads.note(Aspect.PATHS, EVERY)
    if subject:
        paths = sorted(row[1] for row in index.bases)[(number - 2) * _ROWS : (number - 1) * _ROWS]
        files = [index.files[path] for path in paths]
        title = [f"Verification Report, part {number} of {total}"]
        back = Text([Ref(To.REPORT, "", "", "part 1", False)])
        yield Page(Ref(To.REPORT, "", part=number), title, [back, _ledger(files)])
        return
    index.reads.note(ANY, "")
    every = list(ledger(index).files.values())
    blocks = [*_blocks(index, every), Heading(2, ["Ledger"])]
    if total > 1:
        refs: list[Piece] = [Ref(To.REPORT, "", "", f"part {n}", False, n) for n in range(2, total + 1)]
        blocks.append(Text([f"All {len(every):,} files are in ", *listed(refs), "."]))
    else:
        blocks.append(_ledger(sorted(every, key=lambda file: file.path)))
    yield Page(Ref(To.REPORT, ""), ["Verification Report"], blocks)


def _count(index: Index) -> int:
    """How many parts the report has: a ledger that is too long has parts of its own."""
    return 1 if len(index.bases) <= _ROWS else 1 + -(-len(index.bases) // _ROWS)


def _blocks(index: Index, files: Sequence[File]) -> list[Block]:
    read = [file for file in files if not file.skip]
    found: list[Block] = [Heading(2, ["Summary"]), Items(list(_summary(index, files, read)))]
    found += [Heading(2, ["Files by Language"]), _languages(files)]
    found += [Heading(2, ["Files by Category"]), _categories(files)]
    found += [Heading(2, ["Files Not Read"]), *_skipped(files)]
    found += [*_left_out(index), *_lost_notes(index)]
    found += [Heading(2, ["Syntax Errors"]), *_errors(index)]
    found += [Heading(2, ["Resolution of Names"]), *_links(index)]
    found += [Heading(2, ["Resolution of Imports"]), *_imports(index)]
    return [*found, Heading(2, ["Findings by Rule"]), *_findings(index)]


def _summary(index: Index, files: Sequence[File], read: Sequence[File]) -> Iterator[Item]:
    symbols = index.census.defined[""]
    yield Item([Strong("Files"), f": {len(files):,}, each with a page"])
    yield Item([Strong("Read as text"), f": {len(read):,}, {counted(sum(file.lines for file in read), 'line')}"])
    yield Item([Strong("Not read"), f": {len(files) - len(read):,}, listed below with the reason"])
    yield Item([Strong("Definitions"), f": {symbols:,}, of which {counted(len(index.tests), 'test')}"])
    calls, uses = index.facts.all_missed()
    yield Item([Strong("Names that lead nowhere known"), f": {counted(uses, 'use')}, {calls:,} of them calls"])
    odd = [file for file in read if file.encoding.lower().replace("_", "-") not in ("utf-8", "ascii", "")]
    if odd:
        counts = Counter(file.encoding for file in odd)
        told = ", ".join(f"{times:,} {name}" for name, times in sorted(counts.items()))
        yield Item([Strong("Encodings other than UTF-8"), f": {told}"])


def _languages(files: Sequence[File]) -> Table:
    rows: list[list[Pieces]] = []
    names = Counter(file.language for file in files if file.language)
    lines: Counter[str] = Counter()
    types: dict[str, str] = {}
    for file in files:
        lines[file.language] += file.lines
        types.setdefault(file.language, file.type)
    for name, times in sorted(names.items(), key=lambda row: (-lines[row[0]], row[0])):
        is_text = language_of(name).name == "text"
        shown = types[name] if is_text else language_of(name).title
        rows.append([[shown], [f"{times:,}"], [f"{lines[name]:,}"], ["words" if is_text else "words and definitions"]])
    return Table(["Language", "Files", "Lines", "Read for"], rows)


def _categories(files: Sequence[File]) -> Table:
    rows: list[list[Pieces]] = []
    counts = Counter(file.category for file in files)
    lines: Counter[str] = Counter()
    for file in files:
        lines[file.category] += file.lines
    for name, times in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        rows.append([[name], [f"{times:,}"], [f"{lines[name]:,}"]])
    return Table(["Category", "Files", "Lines"], rows)


def _skipped(files: Sequence[File]) -> list[Block]:
    rows = [file for file in files if file.skip]
    if not rows:
        return [Text(["None: every file was read as text."])]
    counts = Counter(file.skip for file in rows)
    told = [f"{times:,} {_REASONS.get(Skip(name), name)}" for name, times in sorted(counts.items())]
    cells: list[list[Pieces]] = [
        [[Ref(To.FILE, file.path)], [file.type], [size_of(file.size)], [_reason(file)]] for file in rows
    ]
    return [Text([*listed(told), "."]), Table(["File", "Type", "Size", "Why"], cells)]


def _reason(file: File) -> str:
    why = _REASONS.get(Skip(file.skip), file.skip)
    return f"{why}: {file.note}" if file.note and file.note != file.type else why


def _left_out(index: Index) -> list[Block]:
    """How many files the owners' settings leave out, by which pattern: nothing is left out without a trace."""
    left: dict[str, int] = json.loads(index.facts.meta().get("left_out", "{}"))
    if not left:
        return []
    rows: list[list[Pieces]] = [
        [[Mono(pattern)] if pattern else ["no pattern of ", Mono("include"), " fits"], [f"{number:,}"]]
        for pattern, number in sorted(left.items())
    ]
    head = f"{counted(sum(left.values()), 'file')} that the repository's settings leave out: none of them has a page."
    return [Heading(2, ["Files Left Out"]), Text([head]), Table(["Pattern", "Files"], rows)]


def _lost_notes(index: Index) -> list[Block]:
    """The owners' notes that stand nowhere."""
    known = folders(index).all
    lost = [note for note in index.book.notes if note.path not in index.files and note.path not in known]
    rows: list[list[Pieces]] = [[[Mono(note.path)], [f"{index.book.settings}, line {note.line}"]] for note in lost]
    head = "What they are about is no file or folder of this book."
    return [Heading(2, ["Notes Without a Page"]), Text([head]), Table(["About", "From"], rows)] if rows else []


def _errors(index: Index) -> list[Block]:
    files = findings_by_rule(index).get(SYNTAX, Counter())
    if not files:
        return [Text(["None: every file that has a grammar was parsed whole."])]
    rows: list[list[Pieces]] = []
    for path, times in sorted(files.items()):
        rows.append([[Ref(To.FILE, path)], [f"{times:,}"], [f"{outline(index, path).metrics.errors:,}"]])
    head = f"{counted(len(files), 'file')} with stretches that a parser gave up on; what stands around them was read."
    return [Text([head]), Table(["File", "Stretches", "Bytes"], rows)]


def _links(index: Index) -> list[Block]:
    rows: list[list[Pieces]] = []
    for name, counts in sorted(rates(index).links.items(), key=lambda row: (-sum(row[1].values()), row[0])):
        total = sum(counts.values())
        if not total:
            continue
        cells = [
            [f"{counts[trust]:,} ({100 * counts[trust] / total:.1f} %)" if counts[trust] else "0"]
            for trust, _ in _TRUSTS
        ]
        rows.append([[language_of(name).title], [f"{total:,}"], *cells])
    if not rows:
        return [Text(["No name leads to a definition of the repository."])]
    head = (
        "Different expressions that lead to a definition in the repository, by how sure the best link of each is. "
        "Pages show links of a unique name and above."
    )
    return [Text([head]), Table(["Language", "Linked", *(word for _, word in _TRUSTS)], rows)]


def _imports(index: Index) -> list[Block]:
    rows: list[list[Pieces]] = []
    for name, counts in sorted(rates(index).imports.items(), key=lambda row: (-sum(row[1].values()), row[0])):
        total = sum(counts.values())
        share = 100 * (total - counts[Origin.UNRESOLVED]) / total
        cells = [[f"{counts[origin]:,}"] for origin, _ in _ORIGINS]
        rows.append([[language_of(name).title], [f"{total:,}"], *cells, [f"{share:.1f} %"]])
    if not rows:
        return [Text(["No file imports anything."])]
    return [Table(["Language", "Imports", *(word for _, word in _ORIGINS), "Resolved"], rows)]


def _findings(index: Index) -> list[Block]:
    known, found = rules(), findings_by_rule(index)
    rows: list[list[Pieces]] = [
        [[Ref(To.RULE, name, "", name)], [f"{known[name].category}"], [f"{known[name].severity}"],
         [f"{sum(found[name].values()):,}"], [f"{len(found[name]):,}"]]
        for name in known if name in found
    ]  # fmt: skip
    tried = len({rule.id for language in index.counts for rule in ruled(index).checked(language)})
    head = f"{counted(tried, 'rule')}, {tried - len(rows):,} of them found nothing."
    return [Text([head]), *([Table(["Rule", "Category", "Severity", "Places", "Files"], rows)] if rows else [])]


def _ledger(files: Sequence[File]) -> Table:
    rows: list[list[Pieces]] = []
    for file in files:
        state = _REASONS.get(Skip(file.skip), file.skip) if file.skip else "read"
        rows.append([[Ref(To.FILE, file.path)], [file.type], [file.category], [f"{file.lines:,}"], [state]])
    return Table(["File", "Type", "Category", "Lines", "Read"], rows)


# ---
# How much of the names and imports was resolved, by language.
#
# In: an index. Out: counts from the store: of each expression that leads somewhere, how sure its best link is; of
# each import, where it comes from; and how many uses lead nowhere that is known.


class Rates(NamedTuple):
    """Counts by language."""

    links: dict[str, Counter[Trust]]
    imports: dict[str, Counter[str]]


class _Sums:
    """The sums over all files, with the rows that they were made of."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[str, Any]] = {}  # by path, its language and what was counted of it
        self._links: Counter[tuple[str, int]] = Counter()
        self._imports: Counter[tuple[str, str]] = Counter()

    def renew(self, languages: dict[str, str], rows: Rows) -> None:
        """Counts those rows that are others."""
        for path in self._rows.keys() - rows.keys():
            self._count(-1, *self._rows.pop(path))
        for path, row in rows.items():
            had = self._rows.get(path)
            if had is None or had[1] is not row or had[0] != languages[path]:
                if had is not None:
                    self._count(-1, *had)
                self._rows[path] = languages[path], row
                self._count(1, *self._rows[path])

    def _count(self, sign: int, language: str, row: Any) -> None:
        trusts, origins = row
        for trust, times in trusts:
            self._links[language, trust] += sign * times
        for origin, times in origins:
            self._imports[language, origin] += sign * times

    def rates(self) -> Rates:
        """The sums by language."""
        found = Rates({}, {})
        for (language, trust), times in self._links.items():
            if times:
                found.links.setdefault(language, Counter())[Trust(trust)] = times
        for (language, origin), times in self._imports.items():
            if times:
                found.imports.setdefault(language, Counter())[origin] = times
        return found


@lasting(unless())
def _sums(index: Index) -> _Sums:
    return _Sums()


@shared
def rates(index: Index) -> Rates:
    """Reads the links of all files."""
    languages = {row[1]: row[2] for row in index.bases}
    _sums(index).renew(languages, index.summaries.of("rates", sorted(languages), partial(_counted, index)))
    return _sums(index).rates()


def _counted(index: Index, path: str) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Of one file, expressions by the trust of their best link, which is the first, and imports by where they lead."""
    links = index.facts.links(path)
    best = dict(zip(reversed(unpacked(links.use)), reversed(links.trust), strict=True))
    return list(Counter(best.values()).items()), list(Counter(str(one.origin) for one in links.imports).items())
