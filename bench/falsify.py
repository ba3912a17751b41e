"""`python -m bench falsify [REPOSITORY [COUNT]]`: falsifies pages and stores, and counts what `verify` notices.

In: a repository (a copy of `tests/sample` by default), and how many pages to falsify (300: 20 of each of 15 kinds). Out:
a table. Each falsified page is in the manifest with the checksum that it has then. It counts as noticed if a problem
names its page, and as located if the problem names its line or the one beside it, and says that the book is at fault. A
problem on any other page is a false alarm. Then rows of the store are changed in the same way, and the checksums of the
store made to fit; these must be noticed as faults of the store. The falsifications of one round are on different pages;
a small book takes several rounds.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from concordance.facts.read import Facts
from concordance.render.output import manifest
from concordance.render.summary import Fault, Problem
from concordance.workflow import builds
from concordance.workflow.store_location import FOLDER
from tests.support import program
from tests.support.falsify import ALL_KINDS, Falsified, falsify, make_manifest_fit

SAMPLE = Path(__file__).parent.parent / "tests/sample"
COUNT, SEED = 300, 17
IN_STORE = {  # what is changed in the store, and how
    "the line of a symbol": "UPDATE symbol SET line = line + 1 WHERE rowid = (SELECT max(rowid) FROM symbol WHERE file = {file})",
    "the lines of a file": "UPDATE file SET lines = lines + 1 WHERE id = {file}",
    "the facts of a file": "UPDATE facts SET packed = (SELECT packed FROM facts WHERE file != {file} LIMIT 1) WHERE file = {file}",
    "the links of a file": "UPDATE link SET packed = (SELECT packed FROM link WHERE file != {file} LIMIT 1) WHERE file = {file}",
    "what a file uses": "DELETE FROM used WHERE user = {file} OR user IN (SELECT id FROM symbol WHERE file = {file})",
}


def main(words: list[str]) -> None:
    """Falsify, and print the table."""
    checkout = Path(words[0]) if words else SAMPLE
    count = int(words[1]) if len(words) > 1 else COUNT
    chance = random.Random(int(os.environ.get("SEED", SEED)))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        root, out, right = (Path(scratch, name) for name in ("repo", "book", "right"))
        os.environ["CONCORDANCE_CACHE"] = f"{scratch}/cache"
        shutil.copytree(checkout, root, symlinks=True, ignore=shutil.ignore_patterns(FOLDER))
        began = time.monotonic()
        builds.write_book(str(root), str(out), jobs=2)
        cold = time.monotonic() - began
        began = time.monotonic()
        before = builds.verify(str(root), str(out), 2).problems
        took = time.monotonic() - began
        shutil.copytree(out, right)
        print("| what | bar | measured |\n|---|---|---|")
        print(f"| problems of the book as it was written | 0 | {len(before)} |")
        print(
            f"| time of verify | <= 1.2 x a cold build | {took:.1f} s, {took / cold:.2f} x ({cold:.1f} s) |", flush=True
        )
        noticed, located, total, alarms = falsify_pages(root, out, right, count, chance)
        for kind in ALL_KINDS:
            print(f"| {kind} | | {noticed[kind]} of {total[kind]} noticed, {located[kind]} with the line |")
        found, every = sum(noticed.values()), sum(total.values())
        print(
            f"| all {len(ALL_KINDS)} kinds | >= 0.98 | {found} of {every} = {found / every:.3f}, {sum(located.values())} with the line |"
        )
        print(f"| false alarms | 0 | {alarms} |", flush=True)
        falsify_store(root, out, chance)


def falsify_pages(
    root: Path, out: Path, right: Path, count: int, chance: random.Random
) -> tuple[Counter[str], Counter[str], Counter[str], int]:
    """Falsify pages in as many rounds as it takes; return by kind how many were noticed, how many were located, and how
    many there were; and the number of false alarms."""
    noticed, located, total = Counter[str](), Counter[str](), Counter[str]()
    alarms, wanted = 0, [ALL_KINDS[number % len(ALL_KINDS)] for number in range(count)]
    while wanted:
        shutil.rmtree(out)
        shutil.copytree(right, out)
        taken: set[str] = set()
        most = max(len(ALL_KINDS), len(manifest.read(str(out)).pages) // 4)
        some, wanted = wanted[:most], wanted[most:]
        done = [one for kind in some if (one := falsify(out, kind, taken, chance)) is not None]
        make_manifest_fit(out, taken)
        problems = builds.verify(str(root), str(out), 2).problems
        total.update(one.kind for one in done)
        for one in done:
            here = [problem for problem in problems if problem.page == one.page and problem.fault is Fault.BOOK]
            noticed[one.kind] += bool(here)
            located[one.kind] += _is_located(one, here)
            if not _is_located(one, here):
                print(f"    {one}: {[(problem.line, problem.problem) for problem in here][:3]}", file=sys.stderr)
        alarms += sum(problem.page not in taken or problem.fault is not Fault.BOOK for problem in problems)
    return noticed, located, total, alarms


def _is_located(one: Falsified, problems: list[Problem]) -> bool:
    return any(abs(problem.line - one.line) <= 1 for problem in problems)


def falsify_store(root: Path, out: Path, chance: random.Random) -> None:
    """Change rows of the store, each of another file, and print how many were noticed as faults of the store."""
    shutil.rmtree(out)
    builds.write_book(str(root), str(out), jobs=2)
    with Facts(str(root / FOLDER)) as facts:
        paths = {
            path: facts.id(path)
            for _, path, *_ in facts.file_rows()
            if facts.used_from(path) and facts.users_of_file(path)
        }
    some = chance.sample(sorted(paths), min(50, len(paths)))
    changed = {path: list(IN_STORE)[number % len(IN_STORE)] for number, path in enumerate(some)}
    for path, kind in changed.items():
        program.alter_store(root, IN_STORE[kind].format(file=paths[path]))
    problems = builds.verify(str(root), str(out), 2).problems
    named = {
        path
        for path in changed
        if any(problem.page == f"{path}_docs.md" and problem.fault is Fault.STORE for problem in problems)
    }
    pages = {f"{path}_docs.md" for path in changed}
    alarms = [problem for problem in problems if problem.page not in pages or problem.fault is not Fault.STORE]
    print(
        f"| rows of the store, {len(IN_STORE)} kinds | all | {len(named)} of {len(changed)} noticed as faults of the store |"
    )
    print(f"| false alarms | 0 | {len(alarms)} |")
    for path in sorted(changed.keys() - named):
        print(f"    not noticed: {changed[path]}: {path}")
    for problem in alarms[:10]:
        print(f"    false alarm: {problem}")
