"""The plan of the book: which folders are chapters, which parts they form, and in which order they can be read.

In: an index. Out: `Plan`. The rule: a line counts by what its file is for (source 1, build and examples 1/2, documents
1/4, tests and benchmarks 1/8, what is generated, borrowed or data nothing) and by how central the file is (by half at
least). A folder is a chapter when it holds a hundredth of the whole by that measure, or when it lies at the root and
holds a four-hundredth; when as much is left to it besides the chapters below it; and when it is more than one short
file. What has no chapter of its own is a section in the chapter of the nearest folder above that has one, so nothing is
left out; the root's own chapter holds what is left.

A folder at the root with several chapters is a part; the others form parts by what they are for. What others stand on
comes first: parts, and chapters in them, are set in an order in which as few uses as possible lead forward.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

from concordance.base.model import Category
from concordance.facts.updates.store_delta import Aspect
from concordance.query.folders import ASIDE, Folder, folders
from concordance.query.index.counts.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import MOVED, going_on, lasting, plain, unless

_SHARES: dict[str, float] = {
    Category.SOURCE: 1.0, Category.BUILD: 0.5, Category.EXAMPLE: 0.5, Category.CONFIGURATION: 0.5,
    Category.DOCUMENTATION: 0.25, Category.TEST: 0.125, Category.BENCHMARK: 0.125,
}  # fmt: skip
_CHAPTER, _AT_ROOT, _OWN = 1 / 100, 1 / 400, 1 / 400
_ALONE = 200  # lines of a file that is a chapter by itself
GLOSSARY, NAMES, PATHS, ROOT = "glossary", "names", "reading-paths", "root"  # the book's own pages


class Chapter(NamedTuple):
    """One chapter."""

    folder: str
    name: str  # of its page
    sections: list[str]  # folders below it that have no chapter, in the order of paths
    files: list[str]  # all that it covers
    lines: int  # of text that people write: what is data, made or borrowed is not read

    @property
    def homes(self) -> list[str]:
        """The folders whose files it covers."""
        return [self.folder, *self.sections]


class BookPart(NamedTuple):
    """Chapters that are read together."""

    title: str
    is_folder: bool  # whether the title is a folder's name
    chapters: list[Chapter]


class Plan:
    """The parts of the book."""

    def __init__(self, index: Index, before: Plan | None) -> None:
        """`before` is the plan of the last time: what is said of folders that hold what they held is the same."""
        self._index = index
        self._made_of = folders(index).own, index.ranks
        self._alone = self._weighed(before)
        self._weights = self._summed()
        chosen = self._chosen()
        self.home: dict[str, str] = {}  # of every folder, the folder whose chapter it is in
        for folder in folders(index).all:
            near = folder
            while near not in chosen and near:
                near = near.rpartition("/")[0]
            self.home[folder] = near
        self.chapters = self._chapters(chosen)
        self._uses = self._counted()
        self.parts = self._parts()
        self.ordered = [chapter for part in self.parts for chapter in part.chapters]

    def _weighed(self, before: Plan | None) -> dict[str, float]:
        """What each folder weighs, without those in it."""
        own, ranks = self._made_of
        had, _ = before._made_of if before is not None and before._made_of[1] is ranks else ({}, ranks)
        known = before._alone if before is not None else {}
        files = plain(ledger(self._index).files)
        found = {}
        for path, folder in folders(self._index).all.items():
            found[path] = known[path] if had.get(path) is own[path] else sum(
                files[name].lines * _SHARES.get(files[name].category, 0.0) * (0.5 + 0.5 * ranks.get(name, 0.0))
                for name in folder.files
            )  # fmt: skip
        return found

    def _summed(self) -> dict[str, float]:
        """The same, all below it included."""
        found = dict.fromkeys(self._alone, 0.0)
        for folder in sorted(found, key=lambda folder: -folder.count("/")):  # from the innermost up
            found[folder] += self._alone[folder]
            if folder:
                found[folder.rpartition("/")[0]] += found[folder]
        return found

    def _chosen(self) -> set[str]:
        """The folders that are chapters; the root always is one."""
        every = folders(self._index).all
        total = self._weights[""] or 1.0
        found = {""}
        covered = dict.fromkeys(every, 0.0)  # what the chapters below a folder hold
        for path in sorted(every, key=lambda path: (-path.count("/"), path)):
            weight = self._weights[path]
            covered[path] = sum(covered[child] for child in every[path].folders)
            least = _AT_ROOT if path and "/" not in path else _CHAPTER
            heavy = path and weight and weight >= least * total and weight - covered[path] >= _OWN * total
            if heavy and (every[path].count > 1 or every[path].lines >= _ALONE):
                found.add(path)
                covered[path] = weight
        return found

    def _chapters(self, chosen: set[str]) -> dict[str, Chapter]:
        every, own = folders(self._index).all, self._made_of[0]
        files: dict[str, list[str]] = {folder: [] for folder in chosen}
        sections: dict[str, list[str]] = {folder: [] for folder in chosen}
        lines = dict.fromkeys(chosen, 0)
        for path, folder in every.items():
            files[self.home[path]] += folder.files
            lines[self.home[path]] += sum(n for one, n in own[path].category_lines.items() if one not in ASIDE)
            if self.home[path] != path:
                sections[self.home[path]].append(path)
        used: set[str] = {GLOSSARY, NAMES, PATHS, ROOT}
        found = {}
        for path in sorted(chosen):
            name = path.replace("/", "-") or ROOT
            while path and name.lower() in used:
                name += "-"
            used.add(name.lower())
            found[path] = Chapter(path, name, sections[path], sorted(files[path]), lines[path])
        return {folder: chapter for folder, chapter in found.items() if chapter.files}

    def _counted(self) -> Counter[tuple[str, str]]:
        """How many pairs of files use one another between chapters: from, to."""
        found: Counter[tuple[str, str]] = Counter()
        for (user, target), times in _between(self._index).items():
            here, there = self.home[user], self.home[target]
            if here != there:
                found[here, there] += times
        return found

    def uses(self, folder: str) -> list[tuple[str, int]]:
        """The chapters that one stands on, by uses."""
        return self._sides[0].get(folder, [])

    def users(self, folder: str) -> list[tuple[str, int]]:
        """The chapters that stand on one, by uses."""
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

    def _parts(self) -> list[BookPart]:
        every = folders(self._index).all
        groups: dict[tuple[str, bool], list[str]] = {}
        tops = Counter(folder.partition("/")[0] for folder in self.chapters if folder)
        for folder in self.chapters:
            top = folder.partition("/")[0]
            key = (top, True) if folder and tops[top] > 1 else (_kind(every[folder]) if folder else _LAST, False)
            groups.setdefault(key, []).append(folder)
        names = list(groups)
        between: Counter[tuple[int, int]] = Counter()
        owner = {folder: number for number, name in enumerate(names) for folder in groups[name]}
        for (here, there), times in self._uses.items():
            if here in owner and there in owner and owner[here] != owner[there]:
                between[owner[here], owner[there]] += times
        kinds = [_kind(every[name]) if is_folder else name for name, is_folder in names]
        ordered = [
            number
            for kind in (*_KINDS, _LAST)
            for number in in_order([n for n, name in enumerate(kinds) if name == kind], between)
        ]
        found = [BookPart(*names[number], self._inside(groups[names[number]])) for number in ordered]
        return [found[0]._replace(title="Code"), *found[1:]] if found and found[0].title == _KINDS[0] else found

    def _inside(self, folder_names: list[str]) -> list[Chapter]:
        places = {folder: number for number, folder in enumerate(folder_names)}
        between = Counter(
            {(places[a], places[b]): times for (a, b), times in self._uses.items() if a in places and b in places}
        )
        return [self.chapters[folder_names[place]] for place in in_order(list(range(len(folder_names))), between)]


_KINDS = ("Further code", "Examples and benchmarks", "Tests", "Building, tools and settings", "Documents")
_LAST = "The root"
_KIND_OF = {
    Category.EXAMPLE: 1, Category.BENCHMARK: 1, Category.TEST: 2, Category.BUILD: 3, Category.CONFIGURATION: 3,
    Category.DOCUMENTATION: 4, Category.DATA: 4, Category.VENDORED: 0, Category.GENERATED: 0,
}  # fmt: skip


def _kind(folder: Folder) -> str:
    """The part that a folder alone belongs to: code, if that has a quarter of its lines, else what most of them are."""
    lines = {one: times for one, times in folder.category_lines.items() if one not in ASIDE} or folder.category_lines
    if 4 * lines.get(Category.SOURCE, 0) >= sum(lines.values()):
        return _KINDS[0]
    return _KINDS[_KIND_OF.get(Category(max(lines, key=lambda one: (lines[one], one))), 0)]


@lasting(unless(Aspect.INTO, Aspect.OUT, Aspect.NAMES, MOVED))
def _between(index: Index) -> Counter[tuple[str, str]]:
    """How many pairs of files use one another between folders: from, to. Documents do not count as users."""
    homes = {base: path.rpartition("/")[0] for base, path, _, _ in index.bases}
    prose = {base for base, _, _, category in index.bases if category == Category.DOCUMENTATION}
    return Counter(
        (homes[user], homes[target])
        for user, targets in index.neighbours.all_uses.items() if user not in prose
        for target in targets
    )  # fmt: skip


def in_order(places: list[int], uses: Counter[tuple[int, int]]) -> list[int]:
    """Places with what is used before who uses it, as far as can be: who uses nothing that is left goes first, who is
    used by nothing that is left goes last, and between them whoever is used most for how much it uses. At last
    neighbours change places where that is better."""
    left = list(places)
    first: list[int] = []
    last: list[int] = []
    while left:
        inside = set(left)
        out = {one: sum(times for (a, b), times in uses.items() if a == one and b in inside) for one in left}
        into = {one: sum(times for (a, b), times in uses.items() if b == one and a in inside) for one in left}
        bottom = next((one for one in left if not out[one] and into[one]), None)
        top = next((one for one in left if out[one] and not into[one]), None)
        best = max(left, key=lambda one: ((into[one] + 1) / (out[one] + 1), -one))
        chosen = bottom if bottom is not None else top if top is not None else best
        (last if bottom is None and top is not None else first).append(chosen)
        left.remove(chosen)
    found = [*first, *reversed(last)]
    at = 1
    while at < len(found):  # each change leaves fewer uses that lead forward, so it ends
        one, other = found[at - 1], found[at]
        if uses[one, other] > uses[other, one]:
            found[at - 1], found[at] = other, one
            at = max(1, at - 1)
        else:
            at += 1
    return found


@going_on
def plan(index: Index, before: Plan | None) -> Plan:
    """The plan of the repository's book."""
    return Plan(index, before)


def chapter_of(index: Index, folder: str) -> str:
    """The name of the chapter that a folder is in."""
    index.reads.note("chapter", folder)
    made = plan(index)
    chapter = made.chapters.get(made.home[folder])
    return chapter.name if chapter is not None else ""
