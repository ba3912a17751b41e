"""Orders the tests that reach a file or symbol by how directly they test it.

In: tests with their distances, and the subject: its names and its users. Out: the same tests, best first, each with the
reason for its place (`Directness`). A search over calls finds hundreds of tests for a central file; what a reader wants
first are those that were written for it, and the names of tests and test files say which these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category, File, Kind
from concordance.facts.links.graph import EdgeKind
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import memoised
from concordance.query.answers import split_key
from concordance.query.index.graphs.device_code import device_words, selects_device
from concordance.query.index.graphs.reachability import with_members
from concordance.query.index.repository import Index
from concordance.query.names.declarations import enclosing_class, with_counterparts
from concordance.query.search.related_files import is_named_as_test, may_test, stem_of

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DUNDER = re.compile(r"__\w+__")  # names that Python calls by itself, so no test is named after them
_MIN_NAME = 3  # letters of a name that a test can be named after
_LONGEST_NAME = 6  # words of a name that are compared
_FOLDER_FILES = frozenset(("__init__", "index", "mod", "lib", "main"))  # known by the names of their folders
_NAMING_KINDS = EXECUTABLE_KINDS | TYPE_KINDS | {Kind.MACRO}
_DIRECT_EDGES = frozenset(EdgeKind) - {EdgeKind.MENTIONS, EdgeKind.INHERITS}
# A package that lists its folder and imports what it finds, as registries of plug-ins and examples do.
_LISTS_FOLDER = re.compile(r"\b(?:glob\(|iglob\(|iter_modules\(|walk_packages\(|listdir\(|scandir\()")
_IMPORTS_BY_NAME = re.compile(r"\b(?:import_module|__import__|find_spec|load_module|exec_module)\(")
NOT_FOLLOWED = "calls through values, computed names and other processes are not followed"


class Directness(StrEnum):
    """How a test is connected with what it tests (a closed list), most direct first."""

    SAME_NAME = "same_name"  # it is in the test file of the same name
    NAMES = "names"  # it is named after the file or symbol, or names it without running it
    CALLS = "calls"  # it uses the file or symbol itself
    REACHES = "reaches"  # something that it calls does


_RANKS = {how: number for number, how in enumerate(Directness)}


class RankedTest(NamedTuple):
    """A test with its distance, and how it is connected."""

    id: int
    steps: int
    how: Directness
    is_direct: bool  # True if it uses the subject itself


class TestedSubject:
    """Files, or symbols of them, that tests are ordered for."""

    def __init__(
        self, index: Index, paths: Sequence[str], names: Iterable[tuple[str, str]], users: Iterable[int]
    ) -> None:
        """`names` are the names and kinds of its definitions, `users` the ids of what uses it."""
        self._index = index
        self._paths: dict[str, list[str]] = {}  # by what the name of a test file may say
        stems = {file_words(path) for path in paths}
        for path in paths:
            stem, folder = file_words(path), path.rpartition("/")[0].rpartition("/")[2]
            for words in {stem, _joined_words(f"{folder}_{stem}")}:  # test_FOLDER_STEM.py
                self._paths.setdefault(words, []).append(path)
        self._words = frozenset(word for stem in stems for word in stem.split("_") if len(word) >= _MIN_NAME)
        named = (_joined_words(name) for name, kind in names if kind in _NAMING_KINDS)
        self._names = frozenset(one for one in (*stems, *named) if len(one) >= _MIN_NAME)
        among_tests = [user for user in users if index.category_of(index.path_of(user)) == Category.TEST]
        index.read_keys(among_tests)
        self._users = {place for user in among_tests for place in _places_around(index, user)}
        self.devices = _devices(index, paths)  # of which a test that does not use it itself must name one

    def rank(self, tests: Iterable[tuple[int, int]]) -> list[RankedTest]:
        """Return tests, given with their distances, most direct first, without those that cannot select its code."""
        index = self._index
        tests = list(tests)
        index.read_keys(one for one, _ in tests)
        order, last = index.tests, len(index.tests)
        path_of, key_of, own_tests = index.path_of, index.key_of, _TestFiles(self._paths)
        names, words, users, devices = self._names, self._words, self._users, self.devices
        ranked: list[tuple[int, bool, int, int, int, str, RankedTest]] = []
        for test, steps in tests:
            path, key = path_of(test), key_of(test)
            is_direct = (path, key) in users
            if devices and not is_direct and not selects_device(index, devices, test):
                continue
            runs = _runs(key)
            if own_tests[path]:
                how = Directness.SAME_NAME
            elif not names.isdisjoint(runs):
                how = Directness.NAMES
            else:
                how = Directness.CALLS if is_direct else Directness.REACHES
            # Of the hundred tests that are equally far from a kernel, those of its operator are meant.
            shared = len(words.intersection(runs))
            row = RankedTest(test, steps, how, is_direct)
            ranked.append((_RANKS[how], not is_direct, steps, -shared, order.get(test, last), path, row))
        ranked.sort()
        return [row[-1] for row in ranked]

    def direct(self) -> list[int]:
        """Return the tests that use the subject itself, in the order of paths and lines."""
        index = self._index
        paths = sorted({path for path, _ in self._users})
        tests = [(path, test) for path in paths for test in index.tests_in.get(path, ())]
        index.read_keys(one for _, one in tests)
        return [one for path, one in tests if (path, index.key_of(one)) in self._users]


class _TestFiles(dict[str, bool]):
    """Whether each test file has the name of one of the given files, and may be its test by its folders."""

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        """`paths` are the files, by what the name of a test file may say."""
        super().__init__()
        self._paths = paths

    def __missing__(self, path: str) -> bool:
        is_test = self[path] = any(may_test(path, stem) for stem in self._paths.get(file_words(path), ()))
        return is_test


def file_subject(index: Index, file: File) -> TestedSubject:
    """Return a file as a subject of tests."""
    symbols = index.facts.symbols_in(file.path)
    users = _users(index, (index.facts.id(file.path), *(symbol.id for symbol in symbols)))
    return TestedSubject(
        index, [file.path], ((symbol.name, symbol.kind) for symbol in symbols if not symbol.parent_key), users
    )


def symbol_subject(index: Index, places: Sequence[SymbolPlace]) -> TestedSubject:
    """Return symbols, all that a name may refer to, as one subject of tests."""
    users = _users(index, with_members(index, places))
    return TestedSubject(index, [places[0].path], ((symbol.name, symbol.kind) for symbol in places), users)


def changed_subject(index: Index, places: Sequence[SymbolPlace]) -> TestedSubject:
    """Return changed symbols of any files as one subject of tests, with the classes of methods, which tests name."""
    owners = {(place.path, place.parent_key): place for place in places if place.parent_key}
    classes = [around for place in owners.values() if (around := enclosing_class(index, place)) is not None]
    named = [*(place for place in places if not _DUNDER.fullmatch(place.name)), *classes]
    users = _users(index, {place.id for place in (*with_counterparts(index, places), *classes)})
    paths = list(dict.fromkeys(place.path for place in places))
    return TestedSubject(index, paths, ((symbol.name, symbol.kind) for symbol in named), users)


def _devices(index: Index, paths: Sequence[str]) -> frozenset[str]:
    """Return the words of which a test must use one to select code of the files; none if any test may run some."""
    devices: set[str] = set()
    for path in paths:
        words = device_words(index, path)
        if not words:
            return words
        devices |= words
    return frozenset(devices)


def _users(index: Index, ids: Iterable[int]) -> Iterable[int]:
    return (user for identity in ids for user, way in index.graph.users(identity) if way in _DIRECT_EDGES)


def file_words(path: str) -> str:
    """Return the name of a file as words, or that of its folder if every such folder has a file of this name."""
    stem = stem_of(path)
    return _joined_words(path.rpartition("/")[0].rpartition("/")[2] if stem in _FOLDER_FILES else stem)


_SUPPORTS = re.compile(r"(?:^|/)(?:helpers?|fixtures?|support|_*mocks?_*|testdata)/")  # folders of what tests need


def same_name_tests(index: Index, path: str) -> list[str]:
    """Return the test file of a file's name, if there is no other file of this name in its language.

    If there is none in its language, it may be in another, if the name is that of a test. Files among the tests often
    share a name without testing one another, unless one drives the other from another language.
    """
    language = index.language_of(path)
    bare = path.rpartition(".")[0]  # of a source and its header
    same_stem = [other for other in index.neighbours.with_stem_of(path) if other != path]
    of_language = (
        other for other in same_stem if index.language_of(other) == language and other.rpartition(".")[0] != bare
    )
    own = list(islice(of_language, 2))  # hundreds of files may have the name of a package or a translation
    is_test = index.category_of(path) == Category.TEST
    if is_test and own:
        return []
    same = own or [other for other in same_stem if is_named_as_test(other)]
    if len(same) != 1 or index.category_of(same[0]) != Category.TEST or _SUPPORTS.search(same[0]):
        return []
    return same if own or is_named_as_test(same[0]) else []


def is_stub(path: str) -> bool:
    """True if a file only declares what another one defines, for a type checker."""
    return path.endswith((".pyi", ".d.ts"))


def loading_package(index: Index, path: str) -> str:
    """Return the package file that imports every module of its folder, if a module is in such a folder; else ""."""
    folder, _, name = path.rpartition("/")
    package = f"{folder}/__init__.py" if folder else "__init__.py"
    index.reads.note(Aspect.PATHS, package)
    if name == "__init__.py" or not path.endswith(".py") or package not in index.ids_by_path:
        return ""
    index.reads.note("loading packages", package)
    with index.reads.not_recording():
        return package if loads_folder(index, package) else ""


@memoised(1 << 14)
def loads_folder(index: Index, package: str) -> bool:
    """True if a package file imports every module of its folder."""
    text = index.open_file(package).text() or ""
    return bool(_LISTS_FOLDER.search(text) and _IMPORTS_BY_NAME.search(text))


def _places_around(index: Index, user: int) -> Iterable[tuple[str, str]]:
    """Yield a user in a test file and what is around it, as paths and keys: a test uses what its inner functions do."""
    path, key = index.path_of(user), index.key_of(user)
    while key:
        yield path, key
        key = key.rpartition(".")[0]
    yield path, ""


@lru_cache(1 << 16)
def _runs(key: str) -> tuple[str, ...]:
    """Return all runs of words in the names of a test and of the classes around it."""
    runs: dict[str, None] = {}
    for name in split_key(key):
        words = _split(name)
        for start in range(len(words)):
            run = ""
            for word in words[start : start + _LONGEST_NAME]:
                run = f"{run}_{word}" if run else word
                runs[run] = None
    return tuple(runs)


@lru_cache(1 << 14)
def _joined_words(name: str) -> str:
    return "_".join(_split(name))


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]
