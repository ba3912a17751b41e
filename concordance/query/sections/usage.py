"""How a file is tried and used: the tests that reach it, and examples of its use from elsewhere in the repository.

In: a file as its pages see it. Out: blocks. Examples are copied from files that use it, and cited.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import Block, Cite, Code, Item, Items, Mono, Piece, Ref, Text, To, counted, listed
from concordance.base.model import Category, Skip
from concordance.query.answers import clean, separator_of
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.sections.examples import examples

_NAMED = 6  # tests that are named; the others are counted by file


def testing(one: FileModel) -> list[Block]:
    """The tests that reach the file, and the command that runs them."""
    if one.file.category == Category.TEST:
        return list(_own_tests(one))
    found = one.index.tests_of(one.path)
    if not found.near:
        return [Text([_untested(one)])]
    by_file: dict[str, list[int]] = {}
    for test, _ in found.near:
        by_file.setdefault(one.index.path_of(test), []).append(test)
    by_file = dict(sorted(by_file.items(), key=lambda row: (-len(row[1]), row[0])))
    items: list[Item] = []
    shown = 0
    for path, tests in by_file.items():
        names = tests[: max(0, _NAMED - shown)]
        shown += len(names)
        pieces: list[Piece] = [Ref(To.FILE, path, "", path)]
        more = len(tests) - len(names)
        told: list[Piece] = [ref_of(one.index, test) for test in names]
        told += [counted(more, "more test" if names else "test")] if more else []
        pieces += [": ", *listed(told)]
        items.append(Item(pieces))
    blocks: list[Block] = [Items(items)]
    if found.farther:
        blocks.append(Text([f"{counted(found.farther, 'test')} farther away."]))
    first = next(iter(by_file))
    command = one.index.runners.command(first, one.index.language_of(first), "")
    if command:
        blocks.append(Code(f"{command}\n", "bash"))
    return blocks


def _own_tests(one: FileModel) -> Iterator[Block]:
    tests = [identity for identity in range(one.base, one.base + len(one.symbols) + 1) if identity in one.index.tests]
    command = one.index.runners.command(one.path, one.file.language, "")
    yield Text([f"{counted(len(tests), 'test')} of its own." if tests else "A file of tests' own tools."])
    if command:
        yield Code(f"{command}\n", "bash")


def _untested(one: FileModel) -> str:
    if one.file.skip != Skip.NONE or not one.opened.flow.op:
        return "Nothing in it runs."
    told = one.index.tests_told
    return f"None of {told} reaches it." if told else "The repository has no tests."


def usage(one: FileModel) -> list[Block]:
    """Real uses, each with enough around it to be copied."""
    rows = examples(one.index, one.path)
    if not rows:
        return [Text([_unused(one)])]
    blocks: list[Block] = []
    for row in rows:
        label = separator_of(one.file.language).join(clean(row.key))
        name: Piece = Ref(To.SYMBOL, one.path, row.key, label) if row.key else Mono(one.path)
        cites = [Cite(row.path, row.first, row.last), *(Cite(row.path, line) for line in row.imports)]
        where: list[Piece] = [", in its own words"]
        if row.path != one.path:
            where = [f", {row.kind}: ", Ref(To.FILE, row.path, "", row.path)]
        blocks.append(Text([name, *where, *cites]))
        blocks.append(Code(row.code, row.language))
    return blocks


def _unused(one: FileModel) -> str:
    users = {one.index.path_of(use.id) for uses in one.users.values() for use in uses} - {one.path}
    return f"None to copy from {counted(len(users), 'file')}." if users else "No user known."
