"""What reading both sides gave, as it is handed to whoever puts the answer together. Nothing here computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from concordance.base.config import Roots
from concordance.base.model import File, Finding, Import, ListedFile
from concordance.collect.revisions import Side
from concordance.query.diff.moves import RemovedSymbols
from concordance.query.diff.symbol_pairs import ChangedSymbol


class ReadFile(NamedTuple):
    """One file of one side, without its symbols."""

    file: File
    imports: tuple[tuple[Import, bool], ...] = ()  # and whether it waits until something is called
    findings: tuple[Finding, ...] = ()
    symbols: int = 0
    doc: str = ""


class FilePair(NamedTuple):
    """A file before and after: on both sides, or on one alone."""

    before: ReadFile | None
    after: ReadFile | None
    changed: list[ChangedSymbol]
    gone: RemovedSymbols
    outside: bool  # whether code differs that stands in no definition


class Unread(NamedTuple):
    """A file that could not be compared, and why."""

    path: str
    reason: str


class Comparison(NamedTuple):
    """Both sides."""

    sides: tuple[Side, Side]
    here: Side  # the work tree
    pairs: list[FilePair]  # the files that differ
    renamed: dict[str, str]  # files that have another path: before and after
    beside: dict[str, ReadFile]  # files that are the same on both sides, but not as in the store
    settled: frozenset[str]  # files that are the same on both sides and as in the store
    unread: list[Unread]
    ruff_problem: str
    slim: bool  # whether there is so much of one side only that moved text must be the same to be found
    data: Callable[[int, ListedFile], bytes]  # the bytes of a file of a side
    roots: Roots
