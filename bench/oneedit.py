"""`python -m bench edit ROOT`: the cost of an edit of one file, with the whole book kept current.

In: a repository that may be edited (a copy: files are changed and changed back); its store and book are built first.
Out: the table of `python -m bench`: seconds of sampled edits, stage by stage, for `concord build` as a process of its
own and for a long-running process, as `concord watch` is one; of renaming a public function that about 200 files use;
and whether the book then equals that of a clean build.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from concordance.base.config import Book
from concordance.base.model import Kind, Skip, Symbol
from concordance.base.progress import ignore_progress
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.render.output import manifest
from concordance.workflow.store_location import FOLDER
from concordance.workflow.watch.watch import CurrentBook
from tests.support import measure
from tests.support.measure import row

CONCORD = [sys.executable, "-c", "import sys; from concordance.cli import main; sys.exit(main())"]
STEPS = ("collect", "learn", "extract", "check", "index", "link", "pass", "store", "pages")
_FUNCTIONS = frozenset((Kind.FUNCTION, Kind.METHOD))
_BRACES = frozenset(("c", "cpp", "cuda", "objc", "objcpp", "java", "javascript", "typescript", "rust", "go"))
_WANTED = 200  # files that use the function that is renamed
_BAR = "p50 <= 0.8 s, p95 <= 2 s"

Change = Callable[[list[str], list[Symbol], str, random.Random], list[str] | None]


class Took(NamedTuple):
    """One update."""

    seconds: float
    cpu: float  # seconds of processor time, of all processes: what a busy machine does not change
    steps: dict[str, float]
    written: int  # pages
    what: str


# --- edits


def body(lines: list[str], symbols: list[Symbol], language: str, chance: random.Random) -> list[str] | None:
    """Add a statement at the end of a function."""
    fitting = [one for one in symbols if one.kind in _FUNCTIONS and one.end_line > one.line + 1 and not one.declaration]
    fitting = [one for one in fitting if one.end_line <= len(lines) and lines[one.end_line - 1].strip()]
    if language in _BRACES:
        fitting = [one for one in fitting if lines[one.end_line - 1].lstrip().startswith("}")]
    if not fitting:
        return None
    one = chance.choice(fitting)
    last = lines[one.end_line - 1]
    indent = last[: len(last) - len(last.lstrip())]
    if language in _BRACES:
        return [*lines[: one.end_line - 1], f"{indent}  ;", *lines[one.end_line - 1 :]]
    first = lines[one.line - 1]
    inner = f"{first[: len(first) - len(first.lstrip())]}    "
    return [*lines[: one.end_line], f"{inner}edited = {chance.randrange(1000)}", *lines[one.end_line :]]


def top(lines: list[str], symbols: list[Symbol], language: str, chance: random.Random) -> list[str] | None:
    """Add lines at the top."""
    mark = "//" if language in _BRACES else "#"
    return [f"{mark} edited {number}" for number in range(chance.randrange(1, 4))] + lines


def function(lines: list[str], symbols: list[Symbol], language: str, chance: random.Random) -> list[str] | None:
    """Add a function at the end."""
    name = f"edited_{chance.randrange(1000)}"
    braces = ["  return one;", "}"]
    made = (
        ["", f"static int {name}(int one) {{", *braces] if language in ("c", "cpp", "cuda", "objc", "objcpp") else None
    )
    if language == "python":
        made = ["", "", f"def {name}(one):", '    """Was added."""', "    return one"]
    elif language in ("javascript", "typescript"):
        made = ["", f"function {name}(one) {{", *braces]
    return [*lines, *made, ""] if made else None


def docstring(lines: list[str], symbols: list[Symbol], language: str, chance: random.Random) -> list[str] | None:
    """Add a sentence to the documentation of a definition."""
    fitting = [one for one in symbols if one.doc and one.kind in {*_FUNCTIONS, Kind.CLASS, Kind.STRUCT}]
    if not fitting:
        return None
    one = chance.choice(fitting)
    if language == "python":
        for at in range(one.line - 1, min(one.line + 12, len(lines))):
            if '"""' in lines[at]:
                return [*lines[:at], lines[at].replace('"""', '"""Edited now. ', 1), *lines[at + 1 :]]
        return None
    return [*lines[: one.line - 1], "/// Edited now.", *lines[one.line - 1 :]] if language in _BRACES else None


EDITS: dict[str, Change] = {
    "a body changed": body,
    "lines inserted at the top": top,
    "a function added": function,
    "a docstring changed": docstring,
}


@contextmanager
def edited(root: Path, texts: dict[str, bytes]) -> Iterator[None]:
    """Change files for the duration of the block."""
    old = {path: (root / path).read_bytes() for path in texts}
    try:
        for path, data in texts.items():
            (root / path).write_bytes(data)
        yield
    finally:
        for path, data in old.items():
            (root / path).write_bytes(data)


def drawn(root: Path, count: int, seed: int) -> list[tuple[str, str, bytes]]:
    """Return random edits, as many of each kind: the kind, the path and the changed file."""
    chance = random.Random(seed)
    with Facts(str(root / FOLDER)) as facts:
        files = [file for file in facts.files() if file.skip == Skip.NONE and file.encoding == "utf-8" and file.size]
        found: list[tuple[str, str, bytes]] = []
        kinds = [kind for kind in EDITS for _ in range(count // len(EDITS))]
        while len(found) < len(kinds):
            file = chance.choice(files)
            said = facts.of(file.path)
            if any(one.kind in _FUNCTIONS for one in said.symbols):
                lines = (root / file.path).read_bytes().decode().split("\n")
                made = EDITS[kinds[len(found)]](lines, list(said.symbols), file.language, chance)
                if made is not None:
                    found.append((kinds[len(found)], file.path, "\n".join(made).encode()))
    chance.shuffle(found)
    return found


# --- updates


class Alone:
    """`concord build`, a new process each time."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def update(self, paths: list[str], what: str) -> Took:
        """Update the book."""
        before = processor_time()
        done = measure.run([*CONCORD, "build", str(self.root), "--json"])
        told = json.loads(done.output.strip().split("\n")[-1])
        return Took(done.seconds, processor_time() - before, told["seconds"], told["book"]["written"], what)


class Resident:
    """One long-running process that is told which files changed."""

    def __init__(self, root: Path) -> None:
        self.current = CurrentBook(str(root), None, Book, None, ignore_progress)
        self.current.update([], True)
        self.current.preload()  # as `concord watch` does

    def update(self, paths: list[str], what: str) -> Took:
        """Update the book."""
        began, before = time.perf_counter(), processor_time()
        done = self.current.update(paths, False)
        took, cpu = time.perf_counter() - began, processor_time() - before
        self.current.tidy()  # as `concord watch` does once the update is reported
        assert done is not None, f"no change was seen in {paths}"
        return Took(took, cpu, done.summary.seconds, done.book.written, what)


def _resident_megabytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def processor_time() -> float:
    """Return the processor seconds of this process and of those that it waited for."""
    return sum(os.times()[:4])


def told(took: list[Took]) -> str:
    """Return median, 95th percentile and maximum of the updates, and median and 95th percentile of each stage."""
    seconds, cpu = [one.seconds for one in took], [one.cpu for one in took]
    pages = [one.written for one in took]
    steps = ", ".join(
        f"{step} {_at(0.5, [one.steps.get(step, 0.0) for one in took]):.2f}/{_at(0.95, [one.steps.get(step, 0.0) for one in took]):.2f}"
        for step in STEPS
    )
    return (
        f"p50 {_at(0.5, seconds):.2f} s, p95 {_at(0.95, seconds):.2f} s, max {max(seconds):.2f} s (processor p50 {_at(0.5, cpu):.2f} s, p95 {_at(0.95, cpu):.2f} s); pages written p50 {_at(0.5, pages):.0f}, "
        f"p95 {_at(0.95, pages):.0f}, max {max(pages)}; p50/p95 by stage: {steps}"
    )


def _at(share: float, values: list[Any]) -> float:
    ordered = sorted(values)
    return float(ordered[min(len(ordered) - 1, int(share * len(ordered)))])


def sampled(root: Path, edits: list[tuple[str, str, bytes]], name: str, program: Alone | Resident) -> None:
    """Make each edit, and take it back."""
    took, back, held = [], [], []
    for kind, path, data in edits:
        with edited(root, {path: data}):
            took.append(program.update([path], f"{kind}: {path}"))
        back.append(program.update([path], f"back: {path}"))
        held.append(_resident_megabytes())
    row(f"one-file edit, {len(took)} drawn, {name}", _BAR, told(took))
    row("the same taken back", "", told(back))
    if isinstance(program, Resident):
        measured = f"{held[0]:,} MB, {held[-1]:,} MB: {held[-1] / held[0]:.2f} times as much"
        row(f"memory after the first edit, and after {2 * len(held)}", "<= 1.2 times", measured)
    for kind in EDITS:
        row(f"{kind}, {name}", _BAR, told([one for one in took if one.what.startswith(kind)]))
    for one in sorted(took, reverse=True)[:5]:
        print(f"    slowest: {one.seconds:.2f} s, {one.written} pages, {one.what}: {_steps(one)}")


def _steps(took: Took) -> str:
    return ", ".join(f"{step} {seconds:.2f}" for step, seconds in took.steps.items() if seconds >= 0.005)


def much_used(root: Path) -> tuple[str, int, str, list[str]]:
    """Return a public function that about 200 files use: its file, line and name, and the files."""
    with Facts(str(root / FOLDER)) as facts:
        index = Index(facts, str(root))
        users: defaultdict[int, set[str]] = defaultdict(set)
        for user, targets in facts.used_from_files():
            for target in targets:
                users[target].add(index.path_of_file(user))
        many = sorted((abs(len(paths) - _WANTED), target) for target, paths in users.items() if len(paths) > 1)
        names = Counter(place.name for place in facts.symbols(("", "", -1), 10_000_000))
        for _, target in many:
            place = facts.place(target)
            if (
                place is not None
                and place.kind == Kind.FUNCTION
                and place.public
                and len(place.name) > 4
                and names[place.name] < 4
            ):
                return place.path, place.line, place.name, sorted(users[target])
    sys.exit("no function is used so much")


def renamed(root: Path, name: str, program: Alone | Resident) -> None:
    """Rename a function that is used often: alone, and with all its uses."""
    path, line, old, users = much_used(root)
    word = re.compile(rb"\b" + old.encode() + rb"\b")
    text = (root / path).read_bytes()
    lines = text.split(b"\n")
    lines[line - 1] = word.sub(old.encode() + b"_renamed", lines[line - 1])
    every = {one: word.sub(old.encode() + b"_renamed", (root / one).read_bytes()) for one in {path, *users}}
    for what, texts in (("its definition", {path: b"\n".join(lines)}), ("definition and uses", every)):
        with edited(root, texts):
            there = program.update(list(texts), what)
        back = program.update(list(texts), what)
        row(
            f"`{old}`, used in {len(users)} files, renamed: {what}, {name}",
            "<= 4 s",
            f"{there.seconds:.2f} s (processor {there.cpu:.2f} s), {there.written} pages: {_steps(there)}; back {back.seconds:.2f} s",
        )


def compared(root: Path) -> None:
    """Compare the book with that of a clean build of the same files."""
    home = root.parent / "clean"
    shutil.rmtree(home, ignore_errors=True)
    clean = home / root.name
    shutil.copytree(root, clean, symlinks=True, ignore=lambda top, names: [name for name in names if name == FOLDER])
    measure.run([*CONCORD, "build", str(clean), "--json"])
    books = [root / FOLDER / "book", clean / FOLDER / "book"]
    ours, theirs = (set(manifest.files(str(book))) for book in books)
    differ = sorted(
        (ours ^ theirs)
        | {one for one in ours & theirs if (books[0] / one).read_bytes() != (books[1] / one).read_bytes()}
    )
    row(
        "the book after all edits, and a clean build",
        "equal",
        f"{len(ours):,} files compared, {len(differ)} differ {differ[:5] if differ else ''}",
    )
    shutil.rmtree(home)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench edit", description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--only", choices=("alone", "resident"))
    parser.add_argument("--no-compare", action="store_true", help="do not build from nothing at the end")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    measure.run([*CONCORD, "build", str(root), "--json"])
    time.sleep(2.1)  # what was written just now would be read again
    measure.run([*CONCORD, "build", str(root), "--json"])
    edits = drawn(root, options.count, options.seed)
    print("| what | bar | measured |\n|---|---|---|")
    for name, make in (("a process each", Alone), ("one process", Resident)):
        if options.only is None or (options.only == "alone") == (make is Alone):
            program = make(root)
            sampled(root, edits, name, program)
            renamed(root, name, program)
    if not options.no_compare:
        compared(root)


if __name__ == "__main__":
    main()
