"""Finds where symbols are used: the files, and in each file the names that refer to them.

In: symbols. Out: files in the order of an answer (those that define the symbols first, then source before tests, then
those with most uses), and the uses in each. The store knows which files use a symbol and how often, so that only the
files on the requested page of the answer are opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from concordance.base.blocks import count_noun
from concordance.base.model import Target, Trust
from concordance.facts.read import SymbolPlace
from concordance.query.answers import AnswerPage, WrongCursor, category_rank
from concordance.query.index.open_file import LinkedTarget, OpenFile
from concordance.query.index.repository import Index

MAX_EXACT_FILES = 40  # up to this many files are opened to count exactly, if the store only has an estimate


class Reference(NamedTuple):
    """One name that refers to one of the symbols."""

    file: OpenFile
    place: int  # the number of the occurrence in its file
    claim: LinkedTarget


class ReferencePage(NamedTuple):
    """One page of uses."""

    rows: list[Reference]
    total: int
    cursor: str


def uses_of(index: Index, symbols: Collection[SymbolPlace], least: int, page: AnswerPage) -> ReferencePage:
    """Return the uses of the given symbols with at least this trust.

    A cursor consists of a number of files to skip and a number of uses to skip in the next file.
    """
    targets = frozenset(symbol.id for symbol in symbols)
    files = using_files(index, symbols, least)
    # A name that refers to two of the symbols is one use, and a guess does not count beside a better claim. Only the
    # file knows these cases, so the store's counts are used for a single symbol without guesses, or if there are too
    # many files to open.
    sure = len(files) > MAX_EXACT_FILES or (len(targets) == 1 and least == Trust.UNIQUE_NAME)
    skipped, begun = _from_cursor(page.cursor, len(files))
    rows: list[Reference] = []
    total, cursor = 0, ""
    for number, (path, times) in enumerate(files):
        if sure and (number < skipped or len(rows) == page.limit):
            if number >= skipped and times and not cursor:
                cursor = f"{number}.0"
            total += times
            continue
        file = index.open_file(path)
        uses = uses_in_file(file, targets, least)
        total += len(uses)
        if number < skipped or (cursor and len(rows) == page.limit):
            continue
        first = begun if number == skipped else 0
        room = page.limit - len(rows)
        rows += [Reference(file, place, claim) for place, claim in list(uses.items())[first : first + room]]
        if len(uses) > first + room:
            cursor = f"{number}.{first + room}"
    return ReferencePage(rows, total, cursor)


def _from_cursor(cursor: str, files: int) -> tuple[int, int]:
    if not cursor:
        return 0, 0
    parts = cursor.split(".")
    if len(parts) != 2 or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise WrongCursor(cursor)
    if int(parts[0]) >= max(1, files):
        raise WrongCursor(cursor)
    return int(parts[0]), int(parts[1])


def using_files(index: Index, symbols: Collection[SymbolPlace], least: int) -> list[tuple[str, int]]:
    """Return the files that use some symbols with their numbers of uses (an estimate if there are several symbols)."""
    own = {symbol.path for symbol in symbols}
    sure: dict[int, bool] = {}
    times: dict[int, int] = {}
    for user, _, trust, often in index.facts.uses(symbol.id for symbol in symbols):
        if trust >= least:
            file = index.owners[user]
            times[file] = times.get(file, 0) + often
            if trust:
                sure[file] = True

    def key(file: int) -> tuple[object, ...]:
        path = index.paths_by_id[file]
        return file not in sure, path not in own, category_rank(index.category_of(path)), -times[file], path

    return [(index.paths_by_id[file], times[file]) for file in sorted(times, key=key)]


def uses_in_file(file: OpenFile, targets: frozenset[int], least: int) -> dict[int, LinkedTarget]:
    """Return the occurrences in a file that refer to the symbols, in the order of the text, without definitions."""
    claims = file.expressions_linked_to(targets, least)
    return {place: claims[file.expression(place)] for place in file.occurrences_of(claims)} if claims else {}


def add_unresolved_note(index: Index, note: str, names: Iterable[str], noun: str) -> str:
    """Add to a note how many calls or uses of a name could not be resolved."""
    for name in dict.fromkeys(names):
        calls, uses = index.facts.unresolved_count(name)
        count = calls if noun == "calls" else uses
        if count:
            sentence = f"{count_noun(count, noun[:-1])} of the name {name} could not be resolved"
            note = f"{note}; {sentence}" if note else sentence
    return note


def import_target(index: Index, target: Target | None, named: int) -> str:
    """Return the path of the file that an import refers to; "" if it is outside the repository.

    `from a import b` refers to the file of `b` if `b` is a module, and to that of `a` if `b` is a name in it.
    """
    if named:
        path = index.path_of_file(named)
        if path:
            return path
    return target.paths[0] if target is not None and target.paths else ""
