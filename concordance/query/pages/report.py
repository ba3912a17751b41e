"""The verification report: the ledger of every file, what was not read and why, and how much was resolved.

In: nothing but "". Out: one page, and further ones for a ledger that is too long for it. Nothing here depends on the
machine or the hour: two builds of one state give the same bytes. What the writer checks itself (links, checksums) is
its own to add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from concordance.blocks import (
    Block,
    Heading,
    Item,
    Items,
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
from concordance.extract.engine import language_of
from concordance.extract.rulebook import checked, rules
from concordance.model import File, Origin, Skip, Trust
from concordance.query.found import SYNTAX, findings
from concordance.query.index import Index
from concordance.query.ledger import ledger, outline, size_of
from concordance.query.rates import rates

_ROWS = 3000  # of the ledger on one page
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
    """The report is one."""
    findings(index)  # counted once, before pages are made by several
    return [""]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """The report, and the rest of its ledger."""
    files = list(ledger(index).files.values())
    parts = [files[at : at + _ROWS] for at in range(0, len(files), _ROWS)] or [[]]
    blocks = _blocks(index, files)
    blocks.append(Heading(2, ["Ledger"]))
    if len(parts) > 1:
        refs: list[Piece] = [Ref(To.REPORT, "", "", f"part {n}", False, n) for n in range(2, len(parts) + 1)]
        blocks.append(Text([f"The first {_ROWS:,} of {len(files):,} files; the others are in ", *listed(refs), "."]))
    blocks.append(_ledger(parts[0]))
    yield Page(Ref(To.REPORT, ""), ["Verification Report"], blocks)
    for number, part in enumerate(parts[1:], 2):
        title = [f"Verification Report, part {number} of {len(parts)}"]
        back = Text([Ref(To.REPORT, "", "", "part 1", False)])
        yield Page(Ref(To.REPORT, "", part=number), title, [back, _ledger(part)])


def _blocks(index: Index, files: Sequence[File]) -> list[Block]:
    read = [file for file in files if not file.skip]
    found: list[Block] = [Heading(2, ["Summary"]), Items(list(_summary(index, files, read)))]
    found += [Heading(2, ["Files by Language"]), _languages(files)]
    found += [Heading(2, ["Files by Category"]), _categories(files)]
    found += [Heading(2, ["Files Not Read"]), *_skipped(files)]
    found += [Heading(2, ["Syntax Errors"]), *_errors(index)]
    found += [Heading(2, ["Resolution of Names"]), *_links(index)]
    found += [Heading(2, ["Resolution of Imports"]), *_imports(index)]
    return [*found, Heading(2, ["Findings by Rule"]), *_findings(index)]


def _summary(index: Index, files: Sequence[File], read: Sequence[File]) -> Iterator[Item]:
    symbols = sum(1 for key in index.keys if key)
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
    for name, times in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        lines = sum(file.lines for file in files if file.category == name)
        rows.append([[name], [f"{times:,}"], [f"{lines:,}"]])
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


def _errors(index: Index) -> list[Block]:
    files = findings(index).get(SYNTAX, Counter())
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
    known, found = rules(), findings(index)
    rows: list[list[Pieces]] = [
        [[Ref(To.RULE, name, "", name)], [f"{known[name].category}"], [f"{known[name].severity}"],
         [f"{sum(found[name].values()):,}"], [f"{len(found[name]):,}"]]
        for name in known if name in found
    ]  # fmt: skip
    tried = len({rule.id for language in index.counts for rule in checked(language)})
    head = f"{counted(tried, 'rule')}, {tried - len(rows):,} of them found nothing."
    return [Text([head]), *([Table(["Rule", "Category", "Severity", "Places", "Files"], rows)] if rows else [])]


def _ledger(files: Sequence[File]) -> Table:
    rows: list[list[Pieces]] = []
    for file in files:
        state = _REASONS.get(Skip(file.skip), file.skip) if file.skip else "read"
        rows.append([[Ref(To.FILE, file.path)], [file.type], [file.category], [f"{file.lines:,}"], [state]])
    return Table(["File", "Type", "Category", "Lines", "Read"], rows)
