"""The plan of the book: which folders are chapters, which parts they form, and in which order they are read.

In: an index. Out: `Plan`. Each folder has a weight: the sum of its files' lines, each line weighted by the file's
category (source 1; build, configuration and examples 1/2; documents 1/4; tests and benchmarks 1/8; generated, vendored
and data files 0) and by how central the file is (a factor of 1/2 to 1). A folder becomes a chapter if

- its subtree has 1/100 of the total weight, or 1/400 if it is at the root,
- at least 1/400 of the total remains to it after subtracting the chapters below it, and
- it is more than a single short file.

Any other folder is a section in the chapter of its nearest ancestor that is one. The root is always a chapter, so no
file is left out.

A top-level folder with several chapters is a part of the book; other chapters are grouped into parts by category. What
others depend on comes first: parts, and chapters within parts, are ordered so that few uses point forward.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

from concordance.base.model import Category, File
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import FILE_USES, incremental, shared_until, unrecorded_copy
from concordance.query.folders.folder_tree import UNWRITTEN_CATEGORIES, Folder, folders
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

_SHARES: dict[str, float] = {
    Category.SOURCE: 1.0, Category.BUILD: 0.5, Category.EXAMPLE: 0.5, Category.CONFIGURATION: 0.5,
    Category.DOCUMENTATION: 0.25, Category.TEST: 0.125, Category.BENCHMARK: 0.125,
}  # fmt: skip
_CHAPTER, _AT_ROOT, _OWN = 1 / 100, 1 / 400, 1 / 400
_MIN_SINGLE_FILE = 200  # least lines of a single file that is a chapter
GLOSSARY, NAMES, PATHS, ROOT = "glossary", "names", "reading-paths", "root"  # the book's own pages


class Chapter(NamedTuple):
    """One chapter of the book."""

    folder: str
    name: str  # of its page
    sections: list[str]  # folders below it that have no chapter, sorted by path
    files: list[str]  # all files that it covers
    lines: int  # lines that people write and read, without data, generated and vendored files

    @property
    def folders(self) -> list[str]:
        """The folders whose files the chapter covers."""
        return [self.folder, *self.sections]


class BookPart(NamedTuple):
    """A part of the book: chapters that belong together."""

    title: str
    is_folder: bool  # True if the title is the name of a folder
    chapters: list[Chapter]


class Plan:
    """The parts and chapters of the book."""

    def __init__(self, index: Index, before: Plan | None) -> None:
        """Compute the plan; reuse from `before`, the previous plan, the weights of folders that did not change."""
        self._index = index
        self._inputs = folders(index).own, index.ranks
        self._alone = self._own_weights(before)
        self._weights = self._total_weights()
        chosen = self._choose_folders()
        self.chapter_folder: dict[str, str] = {}  # by folder: the folder of the chapter that covers it
        for folder in folders(index).all:
            covering = folder
            while covering not in chosen and covering:
                covering = covering.rpartition("/")[0]
            self.chapter_folder[folder] = covering
        self.chapters = self._chapters(chosen)
        self._uses = self._count_uses()
        self.parts = self._group_chapters()
        self.ordered = [chapter for part in self.parts for chapter in part.chapters]

    def _own_weights(self, before: Plan | None) -> dict[str, float]:
        """Return the weight of the files directly in each folder."""
        own, ranks = self._inputs
        had, _ = before._inputs if before is not None and before._inputs[1] is ranks else ({}, ranks)
        known = before._alone if before is not None else {}
        files = unrecorded_copy(ledger(self._index).files)
        weights = {}
        for path, folder in folders(self._index).all.items():
            weights[path] = (
                known[path]
                if had.get(path) is own[path]
                else sum(_weight(files[name], ranks.get(name, 0.0)) for name in folder.files)
            )
        return weights

    def _total_weights(self) -> dict[str, float]:
        """Return the weight of each folder with everything below it."""
        weights = dict.fromkeys(self._alone, 0.0)
        for folder in sorted(weights, key=lambda folder: -folder.count("/")):  # innermost first
            weights[folder] += self._alone[folder]
            if folder:
                weights[folder.rpartition("/")[0]] += weights[folder]
        return weights

    def _choose_folders(self) -> set[str]:
        """Return the folders that are chapters; the root always is."""
        all_folders = folders(self._index).all
        total = self._weights[""] or 1.0
        chosen = {""}
        covered = dict.fromkeys(all_folders, 0.0)  # the weight of the chapters below a folder
        for path in sorted(all_folders, key=lambda path: (-path.count("/"), path)):
            weight = self._weights[path]
            covered[path] = sum(covered[child] for child in all_folders[path].folders)
            least = _AT_ROOT if path and "/" not in path else _CHAPTER
            heavy = path and weight and weight >= least * total and weight - covered[path] >= _OWN * total
            if heavy and (all_folders[path].count > 1 or all_folders[path].lines >= _MIN_SINGLE_FILE):
                chosen.add(path)
                covered[path] = weight
        return chosen

    def _chapters(self, roots: set[str]) -> dict[str, Chapter]:
        all_folders, own = folders(self._index).all, self._inputs[0]
        files: dict[str, list[str]] = {folder: [] for folder in roots}
        sections: dict[str, list[str]] = {folder: [] for folder in roots}
        lines = dict.fromkeys(roots, 0)
        for path, folder in all_folders.items():
            files[self.chapter_folder[path]] += folder.files
            lines[self.chapter_folder[path]] += sum(
                n for category, n in own[path].category_lines.items() if category not in UNWRITTEN_CATEGORIES
            )
            if self.chapter_folder[path] != path:
                sections[self.chapter_folder[path]].append(path)
        used: set[str] = {GLOSSARY, NAMES, PATHS, ROOT}
        chapters = {}
        for path in sorted(roots):
            name = path.replace("/", "-") or ROOT
            while path and name.lower() in used:
                name += "-"
            used.add(name.lower())
            chapters[path] = Chapter(path, name, sections[path], sorted(files[path]), lines[path])
        return {folder: chapter for folder, chapter in chapters.items() if chapter.files}

    def _count_uses(self) -> Counter[tuple[str, str]]:
        """Count the pairs of files in which a file of one chapter uses a file of another, by (user, used)."""
        counts: Counter[tuple[str, str]] = Counter()
        for (user, target), times in _uses_between_folders(self._index).items():
            here, there = self.chapter_folder[user], self.chapter_folder[target]
            if here != there:
                counts[here, there] += times
        return counts

    def weight(self, folder: str) -> float:
        """Return the weight of a folder with everything below it."""
        return self._weights[folder]

    def file_weight(self, path: str) -> float:
        """Return the weight of a file."""
        return _weight(ledger(self._index).files[path], self._index.ranks.get(path, 0.0))

    def uses(self, folder: str) -> list[tuple[str, int]]:
        """Return the chapters that a chapter depends on, most used first."""
        return self._sides[0].get(folder, [])

    def users(self, folder: str) -> list[tuple[str, int]]:
        """Return the chapters that depend on a chapter, by number of uses."""
        return self._sides[1].get(folder, [])

    @cached_property
    def _sides(self) -> tuple[dict[str, list[tuple[str, int]]], dict[str, list[tuple[str, int]]]]:
        uses: dict[str, list[tuple[str, int]]] = {}
        users: dict[str, list[tuple[str, int]]] = {}
        for (here, there), times in sorted(self._uses.items(), key=lambda row: (-row[1], row[0])):
            uses.setdefault(here, []).append((there, times))
            users.setdefault(there, []).append((here, times))
        return uses, users

    # --- order

    def _group_chapters(self) -> list[BookPart]:
        all_folders = folders(self._index).all
        groups: dict[tuple[str, bool], list[str]] = {}
        tops = Counter(folder.partition("/")[0] for folder in self.chapters if folder)
        for folder in self.chapters:
            top = folder.partition("/")[0]
            key = (
                (top, True)
                if folder and tops[top] > 1
                else (_kind(all_folders[folder]) if folder else _ROOT_TITLE, False)
            )
            groups.setdefault(key, []).append(folder)
        names = list(groups)
        between: Counter[tuple[int, int]] = Counter()
        owner = {folder: number for number, name in enumerate(names) for folder in groups[name]}
        for (here, there), times in self._uses.items():
            if here in owner and there in owner and owner[here] != owner[there]:
                between[owner[here], owner[there]] += times
        kinds = [_kind(all_folders[name]) if is_folder else name for name, is_folder in names]
        ordered = [
            number
            for kind in (*_KINDS, _ROOT_TITLE)
            for number in order_by_use([n for n, name in enumerate(kinds) if name == kind], between)
        ]
        parts = [BookPart(*names[number], self._chapters_of(groups[names[number]])) for number in ordered]
        return [parts[0]._replace(title="Code"), *parts[1:]] if parts and parts[0].title == _KINDS[0] else parts

    def _chapters_of(self, folder_names: list[str]) -> list[Chapter]:
        places = {folder: number for number, folder in enumerate(folder_names)}
        between = Counter(
            {(places[a], places[b]): times for (a, b), times in self._uses.items() if a in places and b in places}
        )
        return [self.chapters[folder_names[place]] for place in order_by_use(list(range(len(folder_names))), between)]


def _weight(file: File, rank: float) -> float:
    return file.lines * _SHARES.get(file.category, 0.0) * (0.5 + 0.5 * rank)


_KINDS = ("Further code", "Examples and benchmarks", "Tests", "Building, tools and settings", "Documents")
_ROOT_TITLE = "The root"
_KIND_OF = {
    Category.EXAMPLE: 1, Category.BENCHMARK: 1, Category.TEST: 2, Category.BUILD: 3, Category.CONFIGURATION: 3,
    Category.DOCUMENTATION: 4, Category.DATA: 4, Category.VENDORED: 0, Category.GENERATED: 0,
}  # fmt: skip


def _written_lines(folder: Folder) -> dict[str, int]:
    """Return the lines of a folder by category, without generated, vendored and data files if there are others."""
    lines = {
        category: times for category, times in folder.category_lines.items() if category not in UNWRITTEN_CATEGORIES
    }
    return lines or dict(folder.category_lines)


def is_code(folder: Folder) -> bool:
    """True if a quarter of the lines in a folder are source."""
    lines = _written_lines(folder)
    return 4 * lines.get(Category.SOURCE, 0) >= sum(lines.values())


def _kind(folder: Folder) -> str:
    """Return the part for a folder with one chapter: code if a quarter of its lines are source, else by most lines."""
    if is_code(folder):
        return _KINDS[0]
    lines = _written_lines(folder)
    return _KINDS[_KIND_OF.get(Category(max(lines, key=lambda one: (lines[one], one))), 0)]


@shared_until(Aspect.DISPLAY_NAMES, FILE_USES)
def _uses_between_folders(index: Index) -> Counter[tuple[str, str]]:
    """Count the pairs of files in which one uses the other, by (user's folder, used folder); documents do not count."""
    folder_of = {file: path.rpartition("/")[0] for file, path, _, _ in index.file_rows}
    return Counter(
        (folder_of[user], folder_of[target])
        for user, targets in index.neighbours.all_uses.items() if user not in index.documents
        for target in targets
    )  # fmt: skip


def order_by_use(places: list[int], uses: Counter[tuple[int, int]]) -> list[int]:
    """Order items so that, as far as possible, each comes after what it uses.

    Dependencies may be cyclic, so a topological sort is not enough. Repeatedly, an item that uses none of the remaining
    items is put first, or else one that none of them uses is put last, or else the one with the highest ratio of
    incoming to outgoing uses is put first. Finally, neighbours are swapped while that leaves fewer forward uses.
    """
    left = list(places)
    first: list[int] = []
    last: list[int] = []
    while left:
        inside = set(left)
        out = {item: sum(times for (a, b), times in uses.items() if a == item and b in inside) for item in left}
        into = {item: sum(times for (a, b), times in uses.items() if b == item and a in inside) for item in left}
        bottom = next((item for item in left if not out[item] and into[item]), None)
        top = next((item for item in left if out[item] and not into[item]), None)
        best = max(left, key=lambda item: ((into[item] + 1) / (out[item] + 1), -item))
        chosen = bottom if bottom is not None else top if top is not None else best
        (last if bottom is None and top is not None else first).append(chosen)
        left.remove(chosen)
    ordered = [*first, *reversed(last)]
    at = 1
    while at < len(ordered):  # terminates, because each swap leaves fewer forward uses
        item, other = ordered[at - 1], ordered[at]
        if uses[item, other] > uses[other, item]:
            ordered[at - 1], ordered[at] = other, item
            at = max(1, at - 1)
        else:
            at += 1
    return ordered


@incremental
def plan(index: Index, before: Plan | None) -> Plan:
    """Return the plan of the repository's book."""
    return Plan(index, before)


def chapter_of(index: Index, folder: str) -> str:
    """Return the name of the chapter that covers a folder, "" if there is none."""
    index.reads.note("chapter", folder)
    book_plan = plan(index)
    chapter = book_plan.chapters.get(book_plan.chapter_folder[folder])
    return chapter.name if chapter is not None else ""
