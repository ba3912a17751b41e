"""Testing & Usage: the tests that reach the file, and real uses of it.

In: the model of a file. Out: blocks. Examples are copied from files that use it, with citations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from concordance.base.blocks import (
    Block,
    Cite,
    Code,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Ref,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.kinds import Section
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category, Kind, Skip, Symbol, Trust
from concordance.extract.registry import language_of
from concordance.link.languages import loading_languages
from concordance.query.answers import separator_of, split_key
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.index.graphs.bridges import bridges_to
from concordance.query.index.graphs.reachability import STEPS
from concordance.query.index.graphs.test_directness import NOT_FOLLOWED, is_stub, loading_package, same_name_tests
from concordance.query.index.repository import Index
from concordance.query.index.test_commands import join_commands
from concordance.query.search.absence import not_analysed
from concordance.query.sections.examples import Example, find_examples
from concordance.query.sections.tested_by import (
    MAX_TEST_FILES,
    TESTS_PART,
    file_commands,
    group_by_file,
    own_tests,
    page_subject,
    ranked_tests,
    test_commands,
)

TITLE = Section.TESTING.value
ORDER = 80

_NO_FUNCTIONS = "It defines no named functions."
_MAX_OTHER_FILES = 5  # test files that are named because of what uses the file, or of its package
MAX_TESTS = 6  # tests that are named; the others are counted by file

_ADD_TEST = re.compile(
    r"^[ \t]*add_test\s*\(\s*(?:NAME\s+)?(?P<name>[\w.-]+)\s+(?:COMMAND\s+)?(?P<program>[\w.-]+)", re.M
)


def blocks(model: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Testing"]), *_testing(model), Heading(3, ["Usage Examples"]), *_usage(model)]


def _testing(model: FileModel) -> list[Block]:
    """Return the tests that reach the file, and the commands that run those that are named."""
    if own_tests(model):
        return list(_own_tests(model))
    if is_stub(model.path):
        return [Text(["Declarations for type checkers: nothing in it is run."])]
    index, reaching = model.index, model.index.tests_of(model.path)
    if not reaching.near or not _has_code(model):
        package = loading_package(index, model.path)
        loading = index.tests_of(package).near if package else []
        return list(_by_package(model, package, loading) if loading else _named_by_tests(model))
    tests = [test.id for test in ranked_tests(model)]
    if not tests:
        sentence = (
            "The tests that reach it may run code for other devices instead; which select its device is not known."
        )
        return [Text([sentence])]
    named = tests[:MAX_TESTS]
    by_file = group_by_file(index, tests)
    shown = list(by_file)[:MAX_TEST_FILES]
    blocks: list[Block] = [Items([_test_file(index, path, by_file[path], named) for path in shown])]
    more: list[Piece] = []
    if len(shown) < len(by_file):
        more = [Ref(To.FILE, model.path, "", f"All {len(by_file):,} test files", False, TESTS_PART), ". "]
    if reaching.farther and not page_subject(model).devices:
        farther = count_noun(reaching.farther, "other test")
        more.append(f"{farther} may reach it through other code, up to {STEPS} calls away.")
    blocks += [Text(more)] if more else []
    blocks += _other_users(model, by_file)
    commands = test_commands(index, named)
    return [*blocks, Code("".join(f"{command}\n" for command in commands), "bash")] if commands else blocks


def _has_code(model: FileModel) -> bool:
    """False for a header that defines nothing but macros without parameters: no test runs those."""
    symbols = [symbol for symbol in model.symbols if symbol.kind not in (Kind.NAMESPACE, Kind.VARIABLE, Kind.CONSTANT)]
    return not symbols or any(symbol.kind != Kind.MACRO or _is_called(symbol) for symbol in symbols)


def _other_users(model: FileModel, listed: Collection[str]) -> list[Block]:
    """Return the test files that use the file, but of which no test was found to run it."""
    index = model.index
    users = {index.path_of(use.id) for uses in model.users.values() for use in uses} - {model.path}
    others = sorted(path for path in users if path not in listed and index.category_of(path) == Category.TEST)
    if not others:
        return []
    refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in others[:_MAX_OTHER_FILES]]
    left = len(others) - len(refs)
    refs += [count_noun(left, "other file")] if left else []
    use = "uses" if len(others) == 1 else "use"
    return [Text([*join_in_sentence(refs), f" {use} it, too."])]


def _by_package(model: FileModel, package: str, near: Sequence[tuple[int, int]]) -> Iterator[Block]:
    """Yield the tests of a package that imports every module of its folder, for a module that nothing else runs."""
    index = model.index
    tests = [test.id for test in page_subject(model).rank(near)]
    by_file = group_by_file(index, tests)
    location = Ref(To.FILE, package, "", package)
    yield Text(["Tests that reach ", location, ", which imports the modules of its folder, may run it:"])
    yield Items([_test_file(index, path, by_file[path], tests[:MAX_TESTS]) for path in list(by_file)[:MAX_TEST_FILES]])
    commands = test_commands(index, tests[:MAX_TESTS])
    if commands:
        yield Code("".join(f"{command}\n" for command in commands), "bash")


def _test_file(index: Index, path: str, tests: Sequence[int], named: Collection[int]) -> Item:
    """Return a test file with the tests in it that are named, and the number of others."""
    label: list[Piece] = [ref_of(index, test) for test in tests if test in named and not index.path_of_file(test)]
    more = sum(not index.path_of_file(test) for test in tests) - len(label)
    if more:
        label.append(count_noun(more, "more test" if label else "test"))
    return Item([Ref(To.FILE, path, "", path), *([": ", *join_in_sentence(label)] if label else [])])


def _own_tests(model: FileModel) -> Iterator[Block]:
    if language_of(model.file.language).tests.is_whole_test is None:
        yield Text([f"Contains {count_noun(len(own_tests(model)), 'test')}."])
    commands = file_commands(model)
    if commands:
        yield Code("".join(f"{command}\n" for command in commands), "bash")


def _named_by_tests(model: FileModel) -> Iterator[Block]:
    """Yield the tests that name or import a file that none of them was found to run, or that have its name."""
    index = model.index
    if not not_analysed(model.file) and (model.file.skip != Skip.NONE or not model.opened.flow.op):
        yield Text([_no_code(model)])
        return
    tests = page_subject(model).direct()
    by_file = group_by_file(index, tests)
    users = {index.path_of(use.id) for uses in model.users.values() for use in uses} - {model.path}
    users |= {index.path_of(row.source) for row in bridges_to(model) if row.trust > Trust.CANDIDATE}
    others = sorted(path for path in users - by_file.keys() if _holds_tests(index, path))
    same = [path for path in same_name_tests(index, model.path) if path not in users]
    items = [_test_file(index, path, by_file[path], tests[:MAX_TESTS]) for path in by_file]
    items += [Item([Ref(To.FILE, path, "", path)]) for path in others]
    named = "Test files that name it" if items else ""
    items += [Item([Ref(To.FILE, path, "", path)]) for path in same]
    heading = (f"{named} or have its name" if named else "A test file of the same name") if same else named
    users_of = [] if items or not_analysed(model.file) else _users_of(model)
    others_tests = _nearest_tests(model, users_of)
    if others_tests:
        yield from _tests_of_others(model, "files that use it", others_tests)
        return
    using = _tests_using(index, users_of)
    if using:
        yield from _test_files(model, "Test files that use files that use it", using)
        return
    beside = [] if items or not_analysed(model.file) else _tests_beside(model)
    if beside:
        yield from _test_files(model, "Tests of its package", beside)
        return
    same_package = [] if items or not_analysed(model.file) else _nearest_tests(model, _package_files(model))
    if same_package:
        yield from _tests_of_others(model, "other files of its package", same_package)
        return
    if not items and (runs := list(_program_tests(model))):
        yield Text(["CTest runs its program:"])
        yield Items(runs)
        return
    yield Text([_no_caller(model, heading)])
    left = len(items) - MAX_TEST_FILES
    cut = [Item([count_noun(left, "other test file")])] if left > 0 else []
    if items:
        yield Items([*items[:MAX_TEST_FILES], *cut])


def _users_of(model: FileModel) -> list[str]:
    """Return the files that use a file, or the header of what it defines."""
    index = model.index
    twins = {index.path_of(other) for other in model.counterparts.values()}  # what uses a source includes its header
    files = [model.ids.file, *(index.file_id(path) for path in twins)]
    users = {index.path_of_file(user) for file in files for user in index.neighbours.users_of(file)} | twins
    users |= {index.path_of(row.source) for row in bridges_to(model) if row.trust > Trust.CANDIDATE}
    return sorted(users - {model.path})


def _tests_using(index: Index, paths: Iterable[str]) -> list[str]:
    """Return the test files that use some files."""
    users = {user for path in paths for user in index.neighbours.users_of(index.file_id(path))}
    tests = (path for path in map(index.path_of_file, users) if index.category_of(path) == Category.TEST)
    return sorted(path for path in tests if index.has_tests_in(path))


def _nearest_tests(model: FileModel, paths: Iterable[str]) -> list[int]:
    """Return the tests nearest to some files, best first."""
    index, steps = model.index, dict[int, int]()
    for path in paths:
        for test, distance in index.tests_of(path).near:
            steps[test] = min(distance, steps.get(test, distance))
    return [test.id for test in page_subject(model).rank(steps.items())]


def _package_files(model: FileModel) -> list[str]:
    """Return the other files in the folder of a file, if the folder is a package that is compiled as a whole."""
    if model.file.category != Category.SOURCE or not language_of(model.file.language).imports_folders:
        return []
    return [path for path in model.index.files_in(model.path.rpartition("/")[0]) if path != model.path]


def _tests_beside(model: FileModel) -> list[str]:
    """Return the test files in the package of a file."""
    return [path for path in _package_files(model) if model.index.has_tests_in(path)]


def _test_files(model: FileModel, what: str, paths: Sequence[str]) -> Iterator[Block]:
    """Yield test files that may run a file into which no call from a test was found."""
    yield Text([f"{_no_call(model)} {what}:"])
    refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in paths[:_MAX_OTHER_FILES]]
    left = len(paths) - len(refs)
    yield Items([*(Item([ref]) for ref in refs), *([Item([count_noun(left, "other test file")])] if left else [])])
    index = model.index
    shown = paths[:_MAX_OTHER_FILES]
    commands = join_commands(index.runners.command(path, index.language_of(path), "") for path in shown)
    if commands:
        yield Code("".join(f"{command}\n" for command in commands), "bash")


def _no_call(model: FileModel) -> str:
    has_code = any(symbol.kind in EXECUTABLE_KINDS and _is_called(symbol) for symbol in model.symbols)
    return f"No call to it from a test was found; {NOT_FOLLOWED}." if has_code else _no_functions(model)


def _is_called(symbol: Symbol) -> bool:
    """False for a macro without parameters."""
    return symbol.kind != Kind.MACRO or f"{symbol.name}(" in symbol.signature


def _no_functions(model: FileModel) -> str:
    is_module = language_of(model.file.language).imports_by_name and model.file.language in loading_languages()
    return "It defines no functions: its code runs when it is imported." if is_module else _NO_FUNCTIONS


def _tests_of_others(model: FileModel, others: str, tests: Sequence[int]) -> Iterator[Block]:
    """Yield the tests of other files, for a file into which no call from a test was found."""
    index = model.index
    named, by_file = tests[:MAX_TESTS], group_by_file(index, tests)
    yield Text([f"{_no_call(model)} Tests that reach {others}:"])
    left = len(by_file) - _MAX_OTHER_FILES
    items = [_test_file(index, path, by_file[path], named) for path in list(by_file)[:_MAX_OTHER_FILES]]
    yield Items([*items, *([Item([count_noun(left, "other test file")])] if left > 0 else [])])
    commands = test_commands(index, named)
    if commands:
        yield Code("".join(f"{command}\n" for command in commands), "bash")


def _no_code(model: FileModel) -> str:
    """Return what is known about a file for which no calls and no statements were recorded."""
    language = language_of(model.file.language)
    is_read = language.tests.find is not None or language.tests.is_whole_test  # else it may have code that was not read
    is_code = language.category is Category.BUILD or any(symbol.kind in EXECUTABLE_KINDS for symbol in model.symbols)
    return "Calls are not extracted." if is_code and not is_read else "It defines no functions that a test could call."


def _holds_tests(index: Index, path: str) -> bool:
    """True for a test file with code; an ignore list beside the tests is none."""
    return index.category_of(path) == Category.TEST and index.language_of(path) not in ("", "text")


def _program_tests(model: FileModel) -> Iterator[Item]:
    """Yield the tests of CMake files that run the program of a file: `add_test(NAME usage COMMAND help_usage)`."""
    if not any(symbol.key == "main" for symbol in model.symbols):
        return
    index = model.index
    stem = model.path.rpartition("/")[2].partition(".")[0]
    named = (index.path_of(row.source) for row in bridges_to(model))
    for path in sorted({path for path in named if index.language_of(path) == "cmake"}):
        text = "\n".join(index.open_file(path).lines() or [])
        for test in _ADD_TEST.finditer(text):
            if test["program"] == stem:
                line = text.count("\n", 0, test.start()) + 1
                yield Item([Mono(test["name"]), " in ", Ref(To.FILE, path, "", path), " ", Line(path, line)])


def _no_caller(model: FileModel, heading: str) -> str:
    """Return what is known about a file into which no call from a test was found.

    `heading` introduces the list of test files that follows; "" if there is none.
    """
    if not_analysed(model.file):
        return f"{heading}:" if heading else "Calls are not extracted."
    if not any(symbol.kind in EXECUTABLE_KINDS and _is_called(symbol) for symbol in model.symbols):
        sentence = _no_functions(model)
        return f"{sentence} {heading}:" if heading else sentence
    if heading:
        return f"{heading}; which tests run it is not known, because {NOT_FOLLOWED}:"
    if language_of(model.file.language).category is Category.BUILD:
        return "The build runs it."
    if model.file.category == Category.TEST and any(symbol.key == "main" for symbol in model.symbols):
        return "A program of its own; the checks in it were not recognised as tests."
    if model.file.category == Category.TEST and model.index.has_tests:  # data, or code that a test runs as a program
        return f"No tests were recognised in it, and no call to it from a test was found; {NOT_FOLLOWED}."
    is_script = model.file.category == Category.TEST and model.file.language == "shell"
    if is_script and not model.index.neighbours.users_of(model.ids.file):
        return "A script of its own; the checks in it were not recognised as tests."
    if not model.index.has_tests:
        return "No tests were recognised in the repository, in the languages that are analysed."
    return f"No test found that runs it; {NOT_FOLLOWED}."


def _usage(model: FileModel) -> list[Block]:
    """Return real uses, each with enough context to be copied."""
    rows = find_examples(model.index, model.path)
    if not rows:
        return [Text([_no_examples(model)])]
    names = {row: _example_name(model, row) for row in rows}
    own = [row for row in rows if row.path == model.path]
    blocks: list[Block] = []
    if own:  # the structure quotes it
        cites = [Cite(row.path, row.first, row.last) for row in own]
        blocks.append(Text(["In the documentation of ", *join_in_sentence([names[row] for row in own]), ".", *cites]))
    for row in rows:
        if row.path != model.path:
            cites = [Cite(row.path, row.first, row.last), *(Cite(row.path, line) for line in row.imports)]
            blocks.append(Text([names[row], f", {row.kind}: ", Ref(To.FILE, row.path, "", row.path), *cites]))
            blocks.append(Code(row.code, row.language))
    return blocks


def _example_name(model: FileModel, row: Example) -> Piece:
    """Return the name of what an example shows."""
    label = separator_of(model.file.language).join(split_key(row.key))
    return Ref(To.SYMBOL, model.path, row.key, label) if row.key else Mono(model.path)


def _no_examples(model: FileModel) -> str:
    if not_analysed(model.file):
        return "Not searched."
    users = model.index.neighbours.users_of(model.ids.file)
    used_by = count_noun(len(users), "file that uses it", "files that use it")
    defines = any(symbol.kind in EXECUTABLE_KINDS | TYPE_KINDS for symbol in model.symbols)
    return f"No usage example found in the {used_by}." if users and defines else "No usage example found."
