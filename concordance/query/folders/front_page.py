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
    Mono,
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
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category, Kind
from concordance.extract.registry import is_analysed
from concordance.query.book.chapters import is_code, plan
from concordance.query.book.key_definitions import (
    KeyDefinition,
    key_definitions_of_folder,
    key_types_of_folder,
)
from concordance.query.book.reading_paths import files_to_read, helps_tests
from concordance.query.descriptions.definitions import main_definition
from concordance.query.descriptions.files import describe
from concordance.query.descriptions.overloads import documented
from concordance.query.descriptions.quotations import plain_text
from concordance.query.folders.description import describe_folder
from concordance.query.folders.folder_tree import UNREAD, Folder, folder_definitions, folders
from concordance.query.folders.project_name import readme_of
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index
from concordance.query.sections.central_definitions import rank_definitions

_LEAST_PARTS, _MOST_PARTS = 5, 8
_LARGE = 0.4  # share of the whole from which on a part is split even if there are enough
_FLAT = 0.6  # share from which on a folder is split into mere files even if there are a few parts
_FILL = 8  # by how much smaller a part may be if there are not enough
_FEW = 3  # parts up to which a folder is split into small pieces
_SMALL = 0.02  # share of the whole below which a folder or file is not a part
_CONCEPTS = 8
_LEAST_PUBLIC = 0.1  # share of public definitions among those that files use; below it, nothing is meant for users
_CONSIDERED = 60  # definitions among which concepts are chosen
_CANDIDATES = 6  # files among which the one to begin with is chosen
_MOST_BUILDS = 4  # build files that are named
_SHARE_OF_TESTS = 0.1  # least share of all tests in a folder that is named
_TESTS = 3  # languages for which a command is shown
_SUPPORT = re.compile(  # files that most others use, but that do not show how a part works
    r"(?:^|/)_?(?:errors?|exceptions?|utils?|utilities|helpers?|compat|constants?|types|typing|common|version)\.\w+$"
)
_BEGINNINGS = (TYPE_KINDS | EXECUTABLE_KINDS | {Kind.TYPE}) - {Kind.MACRO}
_TYPE_WEIGHT = 2  # of the files that use a type, beside those that use a function
_END_OF_LIFE = re.compile(  # what undoes the work of something else
    r"(?:^|_|(?<=[a-z]))(?:[Ff]ree|[Dd]estroy|[Dd]elete|[Rr]elease|[Dd]ispose|[Dd]einit|[Tt]eardown|[Cc]leanup|[Uu]nref)\Z"
)
_ERROR = re.compile(r"(?:Error|Exception|Warning)\Z")
_ENDED = re.compile(r"[.:!?…][”\"')]*\Z")
_NOT_FOR_USERS = re.compile(r"\W*(?:internal|private|deprecated|obsolete|do not use)\b", re.I)
_BUILDS = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt", "Makefile", "BUILD.bazel",
    "pom.xml", "build.gradle", "build.gradle.kts", "meson.build", "configure.ac", "Kconfig", "composer.json",
    "DESCRIPTION", "Gemfile", "Rakefile", "mix.exs", "Package.swift", "build.sbt", "build.zig", "dune-project",
    "stack.yaml", "Dockerfile",
)  # fmt: skip
_IN_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|templates?|fixtures?)/")
_BUILD_ENDINGS = (".cabal", ".gemspec", ".sln", ".rockspec")  # of files that are named like the project
_MAX_HEADING = 5  # words of a heading that names a topic; a longer one is about one case
_GUIDES = re.compile(r"(?:contributing|architecture|hacking|development|developing|design|glossary)[^/]*\.\w+$", re.I)
_HOME = re.compile(
    r"(?:^|/)_?(?:index|readme|contents|intro|introduction|overview|(?:user[-_ ]?)?guide|getting[-_ ]started|"
    r"quick[-_ ]?start)\.(?:md|rst|mdx|adoc|txt)$", re.I
)  # fmt: skip
_DOCUMENTATION = re.compile(
    r"(?:docs?|documentation|manual|guides?|book|handbook|website|www|site|wiki|vignettes|tutorials?)\Z", re.I
)
_AROUND = re.compile(  # tools of the project itself, and its website
    r"(?:scripts?|ci|hack|fuzz|benchsuite|website|www|docs?(?:[_-]\w+)?|documentation)\Z|.*\.(?:config|conf|setup)\.\w+\Z"
)
_TOPICS = (  # headings of a README, by what a reader wants
    ("Use", re.compile(
        r"(?!.*\bcontribut)(?:quick ?start|getting started|(?:basic )?usage|"
        r"(?:an? )?(?:simple )?examples?\Z|how to use)", re.I
    )),
    ("Install", re.compile(r"install", re.I)),
    ("Build", re.compile(
        r"(?!(?-i:BUILD)\b)(?:how to )?"
        r"(?:build(?:ing)?\b(?! (?:status|template)|.*\b(?:app|application|site|website|service)s?\b)|"
        r"compil(?:e|ing)\b(?! time))",
        re.I,
    )),
    ("Test", re.compile(
        r"(?:(?:how to )?run(?:ning)? .{0,20}\btests?\b|(?:unit )?tests?\Z|"
        r"testing(?:\Z|\W+(?:and|the|locally|with|against|instructions|guide|changes)\b))", re.I,
    )),
    ("Contribute", re.compile(r"(?:contribut|developing|development(?! (?:version|build|release)))", re.I)),
)  # fmt: skip


class MainPart(NamedTuple):
    """A folder or file that is one of the main parts of a repository."""

    path: str
    is_folder: bool
    weight: float


_VALUES = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.KEY, Kind.FIELD, Kind.NAMESPACE, Kind.MODULE))


def main_parts(index: Index) -> list[MainPart]:
    """Return the main parts of the repository, heaviest first."""
    total = sum(part.weight for part in _inside(index, "", 0.0)) or 1.0
    parts, opened = _inside(index, "", total), [""]
    while True:
        large = next((part for part in parts if part.is_folder and _splits(index, part, total, len(parts))), None)
        if large is None or (len(parts) >= _LEAST_PARTS and large.weight < _LARGE * total):
            break
        inner = _inside(index, large.path, total)
        opened.append(large.path)
        parts = sorted([part for part in parts if part is not large] + inner, key=_heaviest_first)
    known = {*opened, *(part.path for part in parts)}
    small = (part for folder in opened for part in _inside(index, folder, total / _FILL) if part.path not in known)
    filled = sorted(small, key=_heaviest_first)[: max(0, _LEAST_PARTS - len(parts))]
    return [*parts[:_MOST_PARTS], *filled]


def _heaviest_first(part: MainPart) -> tuple[float, str]:
    return -part.weight, part.path


def _splits(index: Index, part: MainPart, total: float, others: int) -> bool:
    """True if a folder can be split into parts that are at least half of it, or if there is hardly anything else."""
    inner = _inside(index, part.path, total)
    is_flat = not any(inner_part.is_folder for inner_part in inner)
    if is_flat and others >= _FEW and part.weight < _FLAT * total:
        return False
    is_covered = 2 * sum(inner_part.weight for inner_part in inner) >= part.weight
    if len(inner) > 1:
        return is_covered or others < _FEW
    is_described = part.weight < _LARGE * total and _is_quoted(describe_folder(index, part.path))
    return len(inner) == 1 and inner[0].is_folder and is_covered and not is_described


def _inside(index: Index, folder: str, total: float) -> list[MainPart]:
    """Return the folders and files in a folder that are large enough to be parts, heaviest first."""
    all_folders, book_plan = folders(index).all, plan(index)
    parts = [
        MainPart(path, True, book_plan.weight(path)) for path in all_folders[folder].folders
        if _has_code(all_folders[path]) and not helps_tests(f"{path}/") and not _is_around(all_folders[path].name)
    ]  # fmt: skip
    files = ledger(index).files
    parts += [
        MainPart(path, False, book_plan.file_weight(path)) for path in all_folders[folder].files
        if files[path].category == Category.SOURCE and not helps_tests(path)
        and not _is_around(path.rpartition("/")[2])
    ]  # fmt: skip
    large = (part for part in parts if part.weight >= _SMALL * total)
    return sorted((part for part in large if _defines_something(index, part)), key=_heaviest_first)


def _is_around(name: str) -> bool:
    """True for a file or folder that serves the project itself: scripts, settings, build files, its website."""
    return name.startswith(".") or name in _BUILDS or name.endswith(_BUILD_ENDINGS) or _AROUND.match(name) is not None


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
    rows.sort(key=lambda row: _NOT_FOR_USERS.match(plain_text(row[1])) is not None)  # those come last
    location = [Text(["The following parts are all in ", Ref(To.INDEX, common, "", common), "."])] if common else []
    return [*location, Table(["Part", "What it does", "Begin with"], rows)]


def only_part(index: Index) -> list[Block]:
    """Return a sentence about the main part if there is only one, with the place to begin; nothing otherwise."""
    parts = main_parts(index)
    if len(parts) != 1:
        return []
    path, is_folder = parts[0].path, parts[0].is_folder
    begin = _first_file(index, path) if is_folder else _main_definition(index, path)
    if not is_folder:  # the file is linked already
        begin = [Mono(piece.label) if isinstance(piece, Ref) else piece for piece in begin]
    name = Ref(To.INDEX if is_folder else To.FILE, path, "", path)
    return [Text(["The main part is ", name, *(["; begin with ", *begin] if begin else []), "."])]


def _common_folder(paths: Sequence[str]) -> str:
    """Return the innermost folder that contains all of the given paths."""
    parents = [path.split("/")[:-1] for path in paths]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*parents, strict=False))
    return "/".join(names[0] for names in same)


def _first_file(index: Index, folder: str) -> list[Piece]:
    """Return a link to the file of a folder to begin with; nothing if its language is not analysed."""
    paths = files_to_read(index, folders(index).with_subfolders(folder), _CANDIDATES)
    files = ledger(index).files
    paths = [path for path in paths if is_analysed(files[path].language) and files[path].category == Category.SOURCE]
    begin = next((path for path in paths if not _SUPPORT.search(path)), next(iter(paths), ""))
    return [Ref(To.FILE, begin, "", begin[len(folder) + 1 :])] if begin else []


def _main_definition(index: Index, path: str) -> list[Piece]:
    """Return a link to the definition of a file to begin with: a public type that others use, else the function with
    which the program begins, else a public function that others use."""
    one = FileModel(index, path)
    ranked = [(row, one.symbols[row.place]) for row in rank_definitions(one)]
    used = [
        (row, symbol) for row, symbol in ranked
        if row.files and symbol.kind in _BEGINNINGS and not symbol.name.startswith("_")
        and not _ERROR.search(symbol.name) and not _END_OF_LIFE.search(symbol.name)
    ]  # fmt: skip
    used = [pair for pair in used if not pair[0].is_private] or used
    used.sort(
        key=lambda pair: (
            -pair[0].files * (_TYPE_WEIGHT if pair[1].kind in TYPE_KINDS else 1),
            not one.symbols[documented(one.symbols, pair[0].place)].doc,
        )
    )
    starts = [pair for pair in ranked if pair[1].name == "main" and pair[1].kind == Kind.FUNCTION]
    chosen = used if not starts or (used and used[0][1].kind in TYPE_KINDS) else starts
    if chosen:
        return [one.own(chosen[0][0].place, chosen[0][1].name)]
    main = main_definition(index, one.file, outline(index, path))
    return [Ref(To.SYMBOL, path, main.key, main.name)] if main is not None else []


def concepts(index: Index) -> list[Block]:
    """Return the definitions that most files use and that their authors explain: types, then functions.

    Where that leaves room, types are added that as many files use, if most of the code can be read.
    """
    root = folders(index).all[""]
    explained = [row for row in _public(index, key_definitions_of_folder(index, root, _CONSIDERED)) if row.words]
    central = [row for row in explained if not _is_support(row)]
    central.sort(key=lambda row: row.kind not in TYPE_KINDS)
    chosen = (central if len(central) >= _CONCEPTS // 2 else explained)[:_CONCEPTS]
    if not _is_mostly_analysed(index):
        return []
    if len(chosen) < _CONCEPTS:
        names = {row.name for row in chosen}
        least = min((row.times for row in chosen), default=0) if len(chosen) >= _CONCEPTS // 2 else 0
        others = [row for row in _public(index, key_types_of_folder(index, root, _CONSIDERED)) if row.name not in names]
        added = [row for row in others if row.times >= least and not _is_support(row)][: _CONCEPTS - len(chosen)]
        chosen = sorted([*chosen, *added], key=lambda row: (row.kind not in TYPE_KINDS, -row.times, row.name))
    return [Items([_concept(index, row) for row in chosen])] if chosen else []


def _is_quoted(words: Pieces) -> bool:
    """True if a description is a quotation of an author."""
    return bool(words) and words[0] == "“"


def _is_support(row: KeyDefinition) -> bool:
    """True if many files use a definition, but nobody begins with it: an error, a utility, or what its author says is
    internal."""
    is_internal = _NOT_FOR_USERS.match(plain_text(row.words))
    return (_SUPPORT.search(row.path) or _ERROR.search(row.name) or is_internal) is not None


def _public(index: Index, rows: Sequence[KeyDefinition]) -> list[KeyDefinition]:
    """Return the definitions in source that are public, or all in source if hardly any is, as in a program."""
    files = ledger(index).files
    definitions = [
        row for row in rows
        if row.kind != Kind.MACRO and files[row.path].category == Category.SOURCE and not helps_tests(row.path)
    ]  # fmt: skip
    public = [row for row in definitions if row.public]
    return public if len(public) >= _LEAST_PUBLIC * len(definitions) else definitions


def _concept(index: Index, row: KeyDefinition) -> Item:
    used = f" Used by {count_noun(row.times, 'file')}."
    if row.words:
        ends = _ENDED.search(plain_text(row.words)) is not None
        return Item([ref_of(index, row.id), ": ", *row.words, used if ends else f".{used}"])
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
    linked = documents(index)
    if linked:
        items.append(Item([Strong("What it is"), ": ", *join_in_sentence(linked)]))
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
    root = folders(index).all[""]
    named = [path for path in root.files if path.endswith(_BUILD_ENDINGS)]
    builds = [Ref(To.FILE, path, "", path) for path in (*named, *_BUILDS) if path in files][:_MOST_BUILDS]
    if topics.get("Build") or builds:
        items.append(Item([Strong("Build"), ": ", *join_in_sentence([*topics.get("Build", []), *builds])]))
    blocks: list[Block] = []
    whole = ledger(index).whole_tests
    inner = [folders(index).all[path] for path in root.folders]
    if root.tests or whole:
        test_folders = [
            folder for folder in inner if folder.mostly(Category.TEST) and folder.tests > root.tests * _SHARE_OF_TESTS
        ]
        pieces: list[Piece] = [tests_in_words(root.tests, whole)]
        inside = sum(folder.tests for folder in test_folders)
        if inside:
            pieces += [" in " if inside == root.tests else f", {inside:,} of them in "]
            pieces += join_in_sentence([Ref(To.INDEX, folder.path, "", folder.path) for folder in test_folders])
        pieces += ["; ", *join_in_sentence(topics["Test"])] if "Test" in topics else []
        everything = _commands_for_all(index)
        commands = everything or _commands(index)
        which = "them" if everything else "some of them"
        items.append(Item([Strong("Test"), ": ", *pieces, *([f"; to run {which}:"] if commands else [])]))
        blocks = [Code("\n".join(commands) + "\n", "bash")] if commands else []
    else:  # tests that cannot be counted
        unread = [Ref(To.INDEX, folder.path, "", folder.path) for folder in inner if helps_tests(f"{folder.path}/")]
        if unread or "Test" in topics:
            items.append(Item([Strong("Test"), ": ", *join_in_sentence([*topics.get("Test", []), *unread])]))
    return [Items(items), *blocks] if items else []


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
    pieces: list[Piece] = [Ref(To.FILE, readme, "", "README", False)] if readme else []
    links = index.open_file(readme).import_targets if readme else ()
    linked = {path for _, target in links if target is not None for path in target.paths}
    for path in folders(index).all[""].folders:
        folder = folders(index).all[path]
        if folder.mostly(Category.DOCUMENTATION) and _DOCUMENTATION.match(folder.name):
            pages = (page for page in folders(index).below(path) if _HOME.search(page))
            start = min(
                pages,
                key=lambda page: (page.count("/"), "en" not in page.split("/"), page not in linked, page),
                default="",
            )
            if start:
                location = "" if folder.name.lower() == "documentation" else f" in {path}"
                pieces.append(Ref(To.FILE, start, "", f"the documentation{location}", False))
    return pieces


def _topics(index: Index) -> dict[str, list[Piece]]:
    """Return links to the sections of the README on each topic."""
    readme = readme_of(index)
    topics: dict[str, list[Piece]] = {}
    for symbol in outline(index, readme).symbols if readme else ():
        if symbol.kind == Kind.HEADING:
            topic = next((name for name, pattern in _TOPICS if pattern.match(symbol.name)), "")
            is_short = len(symbol.name.split()) <= _MAX_HEADING
            ref = Ref(To.FILE, readme, symbol.name, symbol.name, False)
            if topic and is_short and len(topics.setdefault(topic, [])) < 2 and ref not in topics[topic]:
                topics[topic].append(ref)
    return topics


def _commands_for_all(index: Index) -> list[str]:
    """Return the commands that run all tests, one per language; nothing if that of a language is not known."""
    files = ledger(index).files
    tested = Counter(files[path].language for path in (*ledger(index).tests, *ledger(index).whole_tests))
    commands = [index.runners.command_for_all(language) for language, _ in tested.most_common()]
    return list(dict.fromkeys(commands)) if all(commands) and len(set(commands)) <= _TESTS else []


def _commands(index: Index) -> list[str]:
    """Return the commands that run the files with the most tests, one per language. The name of a program alone is not
    one: it has to be built first, and nothing says where it is."""
    commands: dict[str, str] = {}
    counts = [*ledger(index).tests.items(), *((path, 0) for path in ledger(index).whole_tests)]
    files = ledger(index).files
    own = [row for row in counts if not _IN_EXAMPLE.search(row[0])]
    for path, _ in sorted(own or counts, key=lambda row: (-row[1], -files[row[0]].lines, row[0])):
        language = index.language_of(path)
        if language not in commands:
            command = index.runners.command(path, language, "")
            if " " in command.strip():
                commands[language] = command
        if len(commands) == _TESTS:
            break
    return list(commands.values())
