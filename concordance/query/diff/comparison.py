"""Data types for the two sides of a comparison, as they are passed to the code that assembles the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from concordance.base.config import Roots
from concordance.base.model import File, Finding, Import, ListedFile
from concordance.collect.revisions import Side
from concordance.query.diff.moves import UnpairedSymbols
from concordance.query.diff.symbol_pairs import ChangedSymbol


class ReadFile(NamedTuple):
    """One file of one side, without its symbols."""

    file: File
    imports: tuple[tuple[Import, bool], ...] = ()  # and whether the import is deferred
    findings: tuple[Finding, ...] = ()
    symbols: int = 0
    doc: str = ""


class FilePair(NamedTuple):
    """A file before and after, or on one side only."""

    before: ReadFile | None
    after: ReadFile | None
    changed: list[ChangedSymbol]
    unpaired: UnpairedSymbols
    outside: bool  # True if code outside of definitions differs


class Unread(NamedTuple):
    """A file that could not be compared, and why."""

    path: str
    reason: str


class Comparison(NamedTuple):
    """Both sides, and the files that differ between them."""

    sides: tuple[Side, Side]
    here: Side  # the work tree
    pairs: list[FilePair]  # the files that differ
    renamed: dict[str, str]  # the new path of each renamed file, by its old one
    differing_from_store: dict[str, ReadFile]  # files that are the same on both sides, but differ from the store
    settled: frozenset[str]  # files that are the same on both sides and in the store
    unread: list[Unread]
    ruff_problem: str
    slim: bool  # True if too much is on one side only to find moves of changed text
    data: Callable[[int, ListedFile], bytes]  # reads a file of a side
    roots: Roots
