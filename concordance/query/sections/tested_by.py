"""The tests of a file as its pages show them: in which files they are, and the commands that run them.

In: the model of a file. Out: tests, best first, and blocks. The file's page lists a limited number of test files; if
there are more, all of them are on a page of their own, the file's second.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from concordance.base.blocks import Block, Item, Items, Mono, Page, Ref, Text, To, count_noun
from concordance.base.kinds import C_FAMILY
from concordance.base.model import Category
from concordance.extract.registry import language_of
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.reachability import command_of
from concordance.query.index.graphs.test_directness import RankedTest, TestedSubject, is_stub, same_name_tests
from concordance.query.index.repository import Index
from concordance.query.index.test_commands import join_commands

MAX_TEST_FILES = 15  # on the page of a file
_MAX_COMMAND = 300  # characters of a command that names all tests of a file
TESTS_PART = 2  # the number of the page with all test files


def own_tests(model: FileModel) -> list[int]:
    """Return the tests in a file, or the file itself if it is a test as a whole."""
    if language_of(model.file.language).tests.is_test_file(model.file.category, model.path):
        return [model.ids.file]
    return [test for test in model.ids if test in model.index.tests] if model.file.category == Category.TEST else []


@memoised_in_object
def ranked_tests(model: FileModel) -> list[RankedTest]:
    """Return the near tests of a file, most direct first.

    First come the tests in the test file of the same name that use the file, even if no call from them was found.
    """
    subject = page_subject(model)
    ranked = subject.rank(model.index.tests_of(model.path).near)
    if not ranked:
        return []
    met, namesakes = {test.id for test in ranked}, same_name_tests(model.index, model.path)
    missed = [test for test in subject.direct() if test not in met and model.index.path_of(test) in namesakes]
    return [*subject.rank((test, 0) for test in missed), *ranked]


@memoised_in_object
def page_subject(model: FileModel) -> TestedSubject:
    """Return a file as a subject of tests."""
    names = ((symbol.name, symbol.kind) for symbol in model.symbols if symbol.parent < 0)
    return TestedSubject(model.index, [model.path], names, (use.id for uses in model.users.values() for use in uses))


def group_by_file(index: Index, tests: Iterable[int]) -> dict[str, list[int]]:
    """Return tests by the paths of their files, in the order of the first test of each."""
    groups: dict[str, list[int]] = {}
    for test in tests:
        groups.setdefault(index.path_of(test), []).append(test)
    return groups


_CTEST_NAME = re.compile(r"'\^(\w+)\\\.\w+\$(?=')")  # the suite and the name of a googletest


def test_commands(index: Index, tests: Iterable[int]) -> list[str]:
    """Return the commands that run the given tests and no others."""
    return join_commands(command_of(index, test) for test in tests)


def file_commands(model: FileModel) -> list[str]:
    """Return the commands that run the tests in a file; a program of googletest may also have those of other files."""
    commands = test_commands(model.index, own_tests(model)) if model.file.language in C_FAMILY else []
    if commands and all("_filter=" in command for command in commands):
        return [_whole_suites(command) for command in commands]
    if commands and all(command.startswith("ctest ") for command in commands):
        return list(dict.fromkeys(_CTEST_NAME.sub(r"'^\1\\.", command) for command in commands))
    if not commands and model.file.language == "go":  # a file cannot be run without the rest of its package
        commands = test_commands(model.index, own_tests(model))
        if sum(map(len, commands)) <= _MAX_COMMAND:
            return commands
        commands = []
    return [] if commands else join_commands([model.index.runners.command(model.path, model.file.language, "")])


def _whole_suites(command: str) -> str:
    """Return a command of googletest for all tests of the suites that it names."""
    start, _, names = command.partition("_filter=")
    suites = dict.fromkeys(f"{name.rpartition('.')[0]}.*" for name in names.strip("'").split(":"))
    return f"{start}_filter={shlex.quote(':'.join(suites))}"


def tests_page(model: FileModel) -> Page | None:
    """Return the page with all test files of a file; None if the file's own page lists them."""
    if own_tests(model) or is_stub(model.path):
        return None
    by_file = group_by_file(model.index, [test.id for test in ranked_tests(model)])
    if len(by_file) <= MAX_TEST_FILES:
        return None
    back = Text([Ref(To.FILE, model.path, "", model.path)])
    title = ["Tests of ", Mono(model.path)]
    return Page(Ref(To.FILE, model.path, part=TESTS_PART), title, [back, *_listing(by_file)])


def _listing(by_file: Mapping[str, Sequence[int]]) -> list[Block]:
    total = sum(map(len, by_file.values()))
    sentence = f"The nearest {total:,} tests, in {len(by_file):,} test files; the most direct come first."
    rows = ((path, count_noun(len(tests), "test")) for path, tests in by_file.items())
    return [Text([sentence]), Items([Item([Ref(To.FILE, path, "", path), f": {count}"]) for path, count in rows])]
