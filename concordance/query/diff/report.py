"""Assembles the answer of `concord diff`: rows for programs, and a page for people.

In: a `Comparison` and the store. Out: `DiffReport`. The page says what was compared and how, then lists files,
definitions by file, dependencies, cycles, tests, findings, and the pages to read again. What the page groups or cuts it
counts; the rows are complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.base.model import Kind
from concordance.collect.revisions import Side, is_same
from concordance.query.answers import category_rank
from concordance.query.diff import affected, rows
from concordance.query.diff import dependencies as diff_dependencies
from concordance.query.diff.comparison import Comparison
from concordance.query.diff.dependencies import DependencySides
from concordance.query.diff.rows import ChangeRow
from concordance.query.index.repository import Index

_MAX_NAMED = 12  # small definitions of one kind in one file, or files of a cycle, that are named
_MAX_ITEMS = 200  # items of a section that are listed
_NAMED = 30  # test files that are listed
_SMALL_KINDS = frozenset(
    (Kind.KEY, Kind.HEADING, Kind.LABEL, Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD, Kind.ENUMERATOR)
)
_VERBS = {"signature": "signature", "value": "value", "doc": "documentation", "body": "body"}


class DiffReport(NamedTuple):
    """The complete answer, by section."""

    comparison: Comparison
    files: list[ChangeRow]
    symbols: list[ChangeRow]
    dependencies: list[ChangeRow]
    folders: list[ChangeRow]
    cycles: list[ChangeRow]
    touched: list[ChangeRow]
    may_run: list[ChangeRow]
    findings: list[ChangeRow]
    pages: list[tuple[Ref, str]]
    notes: list[str]


def build_report(index: Index, comparison: Comparison) -> DiffReport:
    """Compute the answer."""
    files, symbols = rows.file_rows(comparison), rows.symbol_changes(comparison)
    before, after = DependencySides(index, comparison).webs()
    renamed = comparison.renamed
    dependencies = rows.file_dependency_rows(
        diff_dependencies.changed_file_dependencies(before, after, renamed), comparison
    )
    folders = rows.dependency_rows(
        diff_dependencies.changed_folder_dependencies(before, after, renamed), "folder dependency"
    )
    cycles = rows.cycle_rows(diff_dependencies.changed_cycles(before, after, renamed))
    tests = affected.find_affected_tests(index, symbols)
    pages = affected.find_affected_pages(index, comparison, files, symbols, folders)
    return DiffReport(
        comparison, files, symbols.rows, dependencies, folders, cycles, tests.touched, tests.may_run,
        rows.finding_rows(index, comparison), pages, _notes(comparison, tests.note),
    )  # fmt: skip


def _notes(comparison: Comparison, more: str) -> list[str]:
    one, other = comparison.sides
    names = [f"{side.name} ({side.commit[:12]})" if side.commit else side.name for side in (one, other)]
    notes = [
        f"{names[0]}, {count_noun(len(one.entries), 'file')}, and {names[1]}, "
        f"{count_noun(len(other.entries), 'file')}: "
        f"{count_noun(len(comparison.pairs), 'file differs', 'files differ')}. Dependencies are imports and includes "
        "that resolve to a file of the repository; for folders and cycles, only those needed when a file is loaded."
    ]
    if not any(_is_work_tree(comparison, side) for side in (one, other)):
        notes.append(
            "Users, and tests that may run what changed, come from the work tree, which is neither of the two sides."
        )
    if comparison.slim:
        notes.append(
            "Because so much was added or removed, a definition counts as moved only if its whole text is unchanged."
        )
    if comparison.ruff_problem:
        notes.append(f"Python files were not checked by ruff: {comparison.ruff_problem}")
    return [*notes, *([more] if more else [])]


def _is_work_tree(comparison: Comparison, side: Side) -> bool:
    """True if a side has the same files as the work tree."""
    here = comparison.here.entries
    return side.entries.keys() == here.keys() and all(
        is_same(entry, here[path]) for path, entry in side.entries.items()
    )


def all_rows(answer: DiffReport, addresses: dict[Ref, str]) -> list[ChangeRow]:
    """Return all rows; `addresses` maps pages to their paths in the book."""
    pages = [
        ChangeRow("re-read", "page", ref.path, addresses[ref], None, {"page": addresses[ref]}, why)
        for ref, why in answer.pages
    ]
    return [
        *answer.files, *answer.symbols, *answer.dependencies, *answer.folders, *answer.cycles, *answer.touched,
        *answer.may_run, *answer.findings, *pages,
    ]  # fmt: skip


# --- the page


def page(answer: DiffReport) -> Page:
    """Return the page for people."""
    one, other = answer.comparison.sides
    blocks: list[Block] = [Text([note]) for note in answer.notes]
    blocks.append(Text(_summary(answer)))
    blocks += section("Files", _files(answer))
    blocks += section("Definitions", definition_blocks(answer))
    blocks += section("Dependencies", _dependencies(answer))
    blocks += section("Cycles", _cycles(answer))
    blocks += section("Tests", _tests(answer))
    blocks += section("Findings", _findings(answer))
    blocks += section("Pages to Re-read", _pages(answer))
    return Page(Ref(To.INDEX, ""), ["What changed: ", Mono(one.name), " → ", Mono(other.name)], blocks)


def section(title: str, blocks: Sequence[Block]) -> list[Block]:
    """Return blocks under a heading; nothing if there are none."""
    return [Heading(2, [title]), *blocks] if blocks else []


def _summary(answer: DiffReport) -> list[Piece]:
    pieces: list[Piece] = []
    groups: tuple[tuple[str, Iterable[ChangeRow]], ...] = (
        ("files", answer.files), ("definitions", answer.symbols), ("dependencies", answer.dependencies),
        ("folder dependencies", answer.folders), ("cycles", answer.cycles), ("tests", answer.touched),
        ("findings", answer.findings),
    )  # fmt: skip
    for name, group in groups:
        counts = Counter(row.change for row in group)
        if counts:
            changes = ", ".join(f"{number:,} {change}" for change, number in counts.most_common())
            pieces.append(f"{name}: {changes}")
    if answer.may_run:
        pieces.append(f"{count_noun(len(answer.may_run), 'unchanged test')} may run changed code")
    return [*_join_pieces(pieces), "."] if pieces else ["No differences."]


def _join_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        joined += ["; ", piece] if joined else [piece]
    return joined


def _files(answer: DiffReport) -> list[Block]:
    items = []
    for row in answer.files:
        if row.change == "changed" and not (row.why and row.kind != "file"):
            continue
        old = str((row.before or {}).get("path", ""))
        pieces: list[Piece] = [f"{row.change}: "]
        pieces += [Mono(old), " → "] if row.change == "renamed" else []
        pieces += [_file(answer, row.path), f" ({row.why})" if row.why else ""]
        items.append(Item(pieces))
    return truncated_list(items)


def truncated_list(items: list[Item]) -> list[Block]:
    """Return a list; a very long one is cut, with the number of what is left out."""
    if not items:
        return []
    more = len(items) - _MAX_ITEMS
    return [Items(items[:_MAX_ITEMS]), *([Text([f"And {more:,} more: see --json for all."])] if more > 0 else [])]


def _file(answer: DiffReport, path: str) -> Piece:
    return Ref(To.FILE, path, "", path) if path in answer.comparison.sides[1].entries else Mono(path)


# --- definitions


def definition_blocks(answer: DiffReport) -> list[Block]:
    """Return the changes of definitions, by file."""
    by_file: dict[str, list[ChangeRow]] = {}
    for row in answer.symbols:
        by_file.setdefault(row.path, []).append(row)
    reads = (read for pair in answer.comparison.pairs for read in (pair.before, pair.after) if read is not None)
    categories = {read.file.path: read.file.category for read in reads}
    ordered = sorted(by_file, key=lambda path: (category_rank(categories.get(path, "")), path))
    blocks: list[Block] = []
    for path in ordered[:_MAX_ITEMS]:
        blocks += [Heading(3, [_file(answer, path)]), Items(_items(by_file[path]))]
    if len(ordered) > _MAX_ITEMS:
        blocks.append(Text([f"And {count_noun(len(ordered) - _MAX_ITEMS, 'more file')}: see --json for all."]))
    return blocks


def _items(rows: list[ChangeRow]) -> list[Item]:
    """Return the items of one file: members join their added or removed container, small definitions share an item."""
    whole = {(row.change, row.qualified) for row in rows if row.change in ("added", "removed")}
    inside: Counter[tuple[str, str]] = Counter()
    small: dict[str, list[ChangeRow]] = {}
    alone: list[ChangeRow] = []
    for row in rows:
        around = _enclosing_change(row, whole)
        if around:
            inside[around] += 1
        elif row.change in ("added", "removed") and row.kind in _SMALL_KINDS:
            small.setdefault(f"{row.change} {row.kind}", []).append(row)
        else:
            alone.append(row)
    items = [Item(_line(row, inside[row.change, row.qualified])) for row in alone]
    for words, group in small.items():
        named: list[Piece] = [_piece for row in group[:_MAX_NAMED] for _piece in (Mono(row.qualified),)]
        more = f" and {len(group) - _MAX_NAMED:,} more" if len(group) > _MAX_NAMED else ""
        items.append(Item([f"{words}{'s' if len(group) > 1 else ''}: ", *join_with_commas(named), more]))
    return items


def _enclosing_change(row: ChangeRow, whole: set[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the added or removed definition that contains another one."""
    if row.change not in ("added", "removed"):
        return None
    parts = row.qualified.replace("::", ".").split(".")
    for end in range(1, len(parts)):
        for sign in (".", "::"):
            group = (row.change, sign.join(parts[:end]))
            if group in whole:
                return group
    return None


def _line(row: ChangeRow, inside: int) -> list[Piece]:
    before, after = row.before or {}, row.after or {}
    name: list[Piece] = [f"{row.kind} ", Strong(row.qualified)]
    where: list[Piece] = [_place_words(before, after)]
    if row.change in ("added", "removed"):
        within = f", with {count_noun(inside, 'definition')} in it" if inside else ""
        signature = str((after or before).get("signature", ""))
        return [f"{row.change} ", *name, ": ", Mono(signature), within, *where]
    if row.change in ("moved", "renamed"):
        return [f"{row.change} ", *name, f" {row.why}", *where]
    if row.change in ("signature", "value"):
        old, new = str(before.get("signature", "")), str(after.get("signature", ""))
        pieces: list[Piece] = [": ", Mono(old), " → ", Mono(new)] if old != new else []
        return [f"{_VERBS[row.change]} of ", *name, f" ({row.why})" if row.why else "", *pieces, *where]
    return [f"{_VERBS[row.change]} of ", *name, f" ({row.why})" if row.why else "", *where]


def _place_words(before: rows.ChangePlace, after: rows.ChangePlace) -> str:
    if before and after and before["line"] != after["line"]:
        return f" (line {before['line']} → {after['line']})"
    return f" (line {(after or before)['line']})"


# --- the rest


def _dependencies(answer: DiffReport) -> list[Block]:
    items = []
    for row in (*answer.folders, *answer.dependencies):
        place = row.after or row.before or {}
        line = f" (line {place['line']})" if "line" in place else ""
        ends: list[Piece] = [Mono(str(place["from"])), " → ", Mono(str(place["to"]))]
        what = "folder " if row.kind == "folder dependency" else ""
        items.append(Item([f"{row.change}: {what}", *ends, line, f": {row.why}" if row.why else ""]))
    return truncated_list(items)


def _cycles(answer: DiffReport) -> list[Block]:
    items = []
    for row in answer.cycles:
        place = row.after or row.before or {}
        members = place["files"]
        paths = [str(member) for member in members] if isinstance(members, list) else []
        more = f" and {len(paths) - _MAX_NAMED:,} more" if len(paths) > _MAX_NAMED else ""
        items.append(
            Item([f"{row.change}: {row.why}: ", *join_with_commas([Mono(path) for path in paths[:_MAX_NAMED]]), more])
        )
    return truncated_list(items)


def _tests(answer: DiffReport) -> list[Block]:
    blocks: list[Block] = []
    if answer.touched:
        items = [
            Item(
                [
                    f"{row.change}: ",
                    _file(answer, row.path),
                    " ",
                    Mono(row.qualified),
                    f" ({row.why})" if row.why else "",
                ]
            )
            for row in answer.touched
        ]
        blocks += truncated_list(items)
    by_file: dict[str, list[ChangeRow]] = {}
    for row in answer.may_run:
        by_file.setdefault(row.path, []).append(row)
    if by_file:
        number = count_noun(len(answer.may_run), "unchanged test")
        blocks.append(Text([f"{number} may run changed code, most direct first:"]))
        items = [_test(answer, path, group) for path, group in list(by_file.items())[:_NAMED]]
        blocks.append(Items(items))
        if len(by_file) > _NAMED:
            blocks.append(Text([f"And those of {count_noun(len(by_file) - _NAMED, 'more file')}: see --json for all."]))
    return blocks


def _test(answer: DiffReport, path: str, group: list[ChangeRow]) -> Item:
    first = group[0]
    more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
    name: list[Piece] = [": ", Mono(first.qualified)] if first.qualified else []
    return Item([_file(answer, path), *name, f" {first.why}{more}"])


def _findings(answer: DiffReport) -> list[Block]:
    items = []
    for row in answer.findings:
        place = row.after or row.before or {}
        head: list[Piece] = [f"{row.change}: ", Mono(str(place["rule"])), " in ", _file(answer, row.path)]
        items.append(Item([*head, f" line {place['line']}: {row.why}"]))
    return truncated_list(items)


def _pages(answer: DiffReport) -> list[Block]:
    items = [Item([Ref(ref.to, ref.path, "", ref.path or "the repository"), f": {why}"]) for ref, why in answer.pages]
    return truncated_list(items)
