"""Tables over all names of the repository: kinds, numbers of using files, and the words that each file is about.

In: the store. Out: tables over all symbols and files, for the pages that list or rank everything. Each table is read in
one pass when it is first used, and shared by all pages. Lists are in the order of paths, never of ids, which depend on
the order in which files were read. `updates.refresh` brings the tables up to date.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, MutableMapping
from itertools import chain, islice
from typing import NamedTuple, Protocol

from concordance.base.model import KINDS, Kind, Term
from concordance.facts.codec import decode_terms, pack_terms
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect, round_to_power
from concordance.facts.updates.reads import ReadRecorder, shared_property
from concordance.query.answers import split_key
from concordance.query.index.columns import IdsByText, StringColumn

# After an update of one of these aspects there are other symbols, or the same in another order or of another kind.
WHICH_SYMBOLS = (Aspect.SYMBOLS_NAMED, Aspect.DISPLAY_NAMES, Aspect.PATHS)


class CensusFile(NamedTuple):
    """A file with its id."""

    path: str
    id: int


class IdTables(Protocol):
    """What the census needs of the index: its tables by id."""

    facts: Facts
    reads: ReadRecorder

    @property
    def paths_by_id(self) -> dict[int, str]:
        """The path of each file, by the file's id."""

    @property
    def owners(self) -> IdOwners[int]:
        """The files of all ids."""

    @property
    def symbol_ids(self) -> dict[int, SymbolIds]:
        """The ids of every file's symbols, by the file's id."""

    @property
    def keys(self) -> StringColumn:
        """The key of each symbol, by id."""

    @property
    def kinds(self) -> bytearray:
        """The kind of each symbol, by id."""

    def order_of(self, identity: int) -> tuple[str, int]:
        """A sort key for the order of paths and of the text."""


class FileTerms(MutableMapping[int, tuple[Term, ...]]):
    """The terms of each file that has any, by the file's id; decoded when they are read."""

    def __init__(self, packed: dict[int, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, file: int) -> tuple[Term, ...]:
        return decode_terms(self._packed[file])

    def acronyms(self) -> list[tuple[int, Term]]:
        """Return the acronyms that files spell out; decoding the terms of files without any would take longer."""
        with_some = [file for file, packed in self._packed.items() if b"acronym" in packed]
        return [(file, term) for file in with_some for term in self[file] if term.stands_for]

    def __setitem__(self, file: int, terms: tuple[Term, ...]) -> None:
        self._packed[file] = pack_terms(terms)

    def __delitem__(self, file: int) -> None:
        del self._packed[file]

    def __iter__(self) -> Iterator[int]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


class Census:
    """All names of a repository."""

    def __init__(self, tables: IdTables) -> None:
        self._tables = tables

    @property
    def facts(self) -> Facts:
        """The store."""
        return self._tables.facts

    @property
    def reads(self) -> ReadRecorder:
        """Records what pages read."""
        return self._tables.reads

    def order_of(self, identity: int) -> tuple[str, int]:
        """A sort key for the order of paths and of the text."""
        return self._tables.order_of(identity)

    def path_of(self, identity: int) -> str:
        """Return the path of the file that an id belongs to."""
        return self._tables.paths_by_id[self._tables.owners[identity]]

    # --- symbols

    def name_of(self, identity: int) -> str:
        """Return the name of a symbol; "" for other ids."""
        return name_in(self._tables.keys[identity])

    def kind_of(self, identity: int) -> str:
        """Return the kind of a symbol; "" for other ids."""
        return _KIND_WORDS[self._tables.kinds[identity]] if self._tables.keys[identity] else ""

    @shared_property(Aspect.PATHS)
    def files(self) -> list[CensusFile]:
        """All files, in the order of paths."""
        return sorted(CensusFile(path, identity) for identity, path in self._tables.paths_by_id.items())

    def symbols(self, file: CensusFile) -> SymbolIds | list[int]:
        """Return the ids of a file's symbols that have keys, in the order of the text."""
        ids = self._tables.symbol_ids[file.id]
        return (
            [identity for identity in ids if self._tables.keys[identity]]
            if file.id in self._files_without_keys
            else ids
        )

    @shared_property(Aspect.TEXT)
    def _files_without_keys(self) -> set[int]:
        return self.facts.files_without_keys()

    @shared_property()
    def code_symbols(self) -> IdsByText:
        """Up to two code symbols of each name: enough to know whether there is one, and whether it is the only one."""
        rows = self.facts.ids_by_name()
        return IdsByText(
            ((name, symbol) for name, ids in rows for symbol in self.first_code_symbols(ids)), self.name_of
        )

    def first_code_symbols(self, ids: list[int]) -> Iterator[int]:
        """Yield the first two code symbols of some ids."""
        kinds = self._tables.kinds
        return islice((identity for identity in ids if kinds[identity] in _CODE_KINDS), 2)

    def _code_symbols_named(self, name: str) -> list[int]:
        self.reads.note(Aspect.SYMBOLS_NAMED, name)
        kinds = self._tables.kinds
        return [identity for identity in self.code_symbols.get(name) if kinds[identity] in _CODE_KINDS]

    @shared_property(Aspect.SYMBOLS_NAMED)
    def name_count(self) -> int:
        """The number of different names."""
        return self.facts.name_count()

    def unique_code_symbol(self, name: str) -> int:
        """Return the only code symbol with this name; 0 if there is none or more than one."""
        symbols = self._code_symbols_named(name)
        return symbols[0] if len(symbols) == 1 else 0

    def has_code_symbol(self, name: str) -> bool:
        """True if a code symbol has this name."""
        return bool(self._code_symbols_named(name))

    # --- uses

    @shared_property()
    def external_uses(self) -> dict[int, array[int]]:
        """The files and symbols of other files that each file uses, each once; by the user file's id, sorted by id."""
        uses = {file.id: array("I") for file in self.files}
        for file, targets in self.facts.used_from_files():
            own = self._tables.symbol_ids[file]
            uses[file] = array("I", sorted(target for target in targets if target not in own))
        return uses

    @shared_property(Aspect.USES, *WHICH_SYMBOLS)
    def used_by(self) -> array[int]:
        """How many other files use each symbol or file, by id.

        Guesses do not count, because they would rise to the top of a ranking.
        """
        counts = array("I", [0]) * len(self._tables.keys)
        for target in chain.from_iterable(self.external_uses.values()):
            counts[target] += 1
        return counts

    # --- words

    @shared_property()
    def terms(self) -> FileTerms:
        """The words and phrases of each file, by the file's id."""
        return FileTerms(self.facts.all_terms())

    @shared_property(Aspect.TERM)
    def files_per_term(self) -> dict[str, int]:
        """The number of files that have each term, rounded down to a power of two; terms of one file are left out.

        An exact number would make a file's page change with every other file. Most terms are those of one file.
        """
        return {text: round_to_power(files) for text, files in self.facts.term_files(2)}

    @property
    def file_count_band(self) -> int:
        """The number of files that were read, rounded in the same way."""
        return round_to_power(self._read_count)

    @shared_property(Aspect.PATHS)
    def _read_count(self) -> int:
        return self.facts.read_count()

    # --- folders

    @shared_property(Aspect.PATHS)
    def _paths(self) -> list[str]:
        return [file.path for file in self.files]

    def below(self, folder: str) -> list[CensusFile]:
        """Return all files below a folder, in the order of paths."""
        if not folder:
            return self.files
        first, last = (bisect_left(self._paths, folder + sign) for sign in ("/", "0"))  # "0" is the character after "/"
        return self.files[first:last]


def name_in(key: str) -> str:
    """Return the name of the symbol that has a key."""
    if "+" in key or "%" in key:
        return split_key(key)[-1]
    return key.rpartition(".")[2]


_KIND_WORDS = tuple(kind.value for kind in KINDS)
_CODE_KINDS = frozenset(number for number, kind in enumerate(KINDS) if kind not in (Kind.HEADING, Kind.LABEL, Kind.KEY))
