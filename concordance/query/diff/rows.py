"""Lists the changes between two revisions as rows: each change, with its place before and after.

In: a `Comparison`. Out: `ChangeRow`s by section. One symbol may have several rows, for instance if it was moved and its
signature changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from concordance.base.model import Category, File, Finding, Skip
from concordance.extract import ruleset
from concordance.query.diff.comparison import Comparison, FilePair, ReadFile
from concordance.query.diff.dependencies import DependencyChange
from concordance.query.diff.moves import MovedSymbols, find_moves
from concordance.query.diff.symbol_pairs import ChangedSymbol, differing_aspects
from concordance.query.diff.symbols import ComparableSymbol
from concordance.query.index.findings import active_rules
from concordance.query.index.repository import Index

ChangePlace = dict[str, object]


class ChangeRow(NamedTuple):
    """One change."""

    change: str
    kind: str
    path: str  # the path after the change, or before it if the thing was removed
    qualified: str = ""
    before: ChangePlace | None = None
    after: ChangePlace | None = None
    why: str = ""


class SymbolChanges(NamedTuple):
    """The changes of definitions."""

    rows: list[ChangeRow]
    changed: list[ChangedSymbol]  # symbols on both sides that differ, or were moved or renamed
    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


# --- files


def file_rows(comparison: Comparison) -> list[ChangeRow]:
    """Return files that were added, removed, renamed or changed, and those that could not be compared."""
    rows = [_file(pair) for pair in comparison.pairs]
    rows += [ChangeRow("not compared", "file", unread.path, why=unread.reason) for unread in comparison.unread]
    return sorted(rows, key=lambda row: (_FILES.index(row.change), row.path))


_PROSE = frozenset((Category.DOCUMENTATION, Category.DATA))
_FILES = ("added", "removed", "renamed", "changed", "not compared")


def _file(pair: FilePair) -> ChangeRow:
    before, after = pair.before, pair.after
    old, new = (_ledger(read.file) if read is not None else None for read in (before, after))
    if before is None or after is None:
        read = after or before
        assert read is not None  # noqa: S101 - it is on at least one side
        return ChangeRow(
            "removed" if after is None else "added",
            _kind(read.file),
            read.file.path,
            "",
            old,
            new,
            _change_reason(read.file),
        )
    moved = before.file.path != after.file.path
    why = ""
    if before.file.skip != after.file.skip:
        why = f"{_state(before.file)} before, {_state(after.file)} now"
    elif after.file.skip:
        why = after.file.note if before.file.note == after.file.note else f"{before.file.note} → {after.file.note}"
    elif moved and before.file.digest == after.file.digest:
        why = "same content"
    elif before.doc.split() != after.doc.split():
        why = "documentation of the file"
    if pair.outside and after.file.category not in _PROSE:
        why = f"{why}; code outside of definitions" if why else "code outside of definitions"
    return ChangeRow("renamed" if moved else "changed", _kind(after.file), after.file.path, "", old, new, why)


def _ledger(file: File) -> ChangePlace:
    return {"path": file.path, "lines": file.lines, "size": file.size, "language": file.language}


def _kind(file: File) -> str:
    return str(file.skip) if file.skip in (Skip.SYMLINK, Skip.SUBMODULE) else "file"


def _state(file: File) -> str:
    return str(file.skip).replace("_", " ") if file.skip else "text"


def _change_reason(file: File) -> str:
    return file.note if file.skip else ""


# --- definitions


def symbol_changes(comparison: Comparison) -> SymbolChanges:
    """Return definitions that were added, removed, moved or renamed, and the differences of the others."""
    moves = find_moves([pair.unpaired for pair in comparison.pairs], comparison.renamed)
    changed = [change for pair in comparison.pairs for change in pair.changed]
    rows = [_change_row("moved", *pair, f"from {_former_place(*pair)}") for pair in moves.moved]
    rows += [_change_row("renamed", *pair, f"from {_former_place(*pair)}") for pair in moves.renamed]
    pairs = [*moves.moved, *moves.renamed, *moves.inside]
    changed += [ChangedSymbol(before, after, differing_aspects(before, after)) for before, after in pairs]
    rows += [row for change in changed for row in _differences(change)]
    rows += [
        ChangeRow("removed", _kind_of(part), part.path, part.qualified, _place(part), None) for part in moves.removed
    ]
    rows += [ChangeRow("added", _kind_of(part), part.path, part.qualified, None, _place(part)) for part in moves.added]
    rows.sort(key=_order)
    shown = [change for change in changed if change.what or (change.before, change.after) in _pairs(moves)]
    return SymbolChanges(rows, shown, moves.removed, moves.added)


def _pairs(moves: MovedSymbols) -> set[tuple[ComparableSymbol, ComparableSymbol]]:
    return {*moves.moved, *moves.renamed}


def _order(row: ChangeRow) -> tuple[str, int, str]:
    place = row.after or row.before or {}
    line = place.get("line")
    return row.path, line if isinstance(line, int) else 0, row.change


def _kind_of(part: ComparableSymbol) -> str:
    return part.kind


def _former_place(before: ComparableSymbol, after: ComparableSymbol) -> str:
    """Return the former place of a symbol, as far as it differs from the present one."""
    if before.path == after.path:
        return before.qualified
    return before.path if before.qualified == after.qualified else f"{before.path} ({before.qualified})"


def _place(part: ComparableSymbol) -> ChangePlace:
    return {"path": part.path, "line": part.line, "end_line": part.end_line, "signature": part.signature}


def _change_row(change: str, before: ComparableSymbol, after: ComparableSymbol, why: str) -> ChangeRow:
    return ChangeRow(change, after.kind, after.path, after.qualified, _place(before), _place(after), why)


def _differences(change: ChangedSymbol) -> Iterator[ChangeRow]:
    before, after = change.before, change.after
    for what in change.what:
        row = _change_row(what, before, after, "")
        if what == "doc":
            row = row._replace(
                before={**(row.before or {}), "doc": before.doc}, after={**(row.after or {}), "doc": after.doc},
                why="newly documented" if not before.doc else "no longer documented" if not after.doc else "",
            )  # fmt: skip
        elif what == "signature" and before.kind != after.kind:
            row = row._replace(why=f"was a {before.kind}")
        yield row


# --- dependencies, cycles, findings


def dependency_rows(changes: Iterable[DependencyChange], kind: str) -> list[ChangeRow]:
    """Return rows for gained and lost dependencies."""
    rows = []
    for one in changes:
        place: ChangePlace = {"from": one.members[0] or ".", "to": one.members[1] or "."}
        if one.line:
            place["line"] = one.line
        change, name = "gained" if one.gained else "lost", one.members[0] or "."
        before, after = (None, place) if one.gained else (place, None)
        rows.append(ChangeRow(change, kind, name, f"{name} → {place['to']}", before, after, one.why))
    return rows


def file_dependency_rows(changes: list[DependencyChange], comparison: Comparison) -> list[ChangeRow]:
    """Return dependencies between files that were gained or lost, with the reason if the user's file did not change."""
    rows, changed = [], {read.file.path for pair in comparison.pairs for read in (pair.before, pair.after) if read}
    after = comparison.sides[1].entries
    for change, row in zip(changes, dependency_rows(changes, "dependency"), strict=True):
        user, target = change.members
        reason = row.why
        if user not in changed:
            why = "its import now resolves to this target" if change.gained else "its import now resolves elsewhere"
            if not change.gained and target not in after:
                why = (
                    f"{target} was renamed, but the import was not changed"
                    if target in comparison.renamed
                    else f"{target} was removed"
                )
            reason = f"{user} did not change: {why}"
        rows.append(row._replace(why=reason))
    return rows


def cycle_rows(changes: Iterable[DependencyChange]) -> list[ChangeRow]:
    """Return cycles that appeared, grew, shrank or disappeared."""
    rows = []
    for change in changes:
        before: ChangePlace | None = {"files": list(change.before)} if change.before else None
        after: ChangePlace | None = {"files": list(change.members)} if change.members else None
        path = (change.members or change.before)[0]
        rows.append(ChangeRow("gained" if change.gained else "lost", "cycle", path, "", before, after, change.why))
    return rows


def finding_rows(index: Index, comparison: Comparison) -> list[ChangeRow]:
    """Return findings that are new or gone; a finding that only moved is neither."""
    rows = []
    for pair in comparison.pairs:
        old, new = _shown_findings(index, pair.before), _shown_findings(index, pair.after)
        for change, here, there in (("gained", new, old), ("lost", old, new)):
            left = Counter({key: len(findings) for key, findings in there.items()})
            for key, findings in here.items():
                for finding in findings[left[key] :]:
                    read = pair.after if change == "gained" else pair.before
                    assert read is not None  # noqa: S101 - it has findings
                    place: ChangePlace = {
                        "path": read.file.path, "line": finding.line, "rule": finding.by, "severity": finding.severity,
                    }  # fmt: skip
                    sides = (None, place) if change == "gained" else (place, None)
                    rows.append(
                        ChangeRow(
                            change, "finding", read.file.path, finding.subject, sides[0], sides[1], finding.message
                        )
                    )
    return rows


def _shown_findings(index: Index, read: ReadFile | None) -> Mapping[tuple[str, str], list[Finding]]:
    """Return the findings of a file by rule and message, without those that its owners turned off."""
    findings: dict[tuple[str, str], list[Finding]] = {}
    if read is None or not read.findings:
        return findings
    silent = ruleset.rules().keys() - {
        rule.id for rule in active_rules(index).checked(read.file.language, read.file.path)
    }
    for finding in read.findings:
        if finding.by not in silent:
            findings.setdefault((finding.by, finding.message), []).append(finding)
    return findings
