"""Which tests reach which file, for all files at once, in the sense of `concord tests`.

In: whom each symbol leads to when it runs, the tests in their order, and of which file's code each symbol is a part.
Out: for each file its near tests with their steps, and how many others reach it. All tests of a batch walk at once: a
set of tests is a number with a bit for each, and a step hands each symbol's new tests on to all that it leads to. A
batch bounds the memory, for in the worst case every symbol has a bit of every test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_BATCH = 2048  # measured: smaller ones walk the same ways more often, larger ones carry more bits that are not set
_NEAR = 2  # steps: a call, or the call of a class that runs its constructor; without any such, the nearest count


class ReachingTests(NamedTuple):
    """The tests of one file."""

    near: list[tuple[int, list[int]]]  # by rising steps the ids, in the order of tests
    farther: int  # how many others there are


def tested(
    tests: Sequence[int], leads: Mapping[int, Sequence[int]], owner: Sequence[int], steps: int
) -> dict[int, ReachingTests]:
    """The tests of each file by its number; `leads` has by symbol those that it leads to, `owner` by symbol its file's
    number plus one, 0 where it is nothing that runs."""
    levels: dict[int, dict[int, list[tuple[int, int]]]] = {}  # by file and steps: where a batch begins, and its bits
    for begin in range(0, len(tests), _BATCH):
        for distance, found in enumerate(_walk(tests[begin : begin + _BATCH], leads, owner, steps)):
            for file, bits in found.items():
                levels.setdefault(file, {}).setdefault(distance, []).append((begin, bits))
    return {file: _near(tests, by_steps) for file, by_steps in levels.items()}


def _near(tests: Sequence[int], by_steps: Mapping[int, Sequence[tuple[int, int]]]) -> ReachingTests:
    """The tests of a file that are named, and the number of the others."""
    last = max(_NEAR, min(by_steps))
    near = [
        (steps, [tests[begin + place] for begin, bits in by_steps[steps] for place in _places(bits)])
        for steps in sorted(by_steps)
        if steps <= last
    ]
    farther = sum(bits.bit_count() for steps, found in by_steps.items() if steps > last for _, bits in found)
    return ReachingTests(near, farther)


def _walk(
    tests: Sequence[int], leads: Mapping[int, Sequence[int]], owner: Sequence[int], steps: int
) -> Iterator[dict[int, int]]:
    """By step, from none on, the tests that reach each file then for the first time."""
    now = {test: 1 << place for place, test in enumerate(tests)}
    had: dict[int, int] = {}
    filed: dict[int, int] = {}
    for _ in range(steps + 1):
        fresh: dict[int, int] = {}
        files: dict[int, int] = {}
        for symbol, bits in now.items():
            before = had.get(symbol, 0)
            new = bits & ~before
            if new:
                fresh[symbol], had[symbol] = new, before | new
                if file := owner[symbol]:
                    files[file] = files.get(file, 0) | new
        yield {file - 1: new for file, bits in files.items() if (new := bits & ~filed.get(file, 0))}
        for file, bits in files.items():
            filed[file] = filed.get(file, 0) | bits
        now = {}
        for symbol, bits in fresh.items():
            for target in leads.get(symbol, ()):
                now[target] = now[target] | bits if target in now else bits


def _places(bits: int) -> list[int]:
    """The places of the bits of a number that are set."""
    text = f"{bits:b}"[::-1]
    found, at = [], text.find("1")
    while at >= 0:
        found.append(at)
        at = text.find("1", at + 1)
    return found
