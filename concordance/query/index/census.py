"""Tables over all names of the repository: kinds, numbers of using files, and the words that each file is about.

In: the store. Out: tables over all symbols and files, for the pages that list or rank everything. Each table is read in
one pass when it is first used, and shared by all pages. Lists are in the order of paths, never of ids, which depend on
the order in which files were read. `updates.refresh` brings the tables up to date.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import chain
from typing import NamedTuple, Protocol

from concordance.base.model import KINDS, Kind, Term
from concordance.base.paths import parent_folders
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import IdOwners, SymbolIds, owner_by_id
from concordance.facts.updates.delta import Aspect, round_to_power
from concordance.facts.updates.reads import ReadRecorder, shared_property
from concordance.query.answers import split_key


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
    def keys(self) -> list[str]:
        """The key of each symbol, by id."""

    @property
    def kinds(self) -> bytearray:
        """The kind of each symbol, by id."""


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

    def key_of(self, identity: int) -> str:
        """Return the key of a symbol; "" for other ids."""
        return self._tables.keys[identity]

    def path_of(self, identity: int) -> str:
        """Return the path of the file that an id belongs to."""
        return self._tables.paths_by_id[self._tables.owners[identity]]

    # --- symbols

    @shared_property()
    def names(self) -> list[str]:
        """The name of each symbol, by id."""
        return [split_key(key)[-1] if key else "" for key in self._tables.keys]

    @shared_property()
    def kinds(self) -> list[str]:
        """The kind of each symbol, by id; "" for ids that are not symbols."""
        words = [kind.value for kind in KINDS]
        columns = zip(self._tables.keys, self._tables.kinds, strict=True)
        return [words[kind] if key else "" for key, kind in columns]

    @shared_property(Aspect.PATHS)
    def files(self) -> list[CensusFile]:
        """All files, in the order of paths."""
        return sorted(CensusFile(path, identity) for identity, path in self._tables.paths_by_id.items())

    def symbols(self, file: CensusFile) -> list[int]:
        """Return the ids of a file's symbols that have names, in the order of the text."""
        keys = self._tables.keys
        return [identity for identity in self._tables.symbol_ids[file.id] if keys[identity]]

    @shared_property()
    def by_name(self) -> dict[str, list[int]]:
        """The ids of all symbols of each name, in the order of paths and of the text."""
        found: dict[str, list[int]] = {}
        names = self.names
        for file in self.files:
            for identity in self.symbols(file):
                found.setdefault(names[identity], []).append(identity)
        return found

    def unique_code_symbol(self, name: str) -> int:
        """Return the only code symbol with this name; 0 if there is none or more than one."""
        self.reads.note(Aspect.SYMBOLS_NAMED, name)
        kinds = self.kinds
        meant = [identity for identity in self.by_name.get(name, ()) if kinds[identity] in _CODE_KINDS]
        return meant[0] if len(meant) == 1 else 0

    def has_code_symbol(self, name: str) -> bool:
        """True if a code symbol has this name."""
        self.reads.note(Aspect.SYMBOLS_NAMED, name)
        return any(self.kinds[identity] in _CODE_KINDS for identity in self.by_name.get(name, ()))

    # --- uses

    @shared_property()
    def external_uses(self) -> dict[int, array[int]]:
        """The files and symbols of other files that each file uses, each once; by the user file's id, sorted by id."""
        top = len(self.names)
        owner = owner_by_id(self._tables.owners, top)
        found: dict[int, set[int]] = {file.id: set() for file in self.files}
        for user, target in self.facts.used_pairs():
            if user < top and target < top and owner[user] != owner[target]:
                found[owner[user]].add(target)
        return {file: array("I", sorted(targets)) for file, targets in found.items()}

    @shared_property()
    def used_by(self) -> Counter[int]:
        """How many other files use each symbol or file, by id.

        Guesses do not count, because they would rise to the top of a ranking.
        """
        return Counter(chain.from_iterable(self.external_uses.values()))

    # --- words

    @shared_property()
    def terms(self) -> dict[int, tuple[Term, ...]]:
        """The words and phrases of each file, by the file's id."""
        return self.facts.all_terms()

    @shared_property()
    def files_per_term(self) -> dict[str, int]:
        """The number of files that have each term, rounded down to a power of two.

        An exact number would make a file's page change with every other file.
        """
        return {text: round_to_power(files) for text, files in self.facts.term_files()}

    @property
    def file_count_band(self) -> int:
        """The number of files that were read, rounded in the same way."""
        return round_to_power(len(self.read_paths))

    @shared_property()
    def read_paths(self) -> set[str]:
        """The paths of the files that were read."""
        return self.facts.read_paths()

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

    @shared_property()
    def symbol_counts(self) -> Counter[str]:
        """The number of symbols below each folder."""
        found: Counter[str] = Counter()
        for file in self.files:
            if count := len(self.symbols(file)):
                for folder in parent_folders(file.path):
                    found[folder] += count
        return found


_CODE_KINDS = frozenset(Kind) - {Kind.HEADING, Kind.LABEL, Kind.KEY}
