"""The front page's introduction: the main parts of a repository, its core concepts, and where to read, build and test.

In: an index. Out: blocks. The main parts are five to eight folders, or files where a folder is flat: the heaviest part
is split until there are enough of about the same weight. The weight is that of the book's plan, so tests, documents,
vendored and generated files hardly count. Each part is shown with one line about it and the file to begin with.
"""

from __future__ import annotations

import re
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
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import TYPE_KINDS, Category, Kind
from concordance.extract.registry import is_analysed
from concordance.query.book.chapters import is_code, plan
from concordance.query.book.key_definitions import key_definitions_of_folder, most_used_definition
from concordance.query.book.reading_paths import files_to_read, helps_tests
from concordance.query.descriptions import describe
from concordance.query.folders import UNREAD, folder_definitions, folders
from concordance.query.folders.contents import folder_ref
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
_TESTS = 3  # languages for which a command is shown
_SUPPORT = re.compile(  # files that most others use, but that do not show how a part works
    r"(?:^|/)_?(?:errors?|exceptions?|utils?|utilities|helpers?|compat|constants?|types|typing|common|version)\.\w+$"
)
_BUILDS = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt", "Makefile", "BUILD.bazel",
    "pom.xml", "build.gradle", "build.gradle.kts", "meson.build", "configure.ac", "Kconfig", "composer.json",
    "DESCRIPTION", "Dockerfile",
)  # fmt: skip
_GUIDES = re.compile(r"(?:contributing|architecture|hacking|development|developing|design|glossary)[^/]*\.\w+$", re.I)
_HOME = re.compile(r"(?:index|readme|contents|intro|introduction)\.(?:md|rst|mdx|txt)$", re.I)
_TOPICS = (  # headings of a README, by what a reader wants
    ("Use", re.compile(r"(?:quick ?start|getting started|(?:basic )?usage|(?:simple )?examples?\b|how to use)", re.I)),
    ("Install", re.compile(r"install", re.I)),
    ("Build", re.compile(r"(?:build|compil)", re.I)),
    ("Test", re.compile(r"(?:running )?(?:the )?.{0,20}\btests?\b", re.I)),
    ("Contribute", re.compile(r"(?:contribut|develop)", re.I)),
)  # fmt: skip


class MainPart(NamedTuple):
    """A folder or file that is one of the main parts of a repository."""

    path: str
    is_folder: bool
    weight: float


_VALUES = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.KEY, Kind.FIELD))


def main_parts(index: Index) -> list[MainPart]:
    """Return the main parts of the repository, heaviest first."""
    total = plan(index).weight("") or 1.0
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
        if is_code(every[path]) and not helps_tests(f"{path}/")
    ]  # fmt: skip
    files = ledger(index).files
    found += [
        MainPart(path, False, book_plan.file_weight(path)) for path in every[folder].files
        if files[path].category == Category.SOURCE and not helps_tests(path)
    ]  # fmt: skip
    large = (part for part in found if part.weight >= _SMALL * total)
    return sorted((part for part in large if _defines_something(index, part)), key=_heaviest_first)


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
    for part in main_parts(index):
        if part.is_folder:
            paths = files_to_read(index, folders(index).with_subfolders(part.path), _CANDIDATES)
            begin = next((path for path in paths if not _SUPPORT.search(path)), next(iter(paths), ""))
            link: list[Piece] = [Ref(To.FILE, begin, "", begin[len(part.path) + 1 :])] if begin else []
            rows.append([[folder_ref(part.path)], describe_folder(index, part.path), link])
        else:
            rows.append([[Ref(To.FILE, part.path)], describe(index, part.path), _main_definition(index, part.path)])
    return [Table(["Part", "What it does", "Begin with"], rows)] if len(rows) > 1 else []


def _main_definition(index: Index, path: str) -> list[Piece]:
    used = most_used_definition(index, path)
    return [ref_of(index, used.id, short=True)] if used is not None else []


def concepts(index: Index) -> list[Block]:
    """Return the definitions that most files use and that their authors explain, types first."""
    files = ledger(index).files
    rows = [
        row for row in key_definitions_of_folder(index, folders(index).all[""], _CONSIDERED)
        if row.words and row.kind != Kind.MACRO and files[row.path].category == Category.SOURCE
        and not helps_tests(row.path)
    ]  # fmt: skip
    types = [row for row in rows if row.kind in TYPE_KINDS]
    chosen = (types if len(types) >= _CONCEPTS // 2 else rows)[:_CONCEPTS]
    items = [
        Item([ref_of(index, row.id), ": ", *row.words, f" Used by {count_noun(row.times, 'file')}."]) for row in chosen
    ]
    return [Items(items)] if items else []


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
    if root.tests:
        where = [path for path in root.folders if folders(index).all[path].mostly(Category.TEST)]
        pieces: list[Piece] = [count_noun(root.tests, "test")]
        inside = sum(folders(index).all[path].tests for path in where)
        if inside:
            pieces += [" in " if inside == root.tests else f", {inside:,} of them in "]
            pieces += join_in_sentence([Ref(To.INDEX, path, "", path) for path in where])
        pieces += ["; ", *join_in_sentence(topics["Test"])] if "Test" in topics else []
        commands = _commands(index)
        items.append(Item([Strong("Test"), ": ", *pieces, *(["; to run some of them:"] if commands else [])]))
        blocks = [Code("\n".join(commands) + "\n", "bash")] if commands else []
    return [Items(items), *blocks] if items else []


def guides(index: Index) -> list[Piece]:
    """Return links to the documents at the root that say how to change the repository."""
    return [Ref(To.FILE, path) for path in folders(index).all[""].files if _GUIDES.match(path)]


def documents(index: Index) -> list[Piece]:
    """Return links to the README and to the first page of each folder of documents."""
    readme = readme_of(index)
    found: list[Piece] = [Ref(To.FILE, readme, "", "README", False)] if readme else []
    for path in folders(index).all[""].folders:
        folder = folders(index).all[path]
        if folder.mostly(Category.DOCUMENTATION) and not folder.name.startswith("."):
            pages = (one for one in folders(index).below(path) if _HOME.search(one))
            start = min(pages, key=lambda one: (one.count("/"), one), default="")
            if start:
                found.append(Ref(To.FILE, start, "", f"the documentation in {path}", False))
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
    counts = ledger(index).tests
    for path, _ in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        language = index.language_of(path)
        if language not in found:
            command = index.runners.command(path, language, "")
            if " " in command.strip():
                found[language] = command
        if len(found) == _TESTS:
            break
    return list(found.values())
