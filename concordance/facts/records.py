"""What is handed to the writer of the store, and what it hands on: a file as it was read, as it is linked, as it was.

In: nothing. Out: row types; nothing here computes but what two of them have to do with one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from concordance.base.model import File

# One file's macros: name and form of each, as `extract.macros` has them; the store only keeps them.
Learned = tuple[tuple[bytes, str], ...]


class ExtractedFile(NamedTuple):
    """One file as a worker has read it."""

    file: File
    packed: bytes  # its facts, empty where it was not read
    flow: bytes  # its flow, empty where its language has no names to link
    words: bytes  # for the full-text index
    # name, kind, place, line, declaration, column, public, key, whether it is a test
    symbols: tuple[tuple[str, str, int, int, bool, int, bool, str, bool], ...]
    terms: tuple[str, ...]  # distinct
    key: bytes  # of the cache; empty where there is nothing to keep
    problems: int  # findings that say that it could not be read whole
    cached: bool
    ends: bytes = b""  # of bridges, empty where it has none


class Linkable(NamedTuple):
    """One file as the linker needs it."""

    id: int
    base: int  # the id of the file as a target; its symbols' ids follow
    path: str
    language: str
    category: str
    size: int  # bytes of its flow, 0 where there is nothing to link


class PreviousFile(NamedTuple):
    """A file as it was before an update read it again, or found it gone."""

    id: int
    base: int
    path: str
    language: str
    keys: tuple[str, ...]  # of its symbols, by place
    kinds: tuple[tuple[str, bool], ...]  # what each is, and whether it is a test
    flow: bytes
    form: tuple[str, ...]  # what else of its line in the ledger may tell those who look for files
    rank: float | None
    ends: bytes = b""  # of bridges

    def is_other(self, now: Mapping[str, tuple[str, bool]]) -> bool:
        """Whether it has other tests than it has now, or in another order, or what it keeps is of another kind."""
        was = dict(zip(self.keys, self.kinds, strict=True))
        tests = [[key for key, (_, test) in kinds.items() if test] for kinds in (was, now)]
        return tests[0] != tests[1] or any(was[key] != now[key] for key in was.keys() & now.keys())
