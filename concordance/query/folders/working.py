"""How one works with a folder: its tests and the command that runs them, what builds it, and whose it is.

In: an index and files. Out: blocks. Tests are those that reach the files by calls (`concord tests`); what builds them
is the build file, and the target in it, that names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from concordance.blocks import Block, Code, Item, Items, Piece, Ref, Strong, Text, To, counted, listed
from concordance.model import Category, Kind

from ..about import ref_of
from ..index import Index
from ..ledger import ledger
from ..owners import owner
from ..reads import kept, shared

_SHOWN = 5


@kept(16384)
def testers(index: Index, path: str) -> tuple[tuple[str, int], ...]:
    """The test files whose tests reach a file from near, each with how many of its tests do."""
    found: Counter[str] = Counter(index.path_of(test) for test, _ in index.tests_of(path).near)
    return tuple(found.items())


def working(index: Index, files: Sequence[str]) -> list[Block]:
    """Tests, build and owners of some files."""
    items: list[Item] = []
    commands: list[str] = []
    inside = set(files)
    own = [path for path in files if ledger(index).tests[path]]
    outside: Counter[str] = Counter()
    reached = 0
    for path in files:
        rows = [(test, times) for test, times in testers(index, path) if test not in inside]
        reached += bool(rows)
        for test, times in rows:
            outside[test] += times
    if own:
        total = sum(ledger(index).tests[path] for path in own)
        best = sorted(own, key=lambda path: (-ledger(index).tests[path], path))
        items.append(Item([Strong("Tests in it"), f": {counted(total, 'test')} in ", *_files(best)]))
        commands += _command(index, best[0])
    if outside:
        best = [path for path, _ in sorted(outside.items(), key=lambda row: (-row[1], row[0]))]
        items.append(
            Item([Strong("Tests that reach it"), ": ", *_files(best), f"; they reach {counted(reached, 'file')} of it"])
        )
        commands += _command(index, best[0])
    if not own and not outside and any(index.category_of(path) == Category.SOURCE for path in files):
        told = index.tests_told
        said = f"none reaches it, of {told} followed" if told else "the repository has none"
        items.append(Item([Strong("Tests"), f": {said}"]))
    items += _builds(index, files) + _owners(index, files)
    blocks: list[Block] = [Items(items)] if items else []
    if commands:
        blocks += [Text(["To run them:"]), Code("\n".join(dict.fromkeys(commands)) + "\n", "bash")]
    return blocks


def _files(paths: Sequence[str]) -> list[Piece]:
    shown = paths[: _SHOWN + (len(paths) == _SHOWN + 1)]
    left = len(paths) - len(shown)
    refs: list[Piece] = [Ref(To.FILE, path) for path in shown]
    return listed([*refs, *([counted(left, "other file")] if left else [])])


def _command(index: Index, path: str) -> list[str]:
    command = index.runners.command(path, index.language_of(path), "")
    return [command] if command else []


@shared
def _built(index: Index) -> tuple[frozenset[int], frozenset[int]]:
    """The build files, and what they use."""
    builds = frozenset(base for base, _, _, category in index.bases if category == Category.BUILD)
    uses = index.neighbours.all_uses
    return builds, frozenset(other for base in builds for other in uses.get(base, ()))


def _builds(index: Index, files: Sequence[str]) -> list[Item]:
    """The build files and targets that name the files."""
    kinds = index.census.kinds
    named: Counter[int] = Counter()
    builds, built = _built(index)
    for base in map(index.base_of, files):
        if base not in built:
            continue
        for user in {user for user, _ in index.graph.users(base)}:
            if index.base_of(index.path_of(user)) in builds:
                named[user] += 1
    rows = sorted(named.items(), key=lambda row: (-row[1], index.path_of(row[0]), row[0]))
    pieces: list[list[Piece]] = []
    for user, times in rows[:_SHOWN]:
        where: list[Piece] = [Ref(To.FILE, index.path_of(user)), f" ({counted(times, 'file')})"]
        pieces.append([ref_of(index, user), " in ", *where] if kinds[user] == Kind.TARGET else where)
    if not pieces:
        return []
    found: list[Piece] = []
    for number, piece in enumerate(pieces):
        found += ([", "] if number else []) + piece
    if len(rows) > _SHOWN:
        found.append(f" and {counted(len(rows) - _SHOWN, 'other place')}")
    return [Item([Strong("Built by"), ": ", *found])]


@kept(32768)
def _owner(index: Index, path: str) -> list[Piece] | None:
    return owner(index, path)


def _owners(index: Index, files: Sequence[str]) -> list[Item]:
    """Whose the files are, by the repository's own list."""
    rows: dict[str, tuple[list[Piece], int]] = {}
    for path in files if index.owners[0] else ():
        people = _owner(index, path)
        if people:
            key = str(people[0])
            rows[key] = (people, rows.get(key, ([], 0))[1] + 1)
    items = []
    for people, times in sorted(rows.values(), key=lambda row: (-row[1], str(row[0][0]))):
        share = "" if times == len(files) else f" ({counted(times, 'file')})"
        items.append(Item([Strong("Owned by"), ": ", *people, share]))
    return items
