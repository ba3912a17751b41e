"""The folders of a repository: their contents, totals, most used definitions, and dependencies on other folders.

In: an index. Out: `Folders`, computed once per repository, with totals over everything below each folder. After an
update, folders whose contents did not change are taken over from the previous `Folders`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from heapq import nsmallest

from concordance.base.model import TYPE_KINDS, Category, File, Kind, Skip
from concordance.base.paths import parent_folders
from concordance.extract.registry import is_analysed, is_prose, title_of
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import FILE_USES, incremental, memoised, shared_until, unrecorded_copy
from concordance.query.folders.definition_uses import NAMED_KINDS, UsedDefinition, most_used, used_definitions
from concordance.query.index.census import CensusFile
from concordance.query.index.ledger import Ledger, ledger, outline
from concordance.query.index.repository import Index

_MAX_TYPES = 400  # most used types kept per folder
_MAX_CENTRAL_FILES = 24  # most central files kept per folder and category
_MAX_DEFINITIONS = 40  # most used definitions kept per folder
MAX_SYMBOLS = 25  # most used symbols kept per folder
_PROSE = frozenset(("html", "jupyter"))  # languages of documents without a reader

UNREAD = " (recognised, not analysed)"  # after the name of a language without a reader, in tables


class Folder:
    """One folder; totals include everything below it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: list[str] = []  # directly in it
        self.folders: list[str] = []
        self.count = self.lines = self.size = self.tests = 0
        self.nouns: Counter[str] = Counter()  # files by the noun they are counted with: "C++ file", "document"
        self.languages: Counter[str] = Counter()  # files by language
        self.language_lines: Counter[str] = Counter()
        self.categories: Counter[str] = Counter()  # files by category
        self.category_lines: Counter[str] = Counter()

    def add(self, inner: Folder) -> None:
        """Add the totals of a folder inside of this one."""
        self.count += inner.count
        self.lines += inner.lines
        self.size += inner.size
        self.tests += inner.tests
        self.nouns.update(inner.nouns)
        self.languages.update(inner.languages)
        self.language_lines.update(inner.language_lines)
        self.categories.update(inner.categories)
        self.category_lines.update(inner.category_lines)

    @property
    def name(self) -> str:
        """The last component of its path."""
        return self.path.rpartition("/")[2]

    def mostly(self, category: Category) -> bool:
        """True if more than half of its files are of a category, and so are more than half of its lines."""
        return 2 * self.categories[category] > self.count and 2 * self.category_lines[category] >= self.lines


class FolderDefinitions:
    """The definitions of a folder and of everything below it."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()  # symbols by kind
        # The most used symbols of any kind; of the kinds that readers look for; and types.
        self.used_symbols: list[UsedDefinition] = []
        self.used_definitions: list[UsedDefinition] = []
        self.used_types: list[UsedDefinition] = []

    def add(self, inner: FolderDefinitions) -> None:
        """Add those of a folder inside of this one."""
        self.kinds.update(inner.kinds)
        self.add_used(inner.used_symbols, inner.used_definitions, inner.used_types)

    def add_used(
        self, symbols: list[UsedDefinition], definitions: list[UsedDefinition], types: list[UsedDefinition]
    ) -> None:
        """Add definitions that other files use."""
        self.used_symbols = most_used([*self.used_symbols, *symbols], MAX_SYMBOLS)
        self.used_definitions = most_used([*self.used_definitions, *definitions], _MAX_DEFINITIONS, NAMED_KINDS)
        self.used_types = most_used([*self.used_types, *types], _MAX_TYPES, TYPE_KINDS)


@memoised(1 << 20)
def _own_definitions(index: Index, path: str) -> FolderDefinitions:
    """Return the definitions of the files directly in a folder."""
    definitions = FolderDefinitions()
    for name in index.files_in(path):
        used = used_definitions(index, name)
        definitions.add_used(used, used, used)
        symbols = index.census.symbols(CensusFile(name, index.file_id(name)))
        definitions.kinds.update(map(index.census.kind_of, symbols))
    return definitions


class _DefinitionTotals:
    """The definitions of all folders."""

    def __init__(self, index: Index, before: _DefinitionTotals | None) -> None:
        """Take over folders without a change from `before`, the result of the previous update."""
        self.own = {path: _own_definitions(index, path) for path in index.folders}
        known = before if before is not None and before.own.keys() == self.own.keys() else None
        stale = _changed_folders(self.own, known.own if known is not None else {})
        self.all: dict[str, FolderDefinitions] = {
            path: FolderDefinitions() if known is None or path in stale else known.all[path] for path in self.own
        }
        inside: dict[str, list[str]] = {path: [] for path in self.own}
        for path in self.own:
            if path:
                inside[path.rpartition("/")[0]].append(path)
        for path in stale:
            for inner in (self.own[path], *(self.all[folder] for folder in sorted(inside[path], key="{}/".format))):
                self.all[path].add(inner)


def _changed_folders(own: Mapping[str, object], known: Mapping[str, object]) -> list[str]:
    """Return the folders whose own contents have changed, and the folders around them, innermost first."""
    changed = {
        folder
        for path, contents in own.items()
        if known.get(path) is not contents
        for folder in (path, *parent_folders(path))
    }
    return sorted(changed, key=lambda path: (not path, -path.count("/"), path))


@incremental
def folder_definitions(index: Index, before: _DefinitionTotals | None) -> _DefinitionTotals:
    """Return the definitions of each folder; apart from `folders`, since few questions need them."""
    return _DefinitionTotals(index, before)


def used_definitions_of_folder(index: Index, folder: Folder) -> list[UsedDefinition]:
    """Return the definitions in a folder that other files use, most used first.

    Those in tests are left out unless it is a folder of tests. Macros without parameters come last: they switch
    features, open namespaces or guard headers, and name no concept.
    """
    rows = folder_definitions(index).all[folder.path].used_definitions
    if not folder.mostly(Category.TEST):
        rows = [definition for definition in rows if index.category_of(definition.path) != Category.TEST] or rows
    return sorted(rows, key=lambda definition: definition.kind == Kind.MACRO and not _has_parameters(index, definition))


def _has_parameters(index: Index, macro: UsedDefinition) -> bool:
    """True if a macro has parameters."""
    return "(" in outline(index, macro.path).symbols[macro.place].signature.partition(" ")[2].partition(" ")[0]


@shared_until(Aspect.DISPLAY_NAMES, FILE_USES)
def _scores(index: Index) -> dict[str, float]:
    """Return how central each file is: its rank plus a bonus for the number of its users. By rank alone, a file that a
    single central file uses would count as central too, but readers do not look for it."""
    users, file_id = index.neighbours.all_users, index.file_id
    return {
        path: rank + math.log2(1 + len(users.get(file_id(path), ()))) / 10
        for path, rank in unrecorded_copy(index.ranks).items()
    }


@shared_until(Aspect.DISPLAY_NAMES, FILE_USES)
def _dependency_cache(index: Index) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Return a cache for `Folders.dependencies`."""
    return {}


@memoised(1 << 20)
def _own_totals(index: Index, path: str) -> Folder:
    """Return the totals of the files directly in a folder."""
    folder = Folder(path)
    for name in index.files_in(path):
        file = index.files[name]
        folder.count += 1
        folder.lines += file.lines
        folder.size += file.size
        folder.tests += ledger(index).tests[name]
        title = title_of(file.language) if file.language and not file.skip else ""
        title = title if is_analysed(file.language) else f"{title}{UNREAD}"
        if title and title != "Plain text":
            folder.languages[title] += 1
            folder.language_lines[title] += file.lines
        folder.nouns[noun_of(file)] += 1
        folder.categories[file.category] += 1
        folder.category_lines[file.category] += file.lines
    return folder


class Folders:
    """All folders of a repository; "" is the root."""

    def __init__(self, index: Index, before: Folders | None) -> None:
        """Take over unchanged folders from `before`, the result of the previous update."""
        self._index = index
        self._ledger: Ledger = ledger(index)
        # A plain table, which records no reads: folder pages are rebuilt whenever any file below them changes anyway.
        self._files: dict[str, File] = unrecorded_copy(self._ledger.files)
        self.own = {path: _own_totals(index, path) for path in index.folders}  # the files directly in each
        self._score = _scores(index)
        self._tops: dict[str, dict[str, list[tuple[float, str]]]] = {}
        if before is not None and before._score is self._score:
            self._tops = {path: row for path, row in before._tops.items() if before.own[path] is self.own.get(path)}
        known = before if before is not None and before.own.keys() == self.own.keys() else None
        had = known.all if known is not None else {}
        stale = _changed_folders(self.own, known.own if known is not None else {})
        self.all: dict[str, Folder] = {path: Folder(path) if path in stale else had[path] for path in self.own}
        for path in stale:
            folder = self.all[path]
            folder.files = index.files_in(path)
            folder.folders = had[path].folders if had else sorted(folder.folders, key=lambda inner: f"{inner}/")
            for inner in (self.own[path], *(self.all[one] for one in folder.folders)):
                folder.add(inner)
            if path and not had:
                self.all[path.rpartition("/")[0]].folders.append(path)

    # --- contents and dependencies

    def with_subfolders(self, path: str) -> list[str]:
        """Return a folder and all folders below it, each before those inside of it."""
        paths = [path]
        for child in self.all[path].folders:
            paths += self.with_subfolders(child)
        return paths

    def below(self, path: str) -> list[str]:
        """Return every file below a folder, the files of a folder before those of its subfolders."""
        return [file for folder in self.with_subfolders(path) for file in self.all[folder].files]

    def dependencies(self, path: str) -> tuple[Counter[str], Counter[str]]:
        """Return what a folder uses outside of it, and what uses it from outside, as numbers of files per part of the
        repository. A part is the outermost folder that does not contain this one too. Uses of tests by code that is
        not a test are left out, since those are only coincidences of names."""
        known = _dependency_cache(self._index)
        if path not in known:
            known[path] = self._count_dependencies(path)
        return known[path]

    def _count_dependencies(self, path: str) -> tuple[Counter[str], Counter[str]]:
        index, neighbours = self._index, self._index.neighbours
        uses_of: dict[bool, set[int]] = {False: set(), True: set()}  # by whether the file below the folder is a test
        users_of: dict[bool, set[int]] = {False: set(), True: set()}
        for file in self.below(path):
            identity, is_test = index.file_id(file), self._files[file].category == Category.TEST
            uses_of[is_test].update(neighbours.all_uses.get(identity, ()))
            users_of[is_test].update(neighbours.all_users.get(identity, ()))
        tests = self._tests
        uses = (uses_of[False] - tests) | uses_of[True]
        users = users_of[False] | (users_of[True] & tests)
        return self._by_part(path, uses), self._by_part(path, users)

    @cached_property
    def _tests(self) -> set[int]:
        return {identity for identity, _, _, category in self._index.file_rows if category == Category.TEST}

    def _by_part(self, path: str, others: set[int]) -> Counter[str]:
        """Count files outside of a folder by the part of the repository they are in."""
        mine, start = path.split("/"), f"{path}/"
        counts: Counter[str] = Counter()
        parts: dict[str, str] = {}  # by folder; "" if the file itself is the part
        for path_outside in map(self._index.path_of_file, others):
            if path_outside.startswith(start):
                continue
            folder = path_outside.rpartition("/")[0]
            part = parts.get(folder)
            if part is None:
                is_around = not folder or start.startswith(f"{folder}/")
                part = parts[folder] = "" if is_around else _outermost_part(folder, mine)
            counts[part or path_outside] += 1
        return counts

    def central(self, path: str, limit: int, category: str = "") -> list[str]:
        """Return the most central files below a folder, of a category or as `most_central` chooses it."""
        return self.most_central(self.with_subfolders(path), limit, category)

    def most_central(self, paths: Sequence[str], limit: int, category: str = "") -> list[str]:
        """Return the most central files of folders, at most two dozen of each.

        If no category is given, they are source files if source has a quarter of the lines, not counting tests,
        examples and benchmarks of it; else files of the category with most lines. Generated, vendored and data files
        come only if there is nothing else.
        """
        kind = category or self._main_category(paths)
        rows = (row for folder in paths for row in self._top(folder).get(kind, ()))
        return [path for _, path in nsmallest(limit, rows)]

    def _main_category(self, paths: Sequence[str]) -> str:
        """Return the category of the files that folders are about."""
        lines: Counter[str] = Counter()
        for folder in paths:
            for category, number in self.own[folder].category_lines.items():
                lines[_COUNTED_AS.get(category, category)] += number
        for aside in UNWRITTEN_CATEGORIES & lines.keys():
            lines[aside] = min(lines[aside], 1)
        if 20 * lines[Category.SOURCE] >= sum(lines[about] for about in _ABOUT_SOURCE):
            for about in _ABOUT_SOURCE:
                del lines[about]
        source = Category.SOURCE if 4 * lines[Category.SOURCE] >= sum(lines.values()) else ""
        return source or max(lines, key=lambda kind: (lines[kind], kind), default="")

    def _top(self, folder: str) -> dict[str, list[tuple[float, str]]]:
        """Return the most central files directly in a folder, by category."""
        tops = self._tops.get(folder)
        if tops is None:
            tops = self._tops[folder] = {}
            for path in self.all[folder].files:
                file = self._files[path]
                if file.lines:
                    kind = _COUNTED_AS.get(file.category, file.category)
                    tops.setdefault(kind, []).append((-self._score[path], path))
            for kind, rows in tops.items():
                tops[kind] = nsmallest(_MAX_CENTRAL_FILES, rows)
        return tops


_NOUNS = {  # for files without a known language
    Category.TEST: "test file", Category.DOCUMENTATION: "document", Category.BENCHMARK: "benchmark file",
    Category.EXAMPLE: "example", Category.DATA: "data file", Category.CONFIGURATION: "configuration file",
    Category.BUILD: "build file", Category.GENERATED: "generated file", Category.VENDORED: "vendored file",
}  # fmt: skip


def noun_of(file: File) -> str:
    """Return the noun that a file is counted with; its plural ends in "s"."""
    title = title_of(file.language) if file.language and not file.skip else "Plain text"
    if file.type.endswith(" image"):
        return "image"
    if file.category == Category.DOCUMENTATION and (is_prose(file.language) or file.language in _PROSE):
        return "document"
    if file.skip == Skip.SYMLINK:
        return "symbolic link"
    if title != "Plain text":
        return title if title.endswith("file") else f"{title} file"
    return _NOUNS.get(Category(file.category)) or f"{file.type} file"


UNWRITTEN_CATEGORIES = frozenset((Category.DATA, Category.VENDORED, Category.GENERATED))
_ABOUT_SOURCE = (Category.TEST, Category.BENCHMARK)
_COUNTED_AS: dict[str, str] = {Category.EXAMPLE: Category.SOURCE, Category.CONFIGURATION: Category.BUILD}


def _outermost_part(folder: str, mine: list[str]) -> str:
    """Return the outermost folder on a folder's path that does not contain `mine` as well."""
    theirs = folder.split("/")
    depth = 0
    while depth < len(mine) and depth < len(theirs) and mine[depth] == theirs[depth]:
        depth += 1
    return "/".join(theirs[: depth + 1])


@incremental
def folders(index: Index, before: Folders | None) -> Folders:
    """Return the folders of the repository."""
    return Folders(index, before)
