"""The repository as questions see it: its facts, its files by what a person types, and who uses what.

In: a store and the folder that it is of. Out: files, and what was unpacked of them, kept for the
next question, for questions come in crowds (`concord batch`) and turn around the same files.
"""

from __future__ import annotations

import difflib
import os
from bisect import bisect_right
from collections import Counter
from functools import cached_property

from concordance.errors import UserError
from concordance.extract.engine import language_of
from concordance.facts.fulltext import Shelf, shelves
from concordance.facts.graph import Graph
from concordance.facts.read import Facts
from concordance.facts.textwords import Words
from concordance.model import Category, File

from .opened import Opened
from .related import Neighbours
from .runners import Runners

_KEPT = 256  # files that stay unpacked


class UnknownPath(UserError):
    """No file of the repository has this path."""


class Index:
    """One repository that is asked."""

    def __init__(self, facts: Facts, root: str) -> None:
        self.facts, self.root = facts, root
        self._open: dict[str, Opened] = {}

    # --- files

    def file(self, asked: str) -> File:
        """The file that a path means: relative to the repository, to the current folder, or absolute."""
        if "\0" in asked:
            raise UnknownPath("no path has a NUL in it", "`git ls-files` lists what is there")
        inside = os.path.normpath(asked).replace(os.sep, "/")
        file = self.facts.file(inside)
        if file is None:
            folder, name = os.path.split(asked)
            root, here = os.path.realpath(self.root), os.path.realpath(folder or ".")
            if os.path.isabs(asked) or inside.startswith("../") or os.path.commonpath((root, here)) == root:
                inside = os.path.relpath(os.path.join(here, name), root)
            if inside == ".." or inside.startswith("../"):
                raise UnknownPath(f"{asked} is outside of the repository {self.root}", "Name a file inside of it")
            file = self.facts.file(inside.replace(os.sep, "/"))
        if file is None:
            raise self._no_file(asked, inside)
        return file

    def _no_file(self, asked: str, inside: str) -> UnknownPath:
        paths = [row[1] for row in self.bases]
        if inside == "." or any(path.startswith(f"{inside}/") for path in paths):
            return UnknownPath(f"{asked} is a folder", "Name a file in it")
        name = asked.rpartition("/")[2]
        same = [path for path in paths if path.rpartition("/")[2] == name]
        like = [path for path in paths if path.rpartition("/")[2][:1].lower() == name[:1].lower()]
        near = difflib.get_close_matches(asked, same or like, 3, 0.6) or same[:3]
        hint = f"Nearest: {', '.join(near)}" if near else "`git ls-files` lists what is there"
        return UnknownPath(f"the repository has no file {asked}", hint)

    def opened(self, path: str) -> Opened:
        """A file, unpacked; those that were opened last are kept."""
        found = self._open.pop(path, None)
        if found is None:
            row = self.facts.file_and_base(path)
            if row is None:
                raise UnknownPath(f"the repository has no file {path}")
            found = Opened(self.facts, self.root, *row)
            if len(self._open) >= _KEPT:
                del self._open[next(iter(self._open))]
        self._open[path] = found
        return found

    # --- the whole

    @cached_property
    def bases(self) -> list[tuple[int, str, str, str]]:
        """Each file's base, path, language and category, in the order of bases."""
        return self.facts.bases()

    @cached_property
    def _by_base(self) -> dict[int, str]:
        return {row[0]: row[1] for row in self.bases}

    def path_of_base(self, identity: int) -> str:
        """The path of the file that has an id of its own; "" where it is a symbol's."""
        return self._by_base.get(identity, "")

    @cached_property
    def starts(self) -> list[int]:
        """The bases alone."""
        return [row[0] for row in self.bases]

    def path_of(self, identity: int) -> str:
        """The path of the file that a symbol's id, or its own, belongs to."""
        return self.bases[bisect_right(self.starts, identity) - 1][1]

    @cached_property
    def categories(self) -> dict[str, str]:
        """What each file is for."""
        return {row[1]: row[3] for row in self.bases}

    def category_of(self, path: str) -> str:
        """What a file is for."""
        return self.categories[path]

    @cached_property
    def _languages(self) -> dict[str, str]:
        return {row[1]: row[2] for row in self.bases}

    def language_of(self, path: str) -> str:
        """What a file is written in."""
        return self._languages[path]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {row[1]: row[0] for row in self.bases}

    def base_of(self, path: str) -> int:
        """The id of a file."""
        return self._ids[path]

    @cached_property
    def keys(self) -> list[str]:
        """The key of each symbol, by its id; "" of what is no symbol. One list for all: pages name many."""
        rows = self.facts.keys()
        found = [""] * (max((row[0] for row in rows), default=0) + 1)
        for identity, key, _ in rows:
            found[identity] = key
        return found

    @cached_property
    def graph(self) -> Graph:
        """Who leads to whom."""
        return Graph(self.facts.passed("graph"))

    @cached_property
    def tests(self) -> dict[int, int]:
        """All tests by their ids, each with its number in the order of paths and lines."""
        ids = sorted(self.facts.tests(), key=lambda identity: (self.path_of(identity), identity))
        return {identity: number for number, identity in enumerate(ids)}

    @cached_property
    def neighbours(self) -> Neighbours:
        """Which files belong together."""
        return Neighbours(self.facts, self._by_base)

    @cached_property
    def runners(self) -> Runners:
        """The commands that run tests."""
        return Runners(self.root, self._ids)

    @cached_property
    def shelves(self) -> list[Shelf]:
        """The full-text index."""
        return shelves(os.path.dirname(self.facts.path))

    @cached_property
    def words(self) -> Words:
        """Splits questions into words."""
        return Words()

    @cached_property
    def ranks(self) -> dict[str, float]:
        """How central each file is."""
        return self.facts.ranks()

    @cached_property
    def modules(self) -> dict[str, list[tuple[list[str], int]]]:
        """The files that are modules, by the last part of their dotted names: the whole name, and the place in
        `bases`."""
        found: dict[str, list[tuple[list[str], int]]] = {}
        for number, (_, path, language, _) in enumerate(self.bases):
            parts = module_of(path) if language in _MODULAR else []
            if parts:
                found.setdefault(parts[-1], []).append((parts, number))
        return found

    @cached_property
    def counts(self) -> Counter[str]:
        """How many files there are of each language."""
        return Counter(row[2] for row in self.bases)

    def searched(self, language: str) -> str:
        """What was looked through for names of a language, in words."""
        number = self.counts[language]
        return f"{number:,} {language_of(language).title} file{'s' if number != 1 else ''} searched"


_MODULAR = frozenset(("python", "cython", "javascript", "typescript", "rust", "starlark"))  # where a file is a module
_HOMES = frozenset(("__init__", "index", "mod", "lib", "main"))  # files that speak for their folder


def module_of(path: str) -> list[str]:
    """A file's dotted name: its folders and its name, where that does not only speak for the folder."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return [*filter(None, folders.split("/")), *([] if stem in _HOMES else [stem])]


# Files for people before what is made, borrowed or only tries it.
_ORDER: dict[str, int] = {
    Category.SOURCE: 0, Category.BUILD: 1, Category.CONFIGURATION: 1, Category.GENERATED: 2, Category.EXAMPLE: 3,
    Category.BENCHMARK: 3, Category.TEST: 4, Category.VENDORED: 5, Category.DOCUMENTATION: 6, Category.DATA: 6,
}  # fmt: skip


def rank_of(category: str) -> int:
    """Where files of a category stand in an answer: source before tests."""
    return _ORDER.get(category, 6)
