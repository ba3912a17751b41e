"""The index of one repository: the entry point through which questions and pages read its facts.

In: a store and the root folder of the repository. Out: files, symbol tables and graphs, each loaded when it is first
used and cached, because many questions about the same files follow one another (`concord batch`).
"""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from concordance.base.config import Book
from concordance.base.errors import UserError
from concordance.base.model import KINDS, Category, File
from concordance.extract.registry import language_of
from concordance.facts.codec import FileTests, TestedFiles, unpack_clusters, unpack_cycles, unpack_layers
from concordance.facts.fulltext.index import IndexShard, open_shards
from concordance.facts.fulltext.words import WordNormalizer
from concordance.facts.links.graph import LinkGraph, unpack_pairs
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect, round_to_power
from concordance.facts.updates.reads import (
    ANY_UPDATE,
    FILE_USES,
    ReadRecorder,
    RecordedTable,
    is_computed,
    shared_property,
)
from concordance.query.answers import split_key
from concordance.query.index.census import WHICH_SYMBOLS, Census
from concordance.query.index.columns import IdsByText, StringColumn
from concordance.query.index.file_counts import FileCounts
from concordance.query.index.graphs.file_graph import Band, Layer, LoadGraph, cluster_centres, folder_edges
from concordance.query.index.open_file import OpenFile
from concordance.query.index.test_commands import RunnerCommands
from concordance.query.names.alphabet import Alphabet
from concordance.query.search.related_files import Neighbours

_MAX_OPEN_FILES = 256  # opened files that are cached …
_MAX_OPEN_BYTES = 8 << 20  # … and their total size: what is decoded takes about ten times as much
_MAX_CYCLE = 13  # files of a cycle; a larger one is a fact about the repository, not about one of its files
_LICENCE = re.compile(r"(?:licen[sc]e|copying|unlicense)(?:\.(?:md|txt|rst))?", re.I)


class UnknownPath(UserError):
    """The repository has no file with this path."""


class Index:
    """One repository that questions are asked about."""

    def __init__(
        self, facts: Facts, root: str, book: Book | None = None, skipped_pages: Mapping[str, int] | None = None
    ) -> None:
        """`skipped_pages` counts the pages that were left out, by the folder in the repository that has the book."""
        self.facts, self.root, self.book, self.skipped_pages = facts, root, book or Book(), skipped_pages or {}
        self.of_pages = False  # True if the files are the pages of a book
        self.reads = ReadRecorder()
        self.cache: dict[Any, Any] = {}
        self.summaries = FileCounts({}, ())
        self.reused_letters: list[str] | None = None  # the parts of the alphabet, if the last book's still hold
        self.open_files: dict[str, OpenFile] = {}  # the files that were opened last
        self._open_bytes = 0  # their total size

    @shared_property(ANY_UPDATE)
    def marks(self) -> dict[str, int]:
        """Checksums of the results of whole-repository analyses."""
        return analysis_marks(self.facts)

    # --- files

    def file(self, path: str) -> File:
        """Return the file that a path refers to: relative to the repository or to the current folder, or absolute."""
        if "\0" in path:
            raise UnknownPath("a path cannot contain a NUL character", "Give a path relative to the repository")
        inside = os.path.normpath(path).replace(os.sep, "/")
        file = self.facts.file(inside)
        if file is None:
            folder, name = os.path.split(path)
            root, here = os.path.realpath(self.root), os.path.realpath(folder or ".")
            if os.path.isabs(path) or inside.startswith("../") or os.path.commonpath((root, here)) == root:
                inside = os.path.relpath(os.path.join(here, name), root)
            if inside == ".." or inside.startswith("../"):
                raise UnknownPath(f"{path} is outside the repository {self.root}", "Name a file inside it")
            file = self.facts.file(inside.replace(os.sep, "/"))
        if file is None:
            raise self._no_file(path, inside)
        return file

    def _no_file(self, path: str, inside: str) -> UnknownPath:
        paths = [row[1] for row in self.file_rows]
        if inside == "." or any(other.startswith(f"{inside}/") for other in paths):
            return UnknownPath(f"{path} is a folder", "Name a file in it")
        name = path.rpartition("/")[2]
        same = [other for other in paths if other.rpartition("/")[2] == name]
        like = [other for other in paths if other.rpartition("/")[2][:1].lower() == name[:1].lower()]
        near = difflib.get_close_matches(path, same or like, 3, 0.6) or same[:3]
        hint = f"Nearest: {', '.join(near)}" if near else "Give a path relative to the root of the repository"
        if self.facts.meta().get("left_out", "{}") != "{}" and os.path.lexists(os.path.join(self.root, inside)):
            hint = "The repository's settings leave files out: see `include` and `exclude`"
        return UnknownPath(f"the repository has no file {path}", hint)

    def open_file(self, path: str) -> OpenFile:
        """Return a file, opened; the files that were opened last are cached."""
        self.reads.note(Aspect.TEXT, path)
        file = self.open_files.pop(path, None)
        if file is None:
            row = self.facts.file_and_ids(path)
            if row is None:
                raise UnknownPath(f"the repository has no file {path}")
            file = OpenFile(self, *row)
            left = self.open_files
            self._open_bytes = file.file.size + (self._open_bytes if left else 0)
            while left and (len(left) >= _MAX_OPEN_FILES or self._open_bytes > _MAX_OPEN_BYTES):
                self._open_bytes -= left.pop(next(iter(left))).file.size
        self.open_files[path] = file
        return file

    # --- the whole repository

    @shared_property(Aspect.PATHS)
    def file_rows(self) -> list[tuple[int, str, str, str]]:
        """Each file's id, path, language and category, in the order of ids."""
        return self.facts.file_rows()

    @shared_property(Aspect.PATHS)
    def paths_by_id(self) -> dict[int, str]:
        """The path of each file, by the file's id."""
        return {row[0]: row[1] for row in self.file_rows}

    def path_of_file(self, identity: int) -> str:
        """Return the path of the file with this id; "" if it is the id of a symbol."""
        return self.paths_by_id.get(identity, "")

    @shared_property(*WHICH_SYMBOLS)
    def owners(self) -> IdOwners[int]:
        """The files of all ids."""
        return self.facts.owners()

    def path_of(self, identity: int) -> str:
        """Return the path of the file that an id belongs to, be it a symbol's or the file's own."""
        return self.paths_by_id[self.owners[identity]]

    @shared_property(*WHICH_SYMBOLS)
    def symbol_ids(self) -> dict[int, SymbolIds]:
        """The ids of every file's symbols, by the file's id."""
        return self.facts.symbol_ids()

    def order_of(self, identity: int) -> tuple[str, int]:
        """A sort key for the order of paths and of the text, which unlike that of ids does not vary."""
        file = self.owners[identity]
        return self.paths_by_id[file], self.symbol_ids[file].place_of(identity)

    @shared_property(Aspect.PATHS)
    def categories(self) -> dict[str, str]:
        """The category of each file (source, test, documentation, …), by path."""
        return RecordedTable(self.reads, Aspect.DISPLAY_NAMES, {row[1]: row[3] for row in self.file_rows})

    @shared_property(Aspect.PATHS)
    def documents(self) -> frozenset[int]:
        """The ids of the files of documentation; unrecorded, for those who read all of it."""
        return frozenset(row[0] for row in self.file_rows if row[3] == Category.DOCUMENTATION)

    def category_of(self, path: str) -> str:
        """Return the category of a file."""
        return self.categories[path]

    @shared_property(Aspect.PATHS)
    def _languages(self) -> dict[str, str]:
        return {row[1]: row[2] for row in self.file_rows}

    def language_of(self, path: str) -> str:
        """Return the language of a file."""
        self.reads.note(Aspect.DISPLAY_NAMES, path)
        return self._languages[path]

    @shared_property(Aspect.PATHS)
    def ids_by_path(self) -> dict[str, int]:
        """The id of each file, by path."""
        return {row[1]: row[0] for row in self.file_rows}

    def file_id(self, path: str) -> int:
        """Return the id of a file."""
        return self.ids_by_path[path]

    @shared_property(Aspect.PATHS)
    def _folders(self) -> dict[str, list[str]]:
        subfolders: dict[str, list[str]] = {}
        for path in sorted(self.ids_by_path):
            subfolders.setdefault(path.rpartition("/")[0], []).append(path)
        return subfolders

    @shared_property(Aspect.PATHS)
    def folders(self) -> list[str]:
        """All folders with files below them, "" for the root, in the order of paths."""
        folders = {""}
        for listed in self._folders:
            folder = listed
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return sorted(folders)

    def files_in(self, folder: str) -> list[str]:
        """Return the files that are directly in a folder."""
        self.reads.note("folder", folder)
        return self._folders.get(folder, [])

    @shared_property()
    def files(self) -> dict[str, File]:
        """The ledger: every file's row, by path."""
        return RecordedTable(self.reads, Aspect.TEXT, {file.path: file for file in self.facts.files()})

    def weight_of(self, path: str) -> int:
        """Return the size of a file in bytes, rounded down to a power of two."""
        self.reads.note("weight", path)
        with self.reads.not_recording():
            return round_to_power(self.files[path].size)

    @shared_property(FILE_USES, Aspect.PATHS)
    def bands(self) -> dict[str, str]:
        """The position in the ranking of the files in its first tenth, in words that a small change does not alter."""
        ordered = sorted(self.ranks, key=lambda path: (-self.ranks[path], path))
        bands: dict[str, str] = {}
        for top, word in reversed(_BANDS):
            bands.update(dict.fromkeys(ordered[: int(top * len(ordered))], word))
        return RecordedTable(self.reads, "bands", bands)

    @shared_property()
    def keys(self) -> StringColumn:
        """The key of each symbol, by id; "" for other ids. One column for all, because pages name many symbols."""
        return self.symbol_columns[0]

    @shared_property(ANY_UPDATE)
    def _some_symbols(self) -> dict[int, tuple[str, str, bool]]:
        """What was read of symbols one by one: key, kind, and whether it is only declared."""
        return {}

    def read_keys(self, identities: Iterable[int]) -> None:
        """Read the keys of some symbols at once, so that `key_of` finds them; unless it has the keys of all symbols."""
        if not is_computed(self, "symbol_columns"):
            known = self._some_symbols
            wanted = {identity for identity in identities if identity not in known}
            with self.reads.not_recording():
                known.update({**dict.fromkeys(wanted, ("", "", False)), **self.facts.keys_of(wanted)})

    def key_of(self, identity: int) -> str:
        """Return the key of a symbol, "" for a file. A question that names a few symbols need not read those of all."""
        if is_computed(self, "symbol_columns"):
            return self.keys[identity]
        return self._symbol(identity)[0]

    def kind_of(self, identity: int) -> str:
        """Return the kind of a symbol, which is read in the same way as its key; any kind for a file."""
        return KINDS[self.kinds[identity]] if is_computed(self, "symbol_columns") else self._symbol(identity)[1]

    def is_declared(self, identity: int) -> bool:
        """True if a symbol is only declared at its place."""
        if is_computed(self, "symbol_columns"):
            return bool(self.declared[identity])
        return self._symbol(identity)[2]

    def _symbol(self, identity: int) -> tuple[str, str, bool]:
        if identity not in self._some_symbols:
            self.read_keys((identity,))
        return self._some_symbols[identity]

    @shared_property()
    def kinds(self) -> bytearray:
        """The kind of each symbol, by id, as an index into KINDS."""
        return self.symbol_columns[1]

    @shared_property()
    def declared(self) -> bytearray:
        """1 for each symbol that is only declared at its place, 0 for the others, by id."""
        return self.symbol_columns[2]

    @shared_property()
    def symbol_columns(self) -> tuple[StringColumn, bytearray, bytearray]:
        """The keys, kinds and declaration flags of all symbols, by id; files have ids too, with empty keys."""
        top = int(self.facts.meta()["top"])
        kinds, declared = bytearray(top), bytearray(top)

        def rows() -> Iterator[tuple[int, str]]:
            for identity, key, kind, is_declared in self.facts.symbol_keys():
                kinds[identity] = KIND_NUMBERS[kind]
                declared[identity] = is_declared
                yield identity, key

        return StringColumn(rows(), top), kinds, declared

    def namesakes(self, key: str, declared: bool) -> list[int]:
        """Return the ids of the declarations (or the definitions) that have this key, overload numbers aside.

        Only languages that separate declarations from definitions are searched. Ids are in the order of paths.
        """
        self.reads.note(Aspect.SYMBOLS_NAMED, split_key(key)[-1])
        identities = self.prototypes.get(bare_key(key), lambda one: self.declared[one] == declared)
        return sorted(identities, key=self.order_of) if len(identities) > 1 else identities

    @shared_property()
    def prototypes(self) -> IdsByText:
        """The ids of the symbols of languages with declarations, by their keys without overload numbers."""
        files = (row[0] for row in self.file_rows if row[2] in self.prototyped)
        ids = chain.from_iterable(self.symbol_ids[file] for file in files)
        return IdsByText(((bare_key(self.keys[identity]), identity) for identity in ids), self._prototype_key)

    def _prototype_key(self, identity: int) -> str:
        """Return a symbol's key without overload numbers; "" if its language does not separate declarations."""
        key = self.keys[identity]
        return bare_key(key) if key and self._languages[self.path_of(identity)] in self.prototyped else ""

    @shared_property(Aspect.PATHS)
    def prototyped(self) -> frozenset[str]:
        """The languages of this repository that declare symbols in one file and define them in another."""
        return frozenset(name for name in self.counts if name and language_of(name).has_prototypes)

    @shared_property()
    def census(self) -> Census:
        """The tables over all names."""
        return Census(self)

    @shared_property()
    def alphabet(self) -> Alphabet:
        """All names from A to Z, divided into parts."""
        return Alphabet(self.census)

    @property
    def letters(self) -> list[str]:
        """The names of the alphabet's parts."""
        return self.reused_letters if self.reused_letters is not None else self.alphabet.shards.parts

    @shared_property(FILE_USES)
    def layers(self) -> dict[str, Band]:
        """Each file's layer: its position in the chains of dependencies."""
        rows = unpack_layers(self.facts.analysis_result("layers")).items()
        return RecordedTable(self.reads, "layers", {self.paths_by_id[one]: Layer(*row).band for one, row in rows})

    @shared_property(FILE_USES)
    def cycles(self) -> dict[str, tuple[str, ...]]:
        """The import cycle of each file that is in a small one; deferred imports do not count."""
        rows = unpack_cycles(self.facts.analysis_result("cycles"))
        rings = [tuple(self.paths_by_id[one] for one in row) for row in rows if len(row) <= _MAX_CYCLE]
        return RecordedTable(self.reads, "cycles", {path: ring for ring in rings for path in ring})

    @shared_property(ANY_UPDATE)
    def loads(self) -> LoadGraph:
        """Which file needs which when it is loaded."""
        return LoadGraph(unpack_pairs(self.facts.analysis_result("loads")), self.paths_by_id)

    @shared_property(FILE_USES)
    def clusters(self) -> dict[str, str]:
        """The central file of each file's cluster: files that use one another more than others."""
        rows = cluster_centres(unpack_clusters(self.facts.analysis_result("clusters")), self.paths_by_id)
        return RecordedTable(self.reads, "clusters", rows)

    @shared_property(FILE_USES, Aspect.PATHS)
    def all_folder_edges(self) -> dict[str, dict[tuple[str, str], int]]:
        """The `folder_edges` of every folder."""
        documents = self.documents
        uses = ((user, targets) for user, targets in self.neighbours.all_uses.items() if user not in documents)
        pairs = [(user, target, times) for user, targets in uses for target, times in targets.items()]
        return folder_edges(pairs, self.paths_by_id)

    def folder_edges(self, folder: str) -> dict[tuple[str, str], int]:
        """Return how many pairs of files connect each two files or subfolders directly in a folder, by (user, used).

        A subfolder's name ends in a slash. Documentation files do not count as users.
        """
        self.reads.note("edges", folder)
        return self.all_folder_edges.get(folder, {})

    @shared_property(Aspect.PATHS)
    def licences(self) -> dict[str, str]:
        """The licence file of each folder that has one."""
        licences: dict[str, str] = {}
        for path in sorted(self.ids_by_path, reverse=True):
            folder, _, name = path.rpartition("/")
            if _LICENCE.fullmatch(name):
                licences[folder] = path
        return RecordedTable(self.reads, "licences", licences)

    @shared_property(FILE_USES)
    def _test_table(self) -> TestedFiles:
        return TestedFiles(self.facts.analysis_result("tests"))

    @property
    def tested_rows(self) -> Mapping[int, object]:
        """The tests of all files, packed, by the files' ids."""
        return self._test_table.rows

    def tests_of(self, path: str) -> FileTests:
        """Return the tests that reach a file: the near ones with their steps, and a count of those farther away."""
        self.reads.note("tests", path)
        return self._test_table.of(self.file_id(path))

    @shared_property(Aspect.USED_BY, FILE_USES)
    def graph(self) -> LinkGraph:
        """The graph of all links between symbols and files."""
        return LinkGraph(self.facts.analysis_result("graph"))

    @shared_property(*WHICH_SYMBOLS)
    def tests(self) -> dict[int, int]:
        """All tests by id, each with its number in the order of paths and lines."""
        ids = chain.from_iterable(self.tests_in[path] for path in sorted(self.tests_in))
        return {identity: number for number, identity in enumerate(ids)}

    @shared_property(*WHICH_SYMBOLS)
    def tests_in(self) -> dict[str, list[int]]:
        """The tests of each file that has any, in the order of lines."""
        tests: dict[str, list[int]] = {}
        for file, identity in self.facts.tests():
            tests.setdefault(self.paths_by_id[file], []).append(identity)
        return tests

    def has_tests_in(self, path: str) -> bool:
        """True if any tests were found in a file."""
        self.reads.note(Aspect.WORDS, path)
        return path in self.tests_in or self.is_whole_test(path)

    @property
    def has_tests(self) -> bool:
        """True if any tests were found."""
        self.reads.note("all tests", "")
        return bool(self.tests_in) or any(
            language_of(language).tests.is_test_file(category, path) for _, path, language, category in self.file_rows
        )

    def is_whole_test(self, path: str) -> bool:
        """True if a file counts as a test as a whole."""
        return language_of(self.language_of(path)).tests.is_test_file(self.category_of(path), path)

    @shared_property(FILE_USES, Aspect.PATHS)
    def neighbours(self) -> Neighbours:
        """The files that are related to each file."""
        return Neighbours(self)

    @shared_property(ANY_UPDATE)
    def runners(self) -> RunnerCommands:
        """The commands that run tests."""
        return RunnerCommands(self.root, self.ids_by_path, self.reads)

    @shared_property(ANY_UPDATE)
    def text_shards(self) -> list[IndexShard]:
        """The full-text index."""
        return open_shards(os.path.dirname(self.facts.path))

    @shared_property()
    def words(self) -> WordNormalizer:
        """Splits questions into words."""
        return WordNormalizer()

    @shared_property(FILE_USES, Aspect.PATHS)
    def ranks(self) -> dict[str, float]:
        """The rank of each file: how central it is."""
        return self.facts.ranks()

    @shared_property(Aspect.PATHS)
    def counts(self) -> Counter[str]:
        """The number of files of each language."""
        return Counter(row[2] for row in self.file_rows)


def analysis_marks(facts: Facts) -> dict[str, int]:
    """Return checksums of the results of whole-repository analyses; an equal checksum means an unchanged result."""
    marks = facts.analysis_marks()
    return {name: marks.get(name, 0) for name in ("pairs", "layers", "cycles", "clusters", "tests")}


KIND_NUMBERS: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}
_NUMBER = re.compile(r"\+\d+(?=\.|$)")


def bare_key(key: str) -> str:
    """Return a key without the numbers that tell symbols of the same name apart."""
    return _NUMBER.sub("", key) if "+" in key else key


_BANDS = ((0.01, "top 1 %"), (0.05, "top 5 %"), (0.1, "top 10 %"))
