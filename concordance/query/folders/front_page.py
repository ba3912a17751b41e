"""The front page's introduction: the main parts of a repository, its core concepts, and where to read, build and test.

In: an index. Out: blocks. The main parts are five to eight folders, or files where a folder is flat: the heaviest part
is split until there are enough of about the same weight. The weight is that of the book's plan, so tests, documents,
vendored and generated files hardly count. Each part is shown with one line about it and the file to begin with.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import NamedTuple

from concordance.base.blocks import (
    Block,
    Code,
    Item,
    Items,
    Piece,
    Pieces,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import TYPE_KINDS, Category, Kind
from concordance.extract.registry import is_analysed, language_of
from concordance.query.book.chapters import is_code, plan
from concordance.query.book.key_definitions import (
    KeyDefinition,
    key_definitions_of_folder,
    key_types_of_folder,
    most_used_definition,
)
from concordance.query.book.reading_paths import files_to_read, helps_tests
from concordance.query.descriptions import describe
from concordance.query.folders import UNREAD, Folder, folder_definitions, folders
from concordance.query.folders.description import describe_folder
from concordance.query.folders.project_name import readme_of
from concordance.query.index.file_model import ref_of
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index

_LEAST_PARTS, _MOST_PARTS = 5, 8
_LARGE = 0.4  # share of the whole from which on a part is split even if there are enough
_FEW = 3  # parts up to which a folder is split into small pieces
_SMALL = 0.02  # share of the whole below which a folder or file is not a part
_CONCEPTS = 8
_CONSIDERED = 60  # definitions among which concepts are chosen
_CANDIDATES = 6  # files among which the one to begin with is chosen
_MOST_BUILDS = 4  # build files that are named
_SHARE_OF_TESTS = 0.1  # least share of all tests in a folder that is named
_TESTS = 3  # languages for which a command is shown
_SUPPORT = re.compile(  # files that most others use, but that do not show how a part works
    r"(?:^|/)_?(?:errors?|exceptions?|utils?|utilities|helpers?|compat|constants?|types|typing|common|version)\.\w+$"
)
_ERROR = re.compile(r"(?:Error|Exception|Warning)\Z")
_BUILDS = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt", "Makefile", "BUILD.bazel",
    "pom.xml", "build.gradle", "build.gradle.kts", "meson.build", "configure.ac", "Kconfig", "composer.json",
    "DESCRIPTION", "Dockerfile",
)  # fmt: skip
_GUIDES = re.compile(r"(?:contributing|architecture|hacking|development|developing|design|glossary)[^/]*\.\w+$", re.I)
_HOME = re.compile(
    r"(?:^|/)_?(?:index|readme|contents|intro|introduction|overview|(?:user[-_ ]?)?guide|getting[-_ ]started|"
    r"quick[-_ ]?start)\.(?:md|rst|mdx|adoc|txt)$", re.I
)  # fmt: skip
_DOCUMENTATION = re.compile(
    r"(?:docs?|documentation|manual|guides?|book|handbook|website|www|site|wiki|vignettes|tutorials?)\Z", re.I
)
_AROUND = frozenset(("scripts", "script", "ci", "hack", "fuzz", "benchsuite"))  # tools of the project itself
_TOPICS = (  # headings of a README, by what a reader wants
    ("Use", re.compile(r"(?:quick ?start|getting started|(?:basic )?usage|(?:simple )?examples?\b|how to use)", re.I)),
    ("Install", re.compile(r"install", re.I)),
    ("Build", re.compile(r"(?:build|compil)", re.I)),
    ("Test", re.compile(r"(?:running )?(?:the )?.{0,20}\btests?\b", re.I)),
    ("Contribute", re.compile(r"(?:contribut|developing|development(?! (?:version|build|release)))", re.I)),
)  # fmt: skip


class MainPart(NamedTuple):
    """A folder or file that is one of the main parts of a repository."""

    path: str
    is_folder: bool
    weight: float


_VALUES = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.KEY, Kind.FIELD))


def main_parts(index: Index) -> list[MainPart]:
    """Return the main parts of the repository, heaviest first."""
    total = sum(part.weight for part in _inside(index, "", 0.0)) or 1.0
    parts = _inside(index, "", total)
    while True:
        large = next((part for part in parts if part.is_folder and _splits(index, part, total, len(parts))), None)
        if large is None or (len(parts) >= _LEAST_PARTS and large.weight < _LARGE * total):
            break
        inner = _inside(index, large.path, total)
        parts = sorted([part for part in parts if part is not large] + inner, key=_heaviest_first)
    return parts[:_MOST_PARTS]


def _heaviest_first(part: MainPart) -> tuple[float, str]:
    return -part.weight, part.path


def _splits(index: Index, part: MainPart, total: float, others: int) -> bool:
    """True if a folder can be split into parts that are at least half of it, or if there is hardly anything else."""
    inner = _inside(index, part.path, total)
    is_covered = 2 * sum(one.weight for one in inner) >= part.weight
    return (len(inner) > 1 and (is_covered or others < _FEW)) or (len(inner) == 1 and inner[0].is_folder and is_covered)


def _inside(index: Index, folder: str, total: float) -> list[MainPart]:
    """Return the folders and files in a folder that are large enough to be parts, heaviest first."""
    every, book_plan = folders(index).all, plan(index)
    found = [
        MainPart(path, True, book_plan.weight(path)) for path in every[folder].folders
        if _has_code(every[path]) and not helps_tests(f"{path}/") and every[path].name not in _AROUND
    ]  # fmt: skip
    files = ledger(index).files
    found += [
        MainPart(path, False, book_plan.file_weight(path)) for path in every[folder].files
        if files[path].category == Category.SOURCE and not helps_tests(path)
    ]  # fmt: skip
    large = (part for part in found if part.weight >= _SMALL * total)
    return sorted((part for part in large if _defines_something(index, part)), key=_heaviest_first)


def _has_code(folder: Folder) -> bool:
    """True if a quarter of the lines in a folder are source, not counting its tests."""
    lines = folder.category_lines
    return is_code(folder) or 4 * lines[Category.SOURCE] >= sum(lines.values()) - lines[Category.TEST] > 0


def _defines_something(index: Index, part: MainPart) -> bool:
    """True if a part defines more than values, or is in a language that is not analysed; a large literal is no part."""
    if part.is_folder:
        is_unread = any(title.endswith(UNREAD) for title in folders(index).all[part.path].languages)
        return is_unread or bool(folder_definitions(index).all[part.path].kinds.keys() - _VALUES)
    is_unread = not is_analysed(ledger(index).files[part.path].language)
    return is_unread or any(symbol.kind not in _VALUES for symbol in outline(index, part.path).symbols)


def parts_table(index: Index) -> list[Block]:
    """Return the table of main parts; nothing if there are not two of them."""
    rows: list[list[Pieces]] = []
    parts = main_parts(index)
    common = _common_folder([part.path for part in parts])
    for part in parts:
        label = part.path[len(common) + 1 :] if common else part.path
        if part.is_folder:
            name: Piece = Ref(To.INDEX, part.path, "", label)
            rows.append([[name], describe_folder(index, part.path), _first_file(index, part.path)])
        else:
            name = Ref(To.FILE, part.path, "", label)
            rows.append([[name], describe(index, part.path), _main_definition(index, part.path)])
    if len(rows) < 2:
        return []
    where = [Text(["The following parts are all in ", Ref(To.INDEX, common, "", common), "."])] if common else []
    return [*where, Table(["Part", "What it does", "Begin with"], rows)]


def _common_folder(paths: Sequence[str]) -> str:
    """Return the innermost folder that contains all of the given paths."""
    parents = [path.split("/")[:-1] for path in paths]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*parents, strict=False))
    return "/".join(names[0] for names in same)


def _first_file(index: Index, folder: str) -> list[Piece]:
    """Return a link to the file of a folder to begin with; nothing if its language is not analysed."""
    paths = files_to_read(index, folders(index).with_subfolders(folder), _CANDIDATES)
    paths = [path for path in paths if is_analysed(index.language_of(path))]
    begin = next((path for path in paths if not _SUPPORT.search(path)), next(iter(paths), ""))
    return [Ref(To.FILE, begin, "", begin[len(folder) + 1 :])] if begin else []


def _main_definition(index: Index, path: str) -> list[Piece]:
    used = most_used_definition(index, path, public=True)
    return [ref_of(index, used.id, short=True)] if used is not None else []


def concepts(index: Index) -> list[Block]:
    """Return the definitions that most files use and that their authors explain: types, then functions.

    Where few are explained, the types that most files use are added, unless most of the code cannot be read.
    """
    root = folders(index).all[""]
    explained = [row for row in _public(index, key_definitions_of_folder(index, root, _CONSIDERED)) if row.words]
    central = [row for row in explained if not _is_support(row)]
    central.sort(key=lambda row: row.kind not in TYPE_KINDS)
    chosen = (central if len(central) >= _CONCEPTS // 2 else explained)[:_CONCEPTS]
    if len(chosen) < _CONCEPTS // 2 and _is_mostly_analysed(index):
        names = {row.name for row in chosen}
        others = [row for row in _public(index, key_types_of_folder(index, root, _CONSIDERED)) if row.name not in names]
        added = others[: _CONCEPTS - len(chosen)]
        chosen = sorted([*chosen, *added], key=lambda row: (-row.times, row.name))
    return [Items([_concept(index, row) for row in chosen])] if chosen else []


def _is_support(row: KeyDefinition) -> bool:
    """True if many files use a definition, but nobody begins with it: an error, or what stands among the utilities."""
    return _SUPPORT.search(row.path) is not None or _ERROR.search(row.name) is not None


def _public(index: Index, rows: Sequence[KeyDefinition]) -> list[KeyDefinition]:
    """Return the definitions in source that are public, or all in source if none is."""
    files = ledger(index).files
    found = [
        row for row in rows
        if row.kind != Kind.MACRO and files[row.path].category == Category.SOURCE and not helps_tests(row.path)
    ]  # fmt: skip
    return [row for row in found if row.public] or found


def _concept(index: Index, row: KeyDefinition) -> Item:
    used = f" Used by {count_noun(row.times, 'file')}."
    if row.words:
        return Item([ref_of(index, row.id), ": ", *row.words, used])
    return Item([ref_of(index, row.id), f": {row.kind} in ", Ref(To.FILE, row.path), f".{used}"])


def _is_mostly_analysed(index: Index) -> bool:
    """True if half of the lines of source are in languages that are analysed."""
    lines = Counter[bool]()
    for file in ledger(index).files.values():
        if file.category == Category.SOURCE:
            lines[is_analysed(file.language)] += file.lines
    return lines[True] >= lines[False]


def where_to_start(index: Index) -> list[Block]:
    """Return what a reader may want first, each with the pages that answer it."""
    items: list[Item] = []
    found = documents(index)
    if found:
        items.append(Item([Strong("What it is"), ": ", *join_in_sentence(found)]))
    items.append(
        Item([Strong("How it works"), ": ", Ref(To.BOOK, "", "", "the book", False), ", chapters in reading order"])
    )
    items.append(
        Item([Strong("What a name means"), ": ", Ref(To.LETTERS, "", "", "keywords from A to Z", False), "; ",
              Ref(To.REPORT, "", "", "the report", False), " lists which files were read"])
    )  # fmt: skip
    change = [*_topics(index).get("Contribute", []), *guides(index)]
    if change:
        items.append(Item([Strong("How to change it"), ": ", *join_in_sentence(change)]))
    return [Items(items)]


def build_and_test(index: Index) -> list[Block]:
    """Return how the repository is installed, built and tested: what its README says, its build files, its commands."""
    topics = _topics(index)
    files = ledger(index).files
    items = [
        Item([Strong(topic), ": ", *join_in_sentence(topics[topic])]) for topic in ("Use", "Install") if topic in topics
    ]
    builds = [Ref(To.FILE, path, "", path) for path in _BUILDS if path in files][:_MOST_BUILDS]
    if topics.get("Build") or builds:
        items.append(Item([Strong("Build"), ": ", *join_in_sentence([*topics.get("Build", []), *builds])]))
    root = folders(index).all[""]
    blocks: list[Block] = []
    whole = test_files(index)
    if root.tests or whole:
        inner = [folders(index).all[path] for path in root.folders]
        where = [
            folder for folder in inner if folder.mostly(Category.TEST) and folder.tests > root.tests * _SHARE_OF_TESTS
        ]
        pieces: list[Piece] = [tests_in_words(root.tests, whole)]
        inside = sum(folder.tests for folder in where)
        if inside:
            pieces += [" in " if inside == root.tests else f", {inside:,} of them in "]
            pieces += join_in_sentence([Ref(To.INDEX, folder.path, "", folder.path) for folder in where])
        pieces += ["; ", *join_in_sentence(topics["Test"])] if "Test" in topics else []
        commands = _commands(index)
        items.append(Item([Strong("Test"), ": ", *pieces, *(["; to run some of them:"] if commands else [])]))
        blocks = [Code("\n".join(commands) + "\n", "bash")] if commands else []
    return [Items(items), *blocks] if items else []


def test_files(index: Index) -> list[str]:
    """Return the test files of languages whose tests have no names of their own, in which a file counts as a test."""
    return [
        path for path, file in ledger(index).files.items()
        if file.lines and language_of(file.language).tests.is_test_file(file.category, path)
    ]  # fmt: skip


def tests_in_words(tests: int, files: Collection[str]) -> str:
    """Return a number of tests, and of files that are tests as a whole."""
    counts = [count_noun(tests, "test")] if tests else []
    return " and ".join([*counts, *([count_noun(len(files), "test file")] if files else [])])


def guides(index: Index) -> list[Piece]:
    """Return links to the documents at the root that say how to change the repository."""
    return [Ref(To.FILE, path) for path in folders(index).all[""].files if _GUIDES.match(path)]


def documents(index: Index) -> list[Piece]:
    """Return links to the README and to the first page of each folder of documentation."""
    readme = readme_of(index)
    found: list[Piece] = [Ref(To.FILE, readme, "", "README", False)] if readme else []
    links = index.open_file(readme).import_targets if readme else ()
    linked = {path for _, target in links if target is not None for path in target.paths}
    for path in folders(index).all[""].folders:
        folder = folders(index).all[path]
        if folder.mostly(Category.DOCUMENTATION) and _DOCUMENTATION.match(folder.name):
            pages = (one for one in folders(index).below(path) if _HOME.search(one))
            start = min(
                pages, key=lambda one: (one.count("/"), "en" not in one.split("/"), one not in linked, one), default=""
            )
            if start:
                where = "" if folder.name.lower() == "documentation" else f" in {path}"
                found.append(Ref(To.FILE, start, "", f"the documentation{where}", False))
    return found


def _topics(index: Index) -> dict[str, list[Piece]]:
    """Return links to the sections of the README on each topic."""
    readme = readme_of(index)
    found: dict[str, list[Piece]] = {}
    for symbol in outline(index, readme).symbols if readme else ():
        if symbol.kind == Kind.HEADING:
            topic = next((name for name, pattern in _TOPICS if pattern.match(symbol.name)), "")
            if topic and len(found.setdefault(topic, [])) < 2:
                found[topic].append(Ref(To.FILE, readme, symbol.name, symbol.name, False))
    return found


def _commands(index: Index) -> list[str]:
    """Return the commands that run the files with the most tests, one per language. The name of a program alone is not
    one: it has to be built first, and nothing says where it is."""
    found: dict[str, str] = {}
    counts = [*ledger(index).tests.items(), *((path, 0) for path in test_files(index))]
    files = ledger(index).files
    for path, _ in sorted(counts, key=lambda row: (-row[1], -files[row[0]].lines, row[0])):
        language = index.language_of(path)
        if language not in found:
            command = index.runners.command(path, language, "")
            if " " in command.strip():
                found[language] = command
        if len(found) == _TESTS:
            break
    return list(found.values())
