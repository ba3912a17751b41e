"""What one worker does to compare files of two revisions.

In: pairs of a file as it was and as it is. Out: what differs in each, and what is on one side only. Contents come from
git's own objects, or from the disk where a side is the work tree; what was read before is known by its content.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.errors import Unreadable
from concordance.base.model import Entry, FileFacts, Skip
from concordance.collect import walk
from concordance.collect.revisions import Blobs, Side
from concordance.extract import engine, ruleset, test_detection
from concordance.extract.cfamily import macros
from concordance.facts.codec import unpack
from concordance.query.diff.comparison import Read
from concordance.query.diff.dependencies import waits
from concordance.query.diff.moves import Gone
from concordance.query.diff.symbol_pairs import Changed, differs, paired
from concordance.query.diff.symbols import Part, digests, outside, parts, split
from concordance.workflow.stages import extract
from concordance.workflow.workers import forked


class Work(NamedTuple):
    """Two files that are compared, or one that is only read."""

    number: int
    before: Entry | None
    after: Entry | None
    compared: bool = True
    slim: bool = False  # whether lines are left out of what is on one side only: there would be too many


class Scanned(NamedTuple):
    """What must be known of a file before any can be read: the macros in it, and its lines."""

    side: int
    path: str
    learned: macros.Learned
    lines: tuple[int, ...]


class Compared(NamedTuple):
    """What came of a pair."""

    number: int
    before: Read | None
    after: Read | None
    changed: list[Changed]
    gone: Gone
    outside: bool
    fresh: list[tuple[bytes, bytes]]  # for the cache


@dataclass
class Desk:
    """What every worker has at hand."""

    root: str
    sides: tuple[Side, Side]
    config: Config
    jobs: tuple[extract.Job, ...] = ()

    @cached_property
    def blobs(self) -> Blobs:
        """Git's contents; each process has a git of its own."""
        return Blobs(self.root)

    def close(self) -> None:
        """Lets go of git."""
        if "blobs" in self.__dict__:
            self.blobs.close()

    def data(self, side: int, entry: Entry) -> bytes:
        """A file's bytes; Unreadable where they cannot be had, or are too many."""
        if entry.size > self.config.largest:
            raise Unreadable(entry.path, f"{entry.size:,} bytes; at most {self.config.largest:,} are read")
        if not self.sides[side].commit:
            return walk.read(self.root, entry)
        return self.blobs.get(entry.blob)


@cache
def macro_endings() -> tuple[str, ...]:
    """How the names of files end that define macros for others."""
    return tuple(e for language in engine.languages() if language.has_macros for e in language.extensions)


def scan(items: list[tuple[int, Entry]]) -> list[Scanned]:
    """Looks through files before any are read."""
    desk: Desk = forked.desk()
    found = []
    for side, entry in items:
        try:
            data = desk.data(side, entry)
        except Unreadable:
            continue  # comparing it says why
        learned = macros.learn(data, entry.path) if entry.path.endswith(macro_endings()) else ()
        lines = () if b"\0" in data[:8192] else digests(split(data.decode("utf-8", "replace")))
        found.append(Scanned(side, entry.path, learned, tuple(lines)))
    return found


def compare(works: list[Work]) -> list[Compared]:
    """Reads and compares files."""
    desk: Desk = forked.desk()
    return [_compared(desk, work) for work in works]


def _compared(desk: Desk, work: Work) -> Compared:
    halves = [_half(desk, side, entry) for side, entry in enumerate((work.before, work.after))]
    fresh = [half.fresh for half in halves if half is not None and half.fresh is not None]
    before, after = (half.read if half is not None else None for half in halves)
    if not work.compared:
        return Compared(work.number, before, after, [], Gone([], []), False, fresh)
    sets = [half.parts() if half is not None else [] for half in halves]
    found = paired(sets[0], sets[1])
    changed = [Changed(_slim(one), _slim(other), what) for one, other in found.pairs if (what := differs(one, other))]
    loose = len({half.outside() for half in halves if half is not None}) > 1
    gone = Gone(found.removed, found.added)
    if work.slim:
        gone = Gone([_slim(part) for part in gone.removed], [_slim(part) for part in gone.added])
    return Compared(work.number, before, after, changed, gone, loose, fresh)


def _slim(part: Part) -> Part:
    return part._replace(lines=())


class _Half(NamedTuple):
    read: Read
    facts: FileFacts
    text: str
    tests: frozenset[int]
    fresh: tuple[bytes, bytes] | None

    def parts(self) -> list[Part]:
        return parts(self.read.file.path, self.read.file.language, self.facts, self.text, self.tests)

    def outside(self) -> int:
        return outside(self.facts, self.text, self.read.file.language)


def _half(desk: Desk, side: int, entry: Entry | None) -> _Half | None:
    if entry is None:
        return None
    data = b""
    try:
        if entry.skip is Skip.NONE:
            data = desk.data(side, entry)
    except Unreadable as error:
        entry = entry._replace(skip=Skip.UNREADABLE, note=error.reason)
    reading, text = extract.of_bytes(desk.jobs[side], entry, data)
    if not reading.packed:
        return _Half(Read(reading.file), FileFacts(), "", frozenset(), None)
    facts, file = unpack(reading.packed), reading.file
    imports = tuple((one, waits(one, facts.scopes)) for one in facts.imports)
    findings = tuple(one for one in facts.findings if one.everywhere or file.category not in ruleset.TRIALS)
    tests = frozenset(test_detection.places(facts, file.language, file.category, file.path))
    fresh = None if reading.cached or not reading.key else (reading.key, extract.kept(reading))
    return _Half(Read(file, imports, findings, len(facts.symbols), facts.doc.strip()), facts, text, tests, fresh)
