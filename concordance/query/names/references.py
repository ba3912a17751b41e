"""Where symbols are used: files, and in each file the names that mean them.

In: symbols. Out: files in the order of an answer (those that define them first, source before tests,
those that use them most first), and the uses in each. The store says which files there are and how
often each uses them, so that only the files of the page that is asked for are opened.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable
from typing import NamedTuple

from concordance.base.model import Target, Trust
from concordance.facts.read import Place
from concordance.query.answers import AnswerPage, WrongCursor, rank_of
from concordance.query.index.open_file import Claim, OpenFile
from concordance.query.index.repository import Index

EXACTLY = 40  # files that are opened for their number of uses, where the store can only say it about


class Reference(NamedTuple):
    """One name that means one of the symbols."""

    file: OpenFile
    place: int  # of the name among the file's
    claim: Claim


class ReferencePage(NamedTuple):
    """A page of uses."""

    rows: list[Reference]
    total: int
    cursor: str


def uses_of(index: Index, symbols: Collection[Place], least: int, page: AnswerPage) -> ReferencePage:
    """The uses of some symbols with so much trust. A cursor is a number of files, and of uses in the file behind
    them."""
    targets = frozenset(symbol.id for symbol in symbols)
    files = files_of(index, symbols, least)
    # A name that means two of the symbols is one use, and a guess is not counted beside better: the file knows.
    sure = len(files) > EXACTLY or (len(targets) == 1 and least == Trust.UNIQUE_NAME)
    skipped, begun = _from_cursor(page.cursor, len(files))
    rows: list[Reference] = []
    total, cursor = 0, ""
    for number, (path, times) in enumerate(files):
        if sure and (number < skipped or len(rows) == page.limit):
            if number >= skipped and times and not cursor:
                cursor = f"{number}.0"
            total += times
            continue
        file = index.opened(path)
        found = uses_in(file, targets, least)
        total += len(found)
        if number < skipped or (cursor and len(rows) == page.limit):
            continue
        first = begun if number == skipped else 0
        room = page.limit - len(rows)
        rows += [Reference(file, place, claim) for place, claim in list(found.items())[first : first + room]]
        if len(found) > first + room:
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


def files_of(index: Index, symbols: Collection[Place], least: int) -> list[tuple[str, int]]:
    """The files that use some symbols, in the order of an answer, with how often; of several symbols, about."""
    own = {symbol.path for symbol in symbols}
    sure: dict[int, bool] = {}
    times: dict[int, int] = {}
    starts = index.starts
    for user, _, trust, often in index.facts.uses(symbol.id for symbol in symbols):
        if trust >= least:
            file = bisect_right(starts, user) - 1
            times[file] = times.get(file, 0) + often
            if trust:
                sure[file] = True

    def key(file: int) -> tuple[object, ...]:
        _, path, _, category = index.bases[file]
        return file not in sure, path not in own, rank_of(category), -times[file], path

    return [(index.bases[file][1], times[file]) for file in sorted(times, key=key)]


def uses_in(file: OpenFile, targets: frozenset[int], least: int) -> dict[int, Claim]:
    """The places of the names in a file that mean some symbols, in the order of the text; without definitions."""
    claims = file.claimed(targets, least)
    return {place: claims[file.expression(place)] for place in file.where(claims)} if claims else {}


def with_missed(index: Index, note: str, names: Iterable[str], what: str) -> str:
    """A note, and how many calls or uses of a name lead to no definition that is known."""
    for name in dict.fromkeys(names):
        calls, uses = index.facts.missed(name)
        count = calls if what == "calls" else uses
        if count:
            said = f"{count:,} {what if count != 1 else what[:-1]} of the name {name} could not be resolved"
            note = f"{note}; {said}" if note else said
    return note


# ---
# Which file an import means.
#
# In: what the link stage found for an import. Out: a path. `from a import b` means the file of `b` where `b` is a
# module, and that of `a` where `b` is a name in it.


def target_of(index: Index, target: Target | None, named: int) -> str:
    """The path of the file that an import means; "" where it is none of the repository's."""
    if named:
        path = index.path_of_base(named)
        if path:
            return path
    return target.paths[0] if target is not None and target.paths else ""
