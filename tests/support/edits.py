"""`python -m bench edits`: random edits of a small repository, each update compared with a clean build.

In: how many sequences (`--count`, default 500) from which seed on (`--first`), in how many processes (`--jobs`), and
projects to edit instead of the small repositories made here (`--repo FOLDER`, which is copied; may be repeated). Out:
how many ended with a book or a store that differs from that of a clean build, each with its seed, the first difference,
and the fewest steps that still show it. `--seed N` runs one alone. A project is compared only after the last step, and
its steps are not reduced: both would take a clean build each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from concordance import api
from concordance.base.config import Book
from concordance.base.progress import ignore_progress
from concordance.workflow import builds, store_update
from concordance.workflow.stages import page_writer
from concordance.workflow.watch.watch import CurrentBook
from tests.support import editrepo, editsteps
from tests.support.books import contents
from tests.support.editsteps import BOOK, EDITS, Desk
from tests.support.stored import dump

HOME = ".concordance"
_DEFAULT = Path(HOME, "book")


class Step(NamedTuple):
    """An edit, or an update of the store or a book; `seed` decides the details."""

    what: str
    seed: int = 0


class Differs(Exception):
    """An update that differs from a clean build."""


class Bench:
    """A repository with its book, from which each sequence starts; always in the same folder, because a book contains
    its path."""

    def __init__(
        self, home: Path, files: Mapping[str, str | bytes] = editrepo.FILES, links: Mapping[str, str] = editrepo.LINKS
    ) -> None:
        self.root = home / "now" / "pear"
        self._kept = home / "kept"
        self._clean = home / "clean" / "pear"
        self.root.mkdir(parents=True)
        desk = Desk(self.root)
        for path, content in files.items():
            desk.put(path, content)
        for path, target in links.items():
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).symlink_to(target)
            desk.touch(path)
        desk.git("init", "-q", "-b", "main")
        desk.git("add", "-A")
        desk.git("commit", "-q", "-m", "first")
        self._clock = desk.clock
        builds.write_book(str(self.root), None, Book(), 1)
        shutil.copytree(self.root, self._kept, symlinks=True)

    def run(self, steps: list[Step], always: bool) -> None:
        """Take all steps; compare after the last, or with `always` after each that wrote a book. Raise Differs."""
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root, symlinks=True)
        desk, kept = Desk(self.root, self._clock), _Kept(self.root)
        last = max((place for place, step in enumerate(steps) if step.what in BOOKS), default=-1)
        for place, step in enumerate(steps):
            if step.what in EDITS:
                EDITS[step.what](desk, random.Random(step.seed))
            elif step.what == "store":
                store_update.build(str(self.root), 1)
            elif step.what == "ask":
                api.Repository(str(self.root)).close()
            else:
                out, wishes = BOOKS[step.what]
                if step.what == "kept":
                    kept.update(random.Random(step.seed).random() < 0.3)
                else:
                    with _forking(step.seed % 2 == 1):
                        _written(self.root, out, wishes, 2)
                if always or place == last:
                    self.compare(out, wishes)

    def compare(self, out: Path, wishes: Book) -> None:
        """Compare book and store with those of a clean build."""
        left_out = {HOME, str(out)} if out != _DEFAULT else {HOME}
        shutil.rmtree(self._clean, ignore_errors=True)
        ignored = [str(self.root / one) for one in left_out]
        shutil.copytree(self.root, self._clean, symlinks=True, ignore=lambda top, names: [
            name for name in names if os.path.join(top, name) in ignored
        ])  # fmt: skip
        _written(self._clean, out, wishes)
        told = _first_difference(contents(self.root / out), contents(self._clean / out))
        told = told or _difference("the store", dump(self.root), dump(self._clean))
        if told:
            raise Differs(told)


BOOKS = {
    "book": (_DEFAULT, Book()),
    "kept": (_DEFAULT, Book()),  # by a process that stays, as `concord watch` does
    "own": (_DEFAULT, Book(generated=True)),
    "docs": (Path(BOOK), Book(source=False, history=True)),
}


class _Kept:
    """A long-running process that is told which paths changed, or only that something did."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._current: CurrentBook | None = None
        self._seen: dict[str, object] = {}

    def update(self, whole: bool) -> None:
        """Update the book."""
        seen, git = self._look(), self.root / ".git"
        now = {**seen, "HEAD": [(git / name).read_bytes() for name in ("index", "refs/heads/main")]}
        changed = {path for path in now.keys() | self._seen.keys() if now.get(path) != self._seen.get(path)}
        self._seen = now
        if self._current is None:
            self._current = CurrentBook(str(self.root), None, Book, 2, ignore_progress)
        with _forking(len(changed) % 2 == 1):
            done = self._current.update(changed - {"HEAD"}, whole or "HEAD" in changed)
        if done is not None and done.book.failed:
            raise Differs(f"pages failed: {done.book.failed}")

    def _look(self) -> dict[str, object]:
        found: dict[str, object] = {}
        for top, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".git", HOME)]
            for name in (*names, *(one for one in folders if os.path.islink(os.path.join(top, one)))):
                path = os.path.join(top, name)
                seen = os.lstat(path)
                found[os.path.relpath(path, self.root)] = seen.st_mtime_ns, seen.st_size, seen.st_mode, seen.st_ino
        return found


@contextmanager
def _forking(always: bool) -> Iterator[None]:
    """Let two processes make the pages of every update, as in a large repository, or only those of large updates."""
    few, page_writer.MAX_PAGES_RENDERED_HERE = page_writer.MAX_PAGES_RENDERED_HERE, 0 if always else page_writer.MAX_PAGES_RENDERED_HERE
    try:
        yield
    finally:
        page_writer.MAX_PAGES_RENDERED_HERE = few


def _written(root: Path, out: Path, wishes: Book, jobs: int = 1) -> None:
    _, written = builds.write_book(str(root), str(root / out), wishes, jobs)
    if written.failed:
        raise Differs(f"pages failed: {written.failed}")


def _first_difference(ours: dict[str, bytes], clean: dict[str, bytes]) -> str:
    """Return the first page in which two books differ, and the line; "" if they are equal."""
    for path in sorted({*ours, *clean}):
        if path not in clean:
            return f"the page {path} should not be there"
        if path not in ours:
            return f"the page {path} is missing"
        if ours[path] != clean[path]:
            rows = zip(_lines(ours[path], len(clean[path])), _lines(clean[path], len(ours[path])), strict=False)
            line, (one, other) = next((n, pair) for n, pair in enumerate(rows, 1) if pair[0] != pair[1])
            count = sum(ours.get(one) != clean.get(one) for one in {*ours, *clean})
            return f"{path}:{line} (one of {count} files)\n  update: {one[:400]}\n  clean:  {other[:400]}"
    return ""


def _lines(data: bytes, room: int) -> list[str]:
    return data.decode("utf-8", "replace").split("\n") + [""] * (room + 1 if room < 10_000 else 1)


def _difference(where: str, ours: Any, clean: Any) -> str:
    """Return where two values first differ."""
    if type(ours) is type(clean) and isinstance(ours, dict):
        for key in sorted({*ours, *clean}, key=str):
            if key not in ours or key not in clean:
                return f"{where}: {key!r} {'is missing' if key in clean else 'should not be there'}"
            if ours[key] != clean[key]:
                return _difference(f"{where}, {key!r}", ours[key], clean[key])
    if type(ours) is type(clean) and isinstance(ours, list | tuple) and len(ours) == len(clean):
        for place, (one, other) in enumerate(zip(ours, clean, strict=True)):
            if one != other:
                return _difference(f"{where}[{place}]", one, other)
    if isinstance(ours, list) and isinstance(clean, list):
        more = [one for one in ours if one not in clean][:3], [one for one in clean if one not in ours][:3]
        return f"{where}: update has {len(ours)} rows, clean {len(clean)}; only in one: {str(more)[:600]}"
    return "" if ours == clean else f"{where}\n  update: {str(ours)[:400]}\n  clean:  {str(clean)[:400]}"


def sequence(seed: int, longest: int = 6) -> list[Step]:
    """Return the steps of a seed: edits, with updates between some of them, and a book at the end."""
    chance = random.Random(seed)
    steps = []
    main = chance.choices(("book", "kept", "own"), (67, 30, 3))[0]
    for _ in range(chance.randrange(1, longest + 1)):
        steps.append(Step(chance.choice(list(EDITS)), chance.randrange(1 << 30)))
        if chance.random() < 0.35:
            steps.append(Step(chance.choice(("store", "store", "ask", main, main, "docs")), chance.randrange(9)))
    steps = [Step("kept"), *steps] if main == "kept" else steps
    last = Step(main, chance.randrange(9))
    return [*steps, last] if chance.random() < 0.8 else [*steps, Step("docs"), last]


def failure(bench: Bench, steps: list[Step], always: bool) -> str:
    """Return the error of a sequence; "" if there is none."""
    try:
        bench.run(steps, always)
    except Differs as error:
        return str(error)
    except Exception:
        return traceback.format_exc(limit=-6)
    return ""


def shrunk(bench: Bench, steps: list[Step], always: bool) -> list[Step]:
    """Return the sequence without the steps that are not needed to make it fail."""
    place = len(steps) - 1
    while place >= 0:
        fewer = steps[:place] + steps[place + 1 :]
        if any(step.what in BOOKS for step in fewer) and failure(bench, fewer, always):
            steps = fewer
        place -= 1
    return steps


def _one(seed: int, home: str, repos: Sequence[str]) -> tuple[int, str]:
    """Run the sequence of a seed in this process's own folder."""
    own = os.path.join(home, str(os.getpid()))
    os.environ["CONCORDANCE_CACHE"] = f"{own}/cache"
    os.environ.update(editsteps.GIT)
    bench = bench_of(own, seed, repos)
    steps = sequence(seed, 16 if repos else 6)
    told = failure(bench, steps, not repos)
    if told:
        least = ""
        if not repos:
            steps = shrunk(bench, steps, True)
            least = failure(bench, steps, True)
        told = f"{', '.join(f'{step.what} {step.seed}'.strip() for step in steps)}\n{least or told}"
    return seed, told


_MADE: dict[str, Bench] = {}


def bench_of(home: str, seed: int, repos: Sequence[str] = ()) -> Bench:
    """Return the repository that a sequence edits; each folder has one of each."""
    if repos:
        repo = repos[seed % len(repos)]
        place = f"{home}/{os.path.basename(repo)}"
        if place not in _MADE:
            _MADE[place] = Bench(Path(place), _read(Path(repo)), {})
        return _MADE[place]
    files = {2: editrepo.TANGLED, 3: editrepo.OTHERS}.get(seed % 4, editrepo.FILES)
    place = f"{home}/{len(files)}"
    if place not in _MADE:
        _MADE[place] = Bench(Path(place), files)
    return _MADE[place]


def _read(repo: Path) -> dict[str, bytes]:
    """Return the files of a project, without those of git and ours."""
    return {path: (repo / path).read_bytes() for path in Desk(repo).paths()}


def results(seeds: range, jobs: int, home: str, repos: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """Run the sequences of some seeds; return each seed with its error."""
    if jobs == 1:
        yield from (_one(seed, home, repos) for seed in seeds)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_one, seed, home, repos) for seed in seeds]):
            yield done.result()


def main(arguments: list[str] | None = None) -> None:
    """Run all sequences, and print how many failed."""
    parser = argparse.ArgumentParser(prog="python -m bench edits", description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, help="run this one alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repo", action="append", default=[], help="a project to edit a copy of")
    options = parser.parse_args(arguments)
    repos = [os.path.realpath(repo) for repo in options.repo]
    seeds = range(options.first, options.first + options.count)
    if options.seed is not None:
        seeds, options.jobs = range(options.seed, options.seed + 1), 1
    began, failed = time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as home:
        for done, (seed, told) in enumerate(results(seeds, options.jobs, home, repos), 1):
            if told:
                failed += 1
                print(f"seed {seed}: {told}\n", flush=True)
            if sys.stderr.isatty() or not done % 50:
                print(f"    {done} of {len(seeds)} sequences, {failed} failed", file=sys.stderr, flush=True)
    took = time.perf_counter() - began
    print(
        f"| random edits, each update compared with a clean build | 0 differ | {failed} of {len(seeds)} sequences differ; {took:.0f} s |"
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
