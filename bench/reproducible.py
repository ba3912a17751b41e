"""Builds a repository from nothing in several ways, and reports what differs: nothing should.

In: repositories; each is copied. Out: for each variation, what differs from the first build: files of the book by their
bytes, and parts of the store by their content (`stored`). The variations are the number of processes, the order of
batches, the hash seed, a warm cache and the name of the folder; the last adds a line to a file, updates the store, and
compares it with a clean build.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from concordance import cli
from concordance.workflow.workers import pool as workers_pool
from tests.support.stored import dump

_IGNORED = shutil.ignore_patterns(".concordance")


class Variation(NamedTuple):
    """One way to build."""

    name: str
    jobs: int = 2
    shuffle: int = 0  # the seed of the order of batches, 0 for that of a build
    seed: str = "0"  # of hashes
    warm: bool = False
    folder: str = "repository"


VARIATIONS = (
    Variation("2 processes"),
    Variation("1 process", jobs=1),
    Variation("3 processes, another hash seed", jobs=3, seed="12345"),
    Variation("7 processes", jobs=7),
    Variation("shuffled batches", shuffle=7),
    Variation("shuffled otherwise, another hash seed", jobs=3, shuffle=11, seed="77"),
    Variation("warm cache", warm=True),
    Variation("another folder", warm=True, folder="other/repository"),
)


def child(arguments: list[str]) -> None:
    """Run `concord`; the first argument is the seed of the order in which batches are handed out, or 0."""
    rng, each = random.Random(int(arguments[0])), workers_pool.map_batches

    def shuffled(pool: workers_pool.Pool, work: Callable[[list[Any]], Any], batches: Iterable[list[Any]]) -> Iterator[Any]:
        every = list(batches)
        rng.shuffle(every)
        return each(pool, work, every)

    if arguments[0] != "0":
        workers_pool.map_batches = shuffled
    sys.argv = ["concord", *arguments[1:]]
    cli.main()


def build(root: Path, cache: Path, way: Variation) -> None:
    """Build once, in a process of its own."""
    program = [sys.executable, "-c", "import sys; from bench import reproducible as r; r.child(sys.argv[1:])"]
    env = {**os.environ, "PYTHONHASHSEED": way.seed, "CONCORDANCE_CACHE": str(cache)}
    home = Path(__file__).parents[1]
    command = [*program, str(way.shuffle), "build", str(root), "--jobs", str(way.jobs)]
    done = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{way.name} failed:\n{done.stdout}{done.stderr}")


def said(root: Path) -> dict[str, Any]:
    """Return the digests of a book's files, and the content of its store."""
    book = root / ".concordance" / "book"
    files = {
        f"book/{path.relative_to(book)}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(book.rglob("*")) if path.is_file()
    }  # fmt: skip
    return files | {f"store: {part}": value for part, value in dump(root).items()}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the differences between two builds."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def show(name: str, differing: list[str]) -> None:
    """Print a line for one variation."""
    listed = f": {', '.join(differing[:12])}" if differing else ""
    print(f"| {name} | {len(differing)} differ{listed} |", flush=True)


def run(repository: Path) -> bool:
    """Build all variations of one repository; return True if nothing differs."""
    print(f"\n{repository}\n\n| build | against the first |\n|---|---|", flush=True)
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        first: dict[str, Any] = {}
        for way in VARIATIONS:
            cache = home / ("cache" if way.warm or not first else f"cache-{way.name}")
            root = home / way.folder
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(repository, root, symlinks=True, ignore=_IGNORED)
            build(root, cache, way)
            found = said(root)
            differing = differences(first, found) if first else []
            good = good and not differing
            show(way.name, differing)
            first = first or found
            if not way.warm and cache.name != "cache":
                shutil.rmtree(cache)
        differing = _updated(root, home / "cache", VARIATIONS[0])
        show("store after a line was added", differing)
    return good and not differing


def _updated(root: Path, cache: Path, way: Variation) -> list[str]:
    """Return the differences between an updated store and one that is built from nothing."""
    sources = [path for path in sorted(root.rglob("*.py")) if path.stat().st_size > 2000]
    if not sources:
        return []
    edited = sources[len(sources) // 2]
    edited.write_bytes(edited.read_bytes() + b"\n\ndef added_by_the_benchmark():\n    return 1\n")
    build(root, cache, way)
    updated = {f"store: {part}": value for part, value in dump(root).items()}
    shutil.rmtree(root / ".concordance")
    build(root, cache, way)
    return differences(updated, {f"store: {part}": value for part, value in dump(root).items()})


def main(arguments: list[str]) -> None:
    """Compare builds of some repositories."""
    if not arguments:
        sys.exit("reproducible needs repositories, e.g. python -m bench reproducible ../corpus/django")
    results = [run(Path(one)) for one in arguments]
    sys.exit(0 if all(results) else 1)
