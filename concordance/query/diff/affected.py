"""Finds what a change affects: tests to run, and pages of the book to read again.

In: the changes of definitions and files, and the store of the work tree. Out: rows, most affected first. Definitions
are looked up in the store by path and key, so that tests and users are those of the work tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concordance.base.blocks import Ref, To, count_noun
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category
from concordance.query.answers import full_name
from concordance.query.diff.comparison import Comparison
from concordance.query.diff.rows import ChangeRow, SymbolChanges
from concordance.query.diff.symbols import ComparableSymbol
from concordance.query.index.graphs.reachability import explain_paths, find_reaching, places, test_command
from concordance.query.index.graphs.test_directness import changed_subject
from concordance.query.index.repository import Index

_EDGES = 1_000_000  # edges that the walk to tests looks at: a few tenths of a second
_RUN = frozenset((*EXECUTABLE_KINDS, *TYPE_KINDS))
_WEIGHTS = {"removed": 3.0, "signature": 3.0, "renamed": 3.0, "moved": 2.0, "added": 2.0, "value": 1.0, "body": 1.0,
            "doc": 1.0, "changed": 0.5, "gained": 0.5, "lost": 0.5}  # fmt: skip
_INTERFACE_CHANGES = frozenset(("removed", "signature", "renamed", "moved", "value"))  # what users of a definition see
_REASONS = 4  # reasons that are shown for one page
_SHARE = 0.25  # weight of a file's changes for the page of its folder


class DefinitionLookup:
    """Looks up definitions of both sides in the store of the work tree."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._keys: dict[str, dict[str, int]] = {}

    def ids(self, parts: Iterable[ComparableSymbol | None]) -> list[int]:
        """Return the id of the first of the given definitions that is in the store; empty if none is."""
        for part in parts:
            ids = self._by_key(part.path).get(part.key) if part is not None else None
            if ids is not None:
                return [ids]
        return []

    def _by_key(self, path: str) -> dict[str, int]:
        if path not in self._keys:
            self._keys[path] = {place.key: place.id for place in self._index.facts.symbols_in(path)}
        return self._keys[path]


class AffectedTests(NamedTuple):
    """Tests that were changed, and tests that may run what was changed."""

    touched: list[ChangeRow]
    may_run: list[ChangeRow]  # most direct first
    note: str


def find_affected_tests(index: Index, symbols: SymbolChanges) -> AffectedTests:
    """Return the tests that a change affects, most direct first."""
    touched = [
        ChangeRow(
            "changed",
            "test",
            change.after.path,
            change.after.qualified,
            {"line": change.before.line},
            {"line": change.after.line},
            ", ".join(change.what) or "moved or renamed",
        )
        for change in symbols.changed
        if change.after.test
    ]
    touched += [
        ChangeRow("added", "test", symbol.path, symbol.qualified, None, {"line": symbol.line})
        for symbol in symbols.added
        if symbol.test
    ]
    touched += [
        ChangeRow("removed", "test", symbol.path, symbol.qualified, {"line": symbol.line})
        for symbol in symbols.removed
        if symbol.test
    ]
    store = DefinitionLookup(index)
    starts: dict[int, None] = {}
    for change in symbols.changed:
        if set(change.what) != {"doc"} and change.after.kind in _RUN and not change.after.test:
            starts.update(dict.fromkeys(store.ids((change.after, change.before))))
    for part in (*symbols.added, *symbols.removed):
        if part.kind in _RUN and not part.test:
            starts.update(dict.fromkeys(store.ids((part,))))
    reached, walk = find_reaching(index, list(starts), Category.TEST, _EDGES)
    first = {row.id: row for row in reversed(reached)}
    subject = changed_subject(index, list(places(index, starts).values()))
    tests = [first[test.id] for test in subject.rank((row.id, row.steps) for row in first.values())]
    known = places(index, first)
    own = {(row.path, row.qualified) for row in touched}
    rows = []
    for row, why in zip(tests, explain_paths(index, tests, walk), strict=True):
        place = known[row.id]
        name = full_name(place) if place.name else ""
        if (place.path, name) not in own:
            after = {"line": place.line, "run": test_command(index, place), "steps": row.steps}
            rows.append(ChangeRow("may run", "test", place.path, name, None, after, why))
    note = "" if walk.whole else f"the search stopped after {_EDGES:,} uses: tests farther away are not listed"
    return AffectedTests(sorted(touched, key=lambda row: (row.path, row.qualified)), rows, note)


# --- pages


class AffectedPages:
    """Collects how much each page is affected, and why."""

    def __init__(self) -> None:
        self.scores: Counter[Ref] = Counter()
        self.whys: dict[Ref, Counter[str]] = {}

    def add(self, ref: Ref, score: float, why: str) -> None:
        """Add a reason."""
        self.scores[ref] += score  # type: ignore[assignment]
        self.whys.setdefault(ref, Counter())[why] += 1

    def rows(self) -> list[tuple[Ref, str]]:
        """Return pages with their reasons, most affected first."""
        ordered = sorted(self.scores, key=lambda ref: (-self.scores[ref], ref))
        return [(ref, _reasons(self.whys[ref])) for ref in ordered]


def _reasons(whys: Counter[str]) -> str:
    reasons = [_times(why, count) for why, count in whys.most_common(_REASONS)]
    more = len(whys) - _REASONS
    return "; ".join([*reasons, count_noun(more, "more reason")] if more > 0 else reasons)


def _times(why: str, count: int) -> str:
    return (
        f"{why} ({count:,} times)"
        if count > 1 and why.startswith("uses")
        else f"{count:,} × {why}"
        if count > 1
        else why
    )


def find_affected_pages(
    index: Index,
    comparison: Comparison,
    files: Sequence[ChangeRow],
    symbols: SymbolChanges,
    folders: Sequence[ChangeRow],
) -> list[tuple[Ref, str]]:
    """Return the pages to read again: of changed files, of users of what changed, and of the enclosing folders."""
    pages = AffectedPages()
    after = comparison.sides[1].entries
    there = _folders(after)
    weights: Counter[str] = Counter()
    for row in files:
        if row.path in after:
            score = _WEIGHTS.get(row.change, 0.5)
            pages.add(
                Ref(To.FILE, row.path), score, f"file {row.change}" if row.change != "changed" else _file_reason(row)
            )
        if row.change in ("added", "removed", "renamed"):
            page = _nearest(row.path, there)
            pages.add(Ref(To.FOLDER, page), 2.0, f"file {row.change}")
        weights[row.path] += 1
    for row in symbols.rows:
        if row.path in after:
            pages.add(Ref(To.FILE, row.path), _WEIGHTS[row.change], _CHANGE_PHRASES[row.change])
        weights[row.path] += 1
    for row in folders:
        ends = (row.after or row.before or {}).values()
        for folder in {str(end) for end in ends if isinstance(end, str)}:
            page = _nearest(f"{folder}/x" if folder != "." else "x", there)
            pages.add(Ref(To.FOLDER, page), 2.0, f"dependency {row.change}: {row.qualified}")
    for path, weight in weights.items():
        pages.add(Ref(To.FOLDER, _nearest(path, there)), _SHARE * weight, "file in it changed")
    _users(index, comparison, symbols, pages)
    return pages.rows()


_CHANGE_PHRASES = {"removed": "definition removed", "added": "definition added", "signature": "signature changed",
         "renamed": "definition renamed", "moved": "definition moved here", "value": "value changed",
         "body": "body changed", "doc": "documentation changed"}  # fmt: skip


def _file_reason(row: ChangeRow) -> str:
    return row.why or "text changed"


def _nearest(path: str, folders: frozenset[str]) -> str:
    """Return the folder of a path, or its nearest parent that still exists."""
    folder = path.rpartition("/")[0]
    while folder not in folders:
        folder = folder.rpartition("/")[0]
    return folder


def _folders(paths: Iterable[str]) -> frozenset[str]:
    folders = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(folders)


def _users(index: Index, comparison: Comparison, symbols: SymbolChanges, pages: AffectedPages) -> None:
    """Add the pages of files that use definitions whose interface changed."""
    store, after = DefinitionLookup(index), comparison.sides[1].entries
    seen: list[tuple[list[int], str, str, str]] = []
    moved = {(row.path, row.qualified): row.change for row in symbols.rows if row.change in ("moved", "renamed")}
    for changed in symbols.changed:
        change = moved.get((changed.after.path, changed.after.qualified)) or next(
            (w for w in changed.what if w in _INTERFACE_CHANGES), ""
        )
        if change:
            seen.append(
                (store.ids((changed.after, changed.before)), changed.after.qualified, change, changed.after.path)
            )
    seen += [(store.ids((part,)), part.qualified, "removed", part.path) for part in symbols.removed]
    for ids, name, change, defined_in in seen:
        users = {index.path_of(user) for identity in ids for user, _, _ in index.facts.users(identity)}
        for path in sorted(users - {defined_in}):
            if path in after:
                pages.add(Ref(To.FILE, path), 0.5, f"uses {name}, {_CHANGE_CLAUSES[change]}")


_CHANGE_CLAUSES = {
    "removed": "which was removed",
    "signature": "whose signature changed",
    "renamed": "which was renamed to this",
    "moved": "which moved",
    "value": "whose value changed",
}
