"""Which tests reach which file, for all files or for those that a change affects, as `concord tests` defines it.

In: the symbols that each symbol leads to when it runs, the tests in order, and the file of each symbol. Out: for each
file, its near tests with their distance, and the number of others that reach it. All tests of a batch are followed at
once: a set of tests is an integer with one bit for each test, and each step passes a symbol's new tests on to all
symbols it leads to. Batches bound the memory, because in the worst case every symbol has a bit for every test.

A changed link can only affect the files that it leads to (`reached_within`). Their tests are found backwards, from the
code of these files: the cost is that of the files, whereas a search from the tests would be one from nearly all tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

_BATCH = 2048  # measured: smaller batches repeat more work, larger ones carry more zero bits
_NEAR_STEPS = (
    2  # steps: a call, or the call of a class that runs its constructor; if no test is that near, the nearest count
)


Links = Callable[[int], Iterable[int]]  # what a symbol leads to, or what leads to it


class ReachingTests(NamedTuple):
    """The tests that reach one file."""

    near: list[tuple[int, list[int]]]  # ids by ascending number of steps, in the order of tests
    farther: int  # the number of other tests


def find_reaching_tests(
    tests: Sequence[int], leads: Mapping[int, Sequence[int]], owner: Sequence[int], steps: int
) -> dict[int, ReachingTests]:
    """Return the tests of each file, by its number.

    `leads` maps each symbol to those it leads to; `owner` is each symbol's file number plus one, 0 if it is not code
    that runs.
    """
    levels: dict[int, dict[int, list[tuple[int, int]]]] = {}  # by file and steps: the start of a batch, and its bits
    for begin in range(0, len(tests), _BATCH):
        for distance, reached in enumerate(_walk_files(tests[begin : begin + _BATCH], leads, owner, steps)):
            for file, bits in reached.items():
                levels.setdefault(file, {}).setdefault(distance, []).append((begin, bits))
    return {file: _near(tests, by_steps) for file, by_steps in levels.items()}


def _near(tests: Sequence[int], by_steps: Mapping[int, Sequence[tuple[int, int]]]) -> ReachingTests:
    """Return the near tests of a file, and the number of the others."""
    last = max(_NEAR_STEPS, min(by_steps))
    near = [
        (steps, [tests[begin + place] for begin, bits in by_steps[steps] for place in _places(bits)])
        for steps in sorted(by_steps)
        if steps <= last
    ]
    farther = sum(bits.bit_count() for steps, reached in by_steps.items() if steps > last for _, bits in reached)
    return ReachingTests(near, farther)


def _walk_files(
    tests: Sequence[int], leads: Mapping[int, Sequence[int]], owner: Sequence[int], steps: int
) -> Iterator[dict[int, int]]:
    """Yield, for each number of steps from 0, the tests that first reach each file then."""
    filed: dict[int, int] = {}
    for level in _walk({test: 1 << place for place, test in enumerate(tests)}, lambda node: leads.get(node, ()), steps):
        files: dict[int, int] = {}
        for symbol, bits in level.items():
            if file := owner[symbol]:
                files[file] = files.get(file, 0) | bits
        yield {file - 1: new for file, bits in files.items() if (new := bits & ~filed.get(file, 0))}
        for file, bits in files.items():
            filed[file] = filed.get(file, 0) | bits


def _walk(starts: dict[int, int], links: Links, steps: int) -> Iterator[dict[int, int]]:
    """Yield, for each number of steps from 0, the symbols that bits of `starts` first reach then, with these bits."""
    now, had = starts, dict[int, int]()
    for _ in range(steps + 1):
        fresh: dict[int, int] = {}
        for symbol, bits in now.items():
            before = had.get(symbol, 0)
            new = bits & ~before
            if new:
                fresh[symbol], had[symbol] = new, before | new
        yield fresh
        now = {}
        for symbol, bits in fresh.items():
            for other in links(symbol):
                now[other] = now[other] | bits if other in now else bits


def _places(bits: int) -> list[int]:
    """Return the positions of the set bits of a number."""
    text = f"{bits:b}"[::-1]
    places, at = [], text.find("1")
    while at >= 0:
        places.append(at)
        at = text.find("1", at + 1)
    return places


# --- the tests of some files


def reached_within(starts: Iterable[int], leads: Links, steps: int, limit: int) -> set[int] | None:
    """Return the given symbols and what they lead to within some steps; None if these are more than `limit`."""
    reached = set(starts)
    now = reached
    for _ in range(steps):
        now = {other for symbol in now for other in leads(symbol)} - reached
        reached |= now
        if len(reached) > limit:
            return None
    return reached


def find_tests_of_files(
    tests: Sequence[int], callers: Links, code: Mapping[int, Iterable[int]], steps: int
) -> dict[int, ReachingTests]:
    """Return the tests of some files, as `find_reaching_tests` does of all; `code` has the symbols of each that run."""
    order = {test: place for place, test in enumerate(tests)}
    levels: list[dict[int, list[int]]] = [{} for _ in code]  # by file, and by steps
    for distance, level in enumerate(
        _walk({identity: 1 << bit for bit, ids in enumerate(code.values()) for identity in ids}, callers, steps)
    ):
        for place, bits in sorted((order[node], bits) for node, bits in level.items() if node in order):
            for bit in _places(bits):
                levels[bit].setdefault(distance, []).append(tests[place])
    tests_by_file: dict[int, ReachingTests] = {}
    for file, by_steps in zip(code, levels, strict=True):
        if by_steps:
            last = max(_NEAR_STEPS, min(by_steps))
            near = [(distance, ids) for distance, ids in by_steps.items() if distance <= last]
            farther = sum(len(ids) for distance, ids in by_steps.items() if distance > last)
            tests_by_file[file] = ReachingTests(near, farther)
    return tests_by_file
