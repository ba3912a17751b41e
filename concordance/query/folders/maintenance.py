"""How to work with a folder: its tests and the command to run them, what builds it, and who owns it.

In: an index and folders. Out: blocks. Tests are those inside of the folders and those that reach their files by calls
(as in `concord tests`). A build file or target counts if it names one of the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from concordance.base.blocks import Block, Code, Item, Items, Piece, Ref, Strong, Text, To, count_noun, join_in_sentence
from concordance.base.model import Category, Kind
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import FILE_USES, memoised, shared_until
from concordance.query.index.file_model import ref_of
from concordance.query.index.graphs.device_code import device_words, selects_device
from concordance.query.index.graphs.test_directness import NOT_FOLLOWED, is_stub
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.index.test_commands import join_commands
from concordance.query.sections.owner_notes import describe_owner

_MAX_PATHS = 5


@memoised(16384)
def testers(index: Index, path: str) -> tuple[tuple[str, int], ...]:
    """Return the test files whose tests reach a file in few steps, each with the number of such tests."""
    near, devices = index.tests_of(path).near if not is_stub(path) else [], device_words(index, path)
    counts = Counter(index.path_of(test) for test, _ in near if selects_device(index, devices, test))
    return tuple(counts.items())


class _FolderUpkeep(NamedTuple):
    """Tests and owners of the files directly in one folder."""

    tests: list[tuple[int, str]]  # the negated number of tests in a file, for sorting, and its path
    testers: list[tuple[tuple[str, int], ...]]  # the result of `testers` for each file that has any
    owners: dict[str, tuple[list[Piece], int]]  # by name: the owners, and their number of files


@memoised(1 << 20)
def _folder_upkeep(index: Index, folder: str) -> _FolderUpkeep:
    upkeep = _FolderUpkeep([], [], {})
    for path in index.files_in(folder):
        index.reads.note(Aspect.TEXT, path)
        number = ledger(index).tests[path] or index.is_whole_test(path)
        if number:
            upkeep.tests.append((-number, path))
        rows = testers(index, path)
        if rows:
            upkeep.testers.append(rows)
        people = describe_owner(index, path)
        if people:
            key = str(people[0])
            upkeep.owners[key] = (people, upkeep.owners.get(key, ([], 0))[1] + 1)
    return upkeep


def maintenance_blocks(index: Index, paths: Sequence[str]) -> list[Block]:
    """Return blocks on the tests, builds and owners of the files of the given folders."""
    index.reads.note("owners", "")
    with index.reads.not_recording():  # the caller already depends on everything below the folder
        worked = [_folder_upkeep(index, folder) for folder in paths]
        files = list(chain.from_iterable(map(index.files_in, paths)))
    items: list[Item] = []
    commands: list[str] = []
    inside = set(files)
    own = sorted(chain.from_iterable(upkeep.tests for upkeep in worked))
    outside: Counter[str] = Counter()
    reached = 0
    for testers in chain.from_iterable(upkeep.testers for upkeep in worked):
        rows = [row for row in testers if row[0] not in inside]
        reached += bool(rows)
        for test, times in rows:
            outside[test] += times
    if own:
        best = [path for _, path in own]
        total = -sum(number for number, _ in own)
        are_whole = total == len(own) and all(map(index.is_whole_test, best))
        count = "" if are_whole else f"{count_noun(total, 'test')} in "
        items.append(Item([Strong("Tests in it"), f": {count}", *_files(best)]))
        commands += _commands(index, best)
    if outside:
        best = [path for path, _ in sorted(outside.items(), key=lambda row: (-row[1], row[0]))]
        items.append(
            Item(
                [
                    Strong("Tests that reach it"),
                    ": ",
                    *_files(best),
                    f", which {'reaches' if len(best) == 1 else 'reach'} {reached:,} of its files",
                ]
            )
        )
        commands += _commands(index, best)
    if not own and not outside and (unreached := _unreached(index, files)):
        items.append(Item([Strong("Tests"), ": ", *unreached]))
    items += _builds(index, files) + _owners(worked, len(files))
    blocks: list[Block] = [Items(items)] if items else []
    if commands:
        blocks += [
            Text(["To run the test files named above:"]),
            Code("\n".join(join_commands(commands)) + "\n", "bash"),
        ]
    return blocks


def _unreached(index: Index, files: Sequence[str]) -> list[Piece]:
    """Return what is known about the tests of files into which no call from a test was found."""
    users = {user for path in files for user in index.neighbours.users_of(index.file_id(path))}
    tests = sorted(path for path in map(index.path_of_file, users) if index.category_of(path) == Category.TEST)
    if tests:
        return [*_files(tests), f" {'uses' if len(tests) == 1 else 'use'} it; {NOT_FOLLOWED}"]
    if all(index.category_of(path) != Category.SOURCE for path in files):
        return []
    return [f"none found that reach it; {NOT_FOLLOWED}" if index.has_tests else "none recognised in the repository"]


def _first_paths(paths: Sequence[str]) -> Sequence[str]:
    return paths[: _MAX_PATHS + (len(paths) == _MAX_PATHS + 1)]


def _files(paths: Sequence[str]) -> list[Piece]:
    shown = _first_paths(paths)
    left = len(paths) - len(shown)
    refs: list[Piece] = [Ref(To.FILE, path) for path in shown]
    return join_in_sentence([*refs, *([count_noun(left, "other file")] if left else [])])


def _commands(index: Index, paths: Sequence[str]) -> list[str]:
    """Return the commands that run the test files that are named."""
    commands = (_command(index, path) for path in _first_paths(paths))
    return [command for command in commands if command]


@memoised(2048)
def _command(index: Index, path: str) -> str:
    return index.runners.command(path, index.language_of(path), "")


@shared_until(Aspect.USED_BY, Aspect.DISPLAY_NAMES, FILE_USES)
def _builders_by_path(index: Index) -> dict[str, list[int]]:
    """Return, by path, the ids of the build files and targets that name a file."""
    builds = {file for file, _, _, category in index.file_rows if category == Category.BUILD}
    uses = index.neighbours.all_uses
    builders = {}
    for target in {use for file in builds for use in uses.get(file, ())}:
        users = {user for user, _ in index.graph.users(target)}
        builders[index.path_of_file(target)] = [user for user in users if index.file_id(index.path_of(user)) in builds]
    return builders


def _builds(index: Index, files: Sequence[str]) -> list[Item]:
    """Return the build files and targets that name the files."""
    kind_of, built = index.census.kind_of, _builders_by_path(index)
    named = Counter(chain.from_iterable(built[path] for path in files if path in built))
    rows = sorted(named.items(), key=lambda row: (-row[1], index.path_of(row[0]), row[0]))
    pieces: list[list[Piece]] = []
    for user, times in rows[:_MAX_PATHS]:
        location: list[Piece] = [Ref(To.FILE, index.path_of(user)), f" ({count_noun(times, 'file')})"]
        pieces.append([ref_of(index, user), " in ", *location] if kind_of(user) == Kind.TARGET else location)
    if not pieces:
        return []
    places: list[Piece] = []
    for number, piece in enumerate(pieces):
        places += ([", "] if number else []) + piece
    if len(rows) > _MAX_PATHS:
        places.append(f" and {count_noun(len(rows) - _MAX_PATHS, 'other place')}")
    return [Item([Strong("Built by"), ": ", *places])]


def _owners(upkeep: Sequence[_FolderUpkeep], count: int) -> list[Item]:
    """Return the owners of the files, according to the repository's own list of owners."""
    rows: dict[str, tuple[list[Piece], int]] = {}
    for folder_upkeep in upkeep:
        for key, (people, times) in folder_upkeep.owners.items():
            rows[key] = (people, rows.get(key, ([], 0))[1] + times)
    items = []
    for people, times in sorted(rows.values(), key=lambda row: (-row[1], str(row[0][0]))):
        share = "" if times == count else f" ({count_noun(times, 'file')})"
        items.append(Item([Strong("Owned by"), ": ", *people, share]))
    return items
