"""Reading paths: which files to read to understand a chapter or the whole, in which order, and about how long it takes.

In: an index and folders. Out: the files with their central documented definitions, ordered so that what others depend
on comes first, each with a reading time. The estimate is one minute per forty lines of code or comment, not counting
blank lines, and at least one minute per file.

The types that most files use are the vocabulary of a repository: every part passes them on. What drives the parts, a
dispatcher, an engine, a registry, has one instance and few users, so that no count of uses finds it. The path through
the whole has both: the central definition of each of the chapters that others use most, and the documented types with
a single instance that several chapters use.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from concordance.base.blocks import Block, Item, Items, Piece, Ref, Text, To, count_noun
from concordance.base.model import TYPE_KINDS, Category, Kind
from concordance.facts.codec import SymbolHead
from concordance.facts.updates.reads import memoised
from concordance.query.book.chapters import Chapter, order_by_use, plan
from concordance.query.descriptions.files import describe
from concordance.query.folders.definition_uses import NAMED_KINDS, used_definitions
from concordance.query.folders.folder_tree import folders
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index

LINES_PER_MINUTE = 40  # lines read in a minute
_MAX_STEPS = 6  # files on a path
_CONSIDERED = 40  # central files among which those of a path are chosen
_LONG = 20_000  # characters of documentation; more is not better
_TYPE = 200  # what a type counts beside its documentation: its members explain it, too
_DEFINING = TYPE_KINDS | {Kind.FUNCTION, Kind.METHOD}
_TESTING = re.compile(
    r"(?:^|/)_?(?:(?:\w+[_-])?tests?|testing|specs?|test_?utils?|test_?helpers?|conftest)(?:/|\.\w+$)"
)
_INSTANCE_FILES = 4  # the least files that use the single instance of a type …
_INSTANCE_CHAPTERS = 2  # … the least other chapters with files that do …
_INSTANCE_WORDS = 400  # … and the least characters of documentation of such a type
_MAX_INSTANCES = 4  # on the path through the whole
_WHOLE = 12  # files on the path through the whole
_READ = frozenset((Category.SOURCE, Category.EXAMPLE, Category.DOCUMENTATION, Category.BUILD))
_CREATES = re.compile(r"(?:\s*:[^=]+)?\s*=\s*(?:new\s+)?(\w+)\(")
_RETURNS = re.compile(r"(\w+)\s*[&*]\s*(?:\w+::)*(\w+)\s*\(\s*(?:void)?\s*\)")
_MIN_MINUTES_IN_HOURS = 60  # minutes from which times are given in hours
_MIN_MINUTES_IN_WHOLE_HOURS = 600  # minutes from which times are rounded to hours


class ReadingStep(NamedTuple):
    """One file on a reading path."""

    path: str
    minutes: int


def reading_minutes(index: Index, path: str) -> int:
    """Return how many minutes a file takes to read."""
    metrics = outline(index, path).metrics
    return max(1, round((metrics.code + metrics.comment) / LINES_PER_MINUTE))


def time_in_words(minutes: int) -> str:
    """Return a number of minutes in words."""
    if minutes < _MIN_MINUTES_IN_HOURS:
        return count_noun(minutes, "minute")
    if minutes >= _MIN_MINUTES_IN_WHOLE_HOURS:
        return count_noun(round(minutes / 60), "hour")
    hours, left = divmod(minutes, 60)
    return count_noun(hours, "hour") + (f" {count_noun(left, 'minute')}" if left else "")


def reading_path(index: Index, paths: Sequence[str]) -> list[ReadingStep]:
    """Return the files of the given folders to read first, as far as possible each after those that it uses."""
    return _in_order(index, files_to_read(index, paths, _MAX_STEPS))


def _in_order(index: Index, chosen: Sequence[str]) -> list[ReadingStep]:
    bases = {index.file_id(path): place for place, path in enumerate(chosen)}
    uses: Counter[tuple[int, int]] = Counter()
    for base, place in bases.items():
        for target, times in index.neighbours.uses_of(base).items():
            if target in bases:
                uses[place, bases[target]] += times
    return [
        ReadingStep(chosen[place], reading_minutes(index, chosen[place]))
        for place in order_by_use(list(range(len(chosen))), uses)
    ]


class WholePath(NamedTuple):
    """The reading path through a whole repository."""

    steps: list[ReadingStep]
    chapters: int  # number of files with the central definition of a chapter
    instances: int  # number of files with a type that has a single instance


def path_through_the_whole(index: Index) -> WholePath:
    """Return the files with the vocabulary of a repository, and with what drives its parts."""
    book_plan = plan(index)
    used = {
        inner.folder: sum(times for _, times in book_plan.users(inner.folder))
        for inner in book_plan.ordered
        if inner.folder and not helps_tests(f"{inner.folder}/")
    }
    chapters = [book_plan.chapters[folder] for folder in sorted(used, key=lambda folder: (-used[folder], folder))]
    drivers = [path for inner in chapters for path in _single_instances(index, inner)[:1]][:_MAX_INSTANCES]
    central: list[str] = []
    for chapter in chapters[:_WHOLE]:
        if len(central) + len(drivers) < _WHOLE:
            first = files_to_read(index, chapter.folders, 1)
            central += [path for path in first if path not in drivers and index.category_of(path) in _READ]
    return WholePath(_in_order(index, [*central, *drivers]), len(central), len(drivers))


def _single_instances(index: Index, chapter: Chapter) -> list[str]:
    """Return the files of a chapter with a documented type whose single instance several chapters use, best first."""
    book_plan = plan(index)
    instances: list[tuple[float, str]] = []
    for path in folders(index).most_central(chapter.folders, _CONSIDERED):
        worth = -1.0 if helps_tests(path) else _worth_of_instance(index, path)
        if worth > 0:
            users = map(index.path_of_file, index.neighbours.users_of(index.file_id(path)))
            user_folders = {user.rpartition("/")[0] for user in users if index.category_of(user) == Category.SOURCE}
            if (
                len({book_plan.chapter_folder[folder] for folder in user_folders} - {chapter.folder})
                >= _INSTANCE_CHAPTERS
            ):
                instances.append((-worth, path))
    return [path for _, path in sorted(instances)]


@memoised(1 << 16)
def _worth_of_instance(index: Index, path: str) -> float:
    """Return how much a file explains of a type with a single instance (see `_explanatory_worth`); -1 if it has none
    that is documented and used.

    The instance is a variable of the file that creates it (`apps = Apps()`), or what a function without parameters
    returns a reference to (`static Dispatcher& singleton()`).
    """
    symbols = outline(index, path).symbols
    types = {head.name: place for place, head in enumerate(symbols) if head.kind in TYPE_KINDS and not head.declaration}
    accessors: dict[str, list[int]] = {}
    for place, symbol in enumerate(symbols):
        name = _type_of_instance(symbol)
        if name in types:
            accessors.setdefault(name, []).append(place)
    times = {row.place: row.times for row in used_definitions(index, path)} if accessors else {}
    worth = -1.0
    for name, places in accessors.items():
        words = _documentation(symbols, types[name])
        used = [times[place] for place in places if times.get(place, 0) >= _INSTANCE_FILES]
        if len(used) == 1 and words >= _INSTANCE_WORDS:
            worth = max(worth, math.sqrt(used[0] * words))
    return worth


def _type_of_instance(symbol: SymbolHead) -> str:
    """Return the name of the type that a variable holds or a function returns a reference to; "" if unknown."""
    if symbol.kind in (Kind.VARIABLE, Kind.CONSTANT) and symbol.parent < 0:
        created = _CREATES.match(symbol.signature.removeprefix(symbol.name))
        return created[1] if created is not None else ""
    if symbol.kind in (Kind.FUNCTION, Kind.METHOD):
        returned = _RETURNS.search(symbol.signature)
        if returned is not None and returned[2] == symbol.name:
            return returned[1] if symbol.kind == Kind.FUNCTION or "static " in symbol.signature else ""
    return ""


def files_to_read(index: Index, paths: Sequence[str], limit: int) -> list[str]:
    """Return the files with the definitions that are documented best and used most, then other central files.

    A file that only forwards to others or helps tests is chosen only if there is nothing else.
    """
    central = folders(index).most_central(paths, _CONSIDERED)
    worth = {path: _explanatory_worth(index, path) for path in central}
    useful = [path for path in central if worth[path] >= 0]
    return sorted(useful or central, key=lambda path: -worth[path])[:limit]


@memoised(1 << 16)
def _explanatory_worth(index: Index, path: str) -> float:
    """Return how much a file explains: the square root of the documentation of a definition and its members times its
    users; -1 if it defines no types or functions of its own, or helps tests."""
    symbols = outline(index, path).symbols
    if helps_tests(path) or _DEFINING.isdisjoint(symbol.kind for symbol in symbols if not symbol.declaration):
        return -1.0
    worth = 0.0
    for row in used_definitions(index, path):
        if row.kind in NAMED_KINDS and not symbols[row.place].declaration:
            words = _documentation(symbols, row.place) + (_TYPE if row.kind in TYPE_KINDS else 0)
            worth = max(worth, math.sqrt(row.times * words))
    return worth


def _documentation(symbols: Sequence[SymbolHead], place: int) -> int:
    """Return how many characters document a definition and everything inside of it."""
    first, inside = symbols[place], {place}
    characters = len(first.doc)
    for other in range(place + 1, len(symbols)):
        if symbols[other].start_line > first.end_line:
            break
        if symbols[other].parent in inside:
            inside.add(other)
            characters += len(symbols[other].doc)
    return min(characters, _LONG)


def helps_tests(path: str) -> bool:
    """True if a file or folder is for tests, by its path."""
    return _TESTING.search(path) is not None


def chapter_path(index: Index, chapter: Chapter, label: Piece) -> list[Block]:
    """Return the reading path of one chapter."""
    steps = reading_path(index, chapter.folders)
    if not steps:
        return []
    total = sum(step.minutes for step in steps)
    which = "this file" if len(steps) == 1 else f"these {len(steps)} files in this order"
    return [Text(["To understand ", label, f", read {which}, about {time_in_words(total)}:"]), step_list(index, steps)]


def step_list(index: Index, steps: Sequence[ReadingStep]) -> Items:
    """Return the files of a path as a numbered list with reading times."""
    return Items(
        [
            Item([Ref(To.FILE, step.path), f", {count_noun(step.minutes, 'minute')}: ", *describe(index, step.path)])
            for step in steps
        ],
        ordered=True,
    )
