"""The latency of `concord batch`, over a mix of questions about a repository that has a store.

In: a repository's folder. Out: milliseconds by command, from the line with the question to the line with the answer.
The questions are drawn from the store with a fixed seed: names as they occur in random files, so that frequent names
are asked for often; definitions; files.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from concordance.api import COMMANDS
from concordance.base import plugins
from concordance.facts.read import Facts
from concordance.query.answers import full_name
from concordance.workflow.store_location import FOLDER

CONCORD = str(Path(sys.executable).parent / "concord")
# How many of a thousand questions are of a command, and what they ask about.
MIX = {
    "define": (("place", 200), ("name", 100)),
    "refs": (("place", 150), ("name", 100)),
    "callers": (("name", 100),),
    "callees": (("name", 100),),
    "imports": (("path", 60),),
    "importers": (("path", 60),),
    "symbols": (("path", 30),),
    "tests": (("path", 25), ("name", 25)),
    "related": (("path", 25),),
    "impact": (("path", 15), ("name", 10)),
    "search": (("word", 60),),
}


class Latency(NamedTuple):
    """The times of one command."""

    command: str
    count: int
    half: float  # milliseconds: half of the answers take no longer …
    most: float  # … 95 % of them take no longer …
    slowest: float


def questions(root: Path, seed: int = 1) -> list[tuple[str, str]]:
    """Return a mix of commands and their arguments."""
    drawn = random.Random(seed)
    known = plugins.names(COMMANDS)
    with Facts(str(root / FOLDER)) as facts:
        asked = {
            "place": _places(facts, drawn),
            "name": _names(facts, drawn),
            "path": _paths(facts, drawn),
            "word": _words(facts, drawn),
        }
        found = [
            (command, next(asked[what]))
            for command, parts in MIX.items()
            if command in known
            for what, count in parts
            for _ in range(count)
        ]
    drawn.shuffle(found)
    return found


def _paths(facts: Facts, drawn: random.Random) -> Iterator[str]:
    files = [file.path for file in facts.files() if file.category in ("source", "test") and facts.flow(file.path)]
    while True:
        yield drawn.choice(files)


def _places(facts: Facts, drawn: random.Random) -> Iterator[str]:
    for path in _paths(facts, drawn):
        rows = list(facts.of(path).occurrences.rows())
        if rows:
            row = drawn.choice(rows)
            yield f"{path}:{row.line}:{row.col}"


def _names(facts: Facts, drawn: random.Random) -> Iterator[str]:
    """Return definitions by id, by qualified name, and by bare name, which several may share."""
    for path in _paths(facts, drawn):
        symbols = facts.symbols_in(path)
        if symbols:
            place = drawn.choice(symbols)
            key = facts.of(path).symbols[place.place].key
            yield drawn.choice((f"{path}#{key}", full_name(place), place.name))


def _words(facts: Facts, drawn: random.Random) -> Iterator[str]:
    for path in _paths(facts, drawn):
        words = [term.text for term in facts.of(path).terms]
        if words:
            yield " ".join(drawn.choices(words, k=drawn.randint(1, 4)))


def run(root: Path, seed: int = 1) -> list[Latency]:
    """Ask all questions, one after the other."""
    process = subprocess.Popen(
        [CONCORD, "batch", "--no-update", "--repo", str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    times: dict[str, list[tuple[float, str]]] = {}
    asked = questions(root, seed)
    for command, what in [asked[0], *asked]:  # the first is asked twice: opening the store is no part of an answer
        began = time.perf_counter()
        process.stdin.write(json.dumps({"command": command, "args": [what]}) + "\n")
        process.stdin.flush()
        reply = process.stdout.readline()
        times.setdefault(command, []).append((1000 * (time.perf_counter() - began), what))
        said = json.loads(reply)
        if not said["ok"] and "the program failed" in said["error"]:
            print(f"    {command} {what}: {said['error']}")
    process.stdin.close()
    process.wait()
    process.stdout.close()
    times[asked[0][0]].pop(0)
    all_ = [pair for pairs in times.values() for pair in pairs]
    return [_latency(name, [t for t, _ in pairs]) for name, pairs in [*sorted(times.items()), ("all", all_)]]


def _latency(command: str, times: list[float]) -> Latency:
    times = sorted(times)
    return Latency(command, len(times), times[len(times) // 2], times[int(len(times) * 0.95)], times[-1])


if __name__ == "__main__":
    for one in run(Path(sys.argv[1])):
        print(f"{one.command:10} {one.count:5} questions  p50 {one.half:7.1f} ms  p95 {one.most:7.1f} ms  most {one.slowest:7.1f} ms")
