"""Testing & Usage: the tests that reach the file, and real uses of it.

In: the model of a file. Out: blocks. Examples are copied from files that use it, with citations.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Cite,
    Code,
    Heading,
    Item,
    Items,
    Mono,
    Piece,
    Ref,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.kinds import Section
from concordance.base.model import Category, Skip
from concordance.query.answers import separator_of, split_key
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.sections.examples import find_examples

TITLE = Section.TESTING.value
ORDER = 80

_MAX_TESTS = 6  # tests that are named; the others are counted by file


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Testing"]), *_testing(one), Heading(3, ["Usage Examples"]), *_usage(one)]


def _testing(one: FileModel) -> list[Block]:
    """Return the tests that reach the file, and the command that runs them."""
    if one.file.category == Category.TEST:
        return list(_own_tests(one))
    found = one.index.tests_of(one.path)
    if not found.near:
        return [Text([_no_tests(one)])]
    by_file: dict[str, list[int]] = {}
    for test, _ in found.near:
        by_file.setdefault(one.index.path_of(test), []).append(test)
    by_file = dict(sorted(by_file.items(), key=lambda row: (-len(row[1]), row[0])))
    items: list[Item] = []
    shown = 0
    for path, tests in by_file.items():
        names = tests[: max(0, _MAX_TESTS - shown)]
        shown += len(names)
        pieces: list[Piece] = [Ref(To.FILE, path, "", path)]
        more = len(tests) - len(names)
        label: list[Piece] = [ref_of(one.index, test) for test in names]
        label += [count_noun(more, "more test" if names else "test")] if more else []
        pieces += [": ", *join_in_sentence(label)]
        items.append(Item(pieces))
    blocks: list[Block] = [Items(items)]
    if found.farther:
        blocks.append(Text([f"Also reached, in more steps, by {count_noun(found.farther, 'test')}."]))
    first = next(iter(by_file))
    command = one.index.runners.command(first, one.index.language_of(first), "")
    if command:
        blocks.append(Code(f"{command}\n", "bash"))
    return blocks


def _own_tests(one: FileModel) -> Iterator[Block]:
    tests = [identity for identity in one.ids if identity in one.index.tests]
    command = one.index.runners.command(one.path, one.file.language, "")
    yield Text([f"Contains {count_noun(len(tests), 'test')}." if tests else "Support code for tests; contains none."])
    if command:
        yield Code(f"{command}\n", "bash")


def _no_tests(one: FileModel) -> str:
    if one.file.skip != Skip.NONE or not one.opened.flow.op:
        return "No executable code found in it."
    count = one.index.approximate_test_count
    return f"No test found that reaches it ({count} searched)." if count else "No tests were found in the repository."


def _usage(one: FileModel) -> list[Block]:
    """Return real uses, each with enough context to be copied."""
    rows = find_examples(one.index, one.path)
    if not rows:
        return [Text([_no_examples(one)])]
    blocks: list[Block] = []
    for row in rows:
        label = separator_of(one.file.language).join(split_key(row.key))
        name: Piece = Ref(To.SYMBOL, one.path, row.key, label) if row.key else Mono(one.path)
        cites = [Cite(row.path, row.first, row.last), *(Cite(row.path, line) for line in row.imports)]
        where: list[Piece] = [", from its own documentation"]
        if row.path != one.path:
            where = [f", {row.kind}: ", Ref(To.FILE, row.path, "", row.path)]
        blocks.append(Text([name, *where, *cites]))
        blocks.append(Code(row.code, row.language))
    return blocks


def _no_examples(one: FileModel) -> str:
    users = {one.index.path_of(use.id) for uses in one.users.values() for use in uses} - {one.path}
    used_by = count_noun(len(users), "file that uses it", "files that use it")
    return f"No usage example found in the {used_by}." if users else "No usage example found."
