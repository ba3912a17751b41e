"""The row types that the store's writer takes and returns: a file as read, as linked, and as it was before.

They are between the stages that make files, the writer, and the linker. Nothing here computes, apart from what compares
a file with its previous state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from concordance.base.model import File
from concordance.facts.symbol_ids import SymbolIds

# The macros of one file: name and form of each, as in `extract.macros`; the store does not interpret them.
FileMacros = tuple[tuple[bytes, str], ...]


# A symbol as it is stored: name, kind, place, line, declaration, column, public, key, True if it is a test. It is a
# plain tuple, because workers send millions of them to the build.
SymbolColumns = tuple[str, str, int, int, bool, int, bool, str, bool]
NAME_COLUMN: Final = 0
KIND_COLUMN: Final = 1
PLACE_COLUMN: Final = 2
KEY_COLUMN: Final = 7
TEST_COLUMN: Final = 8


class ExtractedFile(NamedTuple):
    """A file as a worker has read it."""

    file: File
    packed: bytes  # its facts, empty if it was not read
    flow: bytes  # its flow, empty if its language has no names to link
    words: bytes  # for the full-text index
    symbols: tuple[SymbolColumns, ...]
    terms: tuple[str, ...]  # without duplicates
    key: bytes  # cache key; empty if there is nothing to cache
    problems: int  # number of findings that say that it could not be read completely
    cached: bool
    ends: bytes = b""  # of bridges, empty if it has none
    cache_value: bytes = b""  # what the cache is to store under the key; empty if it came from there


class Linkable(NamedTuple):
    """A file as the linker needs it."""

    id: int
    ids: SymbolIds
    path: str
    language: str
    category: str
    size: int  # bytes of its flow, 0 if there is nothing to link


def form_of(file: File) -> tuple[str, ...]:
    """Return the fields of the ledger, besides the path and the language, that may matter when files are looked up."""
    return file.category, file.skip, file.note


class PreviousFile(NamedTuple):
    """A file as it was before an update read it again or found it removed."""

    id: int
    ids: SymbolIds
    path: str
    language: str
    keys: tuple[str, ...]  # keys of its symbols, by place
    kinds: tuple[tuple[str, bool], ...]  # kind of each symbol, and True if it is a test
    flow: bytes
    form: tuple[str, ...]  # as from `form_of`
    rank: float | None
    ends: bytes = b""  # of bridges

    def is_other(self, current: Mapping[str, tuple[str, bool]]) -> bool:
        """True if the tests or their order differ from now, or if a symbol that still exists changed its kind."""
        was = dict(zip(self.keys, self.kinds, strict=True))
        tests = [[key for key, (_, test) in kinds.items() if test] for kinds in (was, current)]
        return tests[0] != tests[1] or any(was[key] != current[key] for key in was.keys() & current.keys())
