"""`python -m bench damage [REPOSITORY [TRIALS [TARGET …]]]`: flips bits in stored data, then builds and asks.

In: a repository (a copy of `tests/sample` by default), how many trials of each target (200), and the targets: `cache`
(the fact cache), `store` (`index.db`), `log` (its write-ahead log, kept alive by a reader), `text` (the full-text
index) and `book` (the manifest and the recorded reads of pages). Out: a table. Each trial flips 1 to 200 random bits,
asks without an update, then asks or builds, in half of the trials after an edit, and compares answers and book with
those of an undamaged repository. A refusal with exit code 1 is right before the build, and wrong after it.

The program runs in forked children: starting it anew for every question would take most of the time.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import pkgutil
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import concordance
from concordance import cli
from concordance.render.output import manifest
from concordance.workflow.store_location import FOLDER

SAMPLE = Path(__file__).parent.parent / "tests/sample"
TRIALS, SEED, MOST = 200, 14, 200
TARGETS = ("cache", "store", "log", "text", "book")


class Ran(NamedTuple):
    """The result of a run of the program."""

    code: int
    said: str
    errors: str


def run(*args: str, given: str = "") -> Ran:
    """Run `concord` in a forked child."""
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        asked.write(given.encode())
        asked.seek(0)
        child = os.fork()
        if not child:
            code = 70
            try:
                os.dup2(asked.fileno(), 0)
                sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"))
                os.dup2(said.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(number, "wb"), write_through=True) for number in (1, 2))
                sys.argv = ["concord", *args]
                cli.main()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        errors.seek(0)
        return Ran(code, said.read().decode(errors="replace"), errors.read().decode(errors="replace"))


class State(NamedTuple):
    """The answers of an undamaged repository, and its book."""

    answers: tuple[str, ...]
    book: dict[str, str]


class Bench:
    """One repository that is damaged again and again."""

    def __init__(self, checkout: Path, home: Path) -> None:
        self.home, self.root, self.cache = home, home / "repo", home / "cache"
        shutil.copytree(checkout, self.root, symlinks=True, ignore=shutil.ignore_patterns(FOLDER, ".git"))
        os.environ["CONCORDANCE_CACHE"] = str(self.cache)
        self.chance = random.Random(int(os.environ.get("SEED", SEED)))
        self.wrong: Counter[tuple[str, str]] = Counter()
        self.examples: list[str] = []
        self.edited = self.root / next(str(p.relative_to(self.root)) for p in sorted(self.root.rglob("*.py")))
        self.texts = [self.edited.read_text(), self.edited.read_text() + "\n\ndef added_here(text):\n    return text.strip()\n"]
        self.questions = [("symbols", str(self.edited.relative_to(self.root)))]

    def prepare(self) -> list[State]:
        """Build both states of the repository."""
        if run("build", str(self.root)).code:
            sys.exit("the undamaged repository does not build")
        self.checks = "--store" in run("check", "--help").said
        names = json.loads(run("keywords", "--repo", str(self.root), "--json", "--limit", "400").said)
        some = [row["keyword"] for row in names if row["keyword"].isidentifier()][:: max(1, len(names) // 4)]
        for name in some:
            self.questions += [("define", name), ("refs", name), ("callers", name), ("search", name, "-n", "50")]
        self.questions += [("importers", self.questions[0][1]), ("related", self.questions[0][1]), ("keywords",)]
        states = []
        for text in self.texts:
            self.edited.write_text(text)
            run("build", str(self.root))
            states.append(self.state())
        self.turn(0)
        return states

    def turn(self, state: int) -> None:
        self.edited.write_text(self.texts[state])

    def state(self) -> State:
        ran, answers = self.asked(self.questions)
        if ran.code or "Traceback" in ran.errors:
            self.amiss("all", "questions that failed", ran.errors[-300:])
        return State(tuple(answers), self.book())

    def asked(self, questions: list[tuple[str, ...]], *more: str) -> tuple[Ran, list[str]]:
        """Ask some questions of one process; an unanswered one is "". The results of a search are sorted, because their
        order depends on how common a word is, and that includes files that an update has removed."""
        given = "".join(json.dumps({"command": name, "args": args}) + "\n" for name, *args in questions)
        ran = run("batch", "--repo", str(self.root), *more, given=given)
        found = []
        for (name, *_), line in zip_longest(questions, ran.said.splitlines(), fillvalue="{}"):
            reply = json.loads(line)
            rows = reply.get("result")
            if name == "search" and rows is not None:
                rows = sorted({row["path"] for row in rows})
            found.append(json.dumps(rows) if rows is not None else "")
        return ran, found

    def book(self) -> dict[str, str]:
        out = self.root / FOLDER / "book"
        return {path: blake2b((out / path).read_bytes()).hexdigest() for path in manifest.files(str(out))}

    def files(self, target: str) -> list[Path]:
        """Return the files in which bits are flipped."""
        store = self.root / FOLDER
        found = {
            "cache": lambda: [self.cache / "facts.db"],
            "store": lambda: [store / "index.db"],
            "log": lambda: [store / "index.db-wal"],
            "text": lambda: [path for path in store.joinpath("text").rglob("*") if path.is_file()],
            "book": lambda: [store / "book/manifest.json", *store.glob("pages-*.db")],
        }[target]()
        return [path for path in found if path.exists() and path.stat().st_size]

    def flip(self, target: str) -> int:
        """Flip some bits; return how many."""
        found = self.files(target)
        if not found:
            return 0
        count = self.chance.choice((1, self.chance.randint(1, 10), self.chance.randint(1, MOST)))
        sizes = [path.stat().st_size for path in found]
        for path in self.chance.choices(found, sizes, k=count):
            with open(path, "r+b") as file:
                at = self.chance.randrange(path.stat().st_size)
                file.seek(at)
                byte = file.read(1)[0] ^ 1 << self.chance.randrange(8)
                file.seek(at)
                file.write(bytes((byte,)))
        return count

    def amiss(self, target: str, what: str, example: str) -> None:
        self.wrong[target, what] += 1
        self.examples.append(f"{target}: {what}: {example}"[:600])

    def looked_at(self, target: str, ran: Ran, what: str) -> bool:
        """True if a run went well; a traceback is recorded."""
        if "Traceback" in ran.errors or ran.code not in (0, 1, 2):
            self.amiss(target, "tracebacks", f"{what}: exit {ran.code}: {ran.errors[-400:]}")
        return ran.code == 0

    def trial(self, target: str, states: list[State], now: int) -> int:
        """Damage, ask, let a build repair the damage, and ask again; return the state that the repository is in."""
        held = None
        if target == "log":  # a reader keeps the log from being moved into the database
            held = sqlite3.connect(self.root / FOLDER / "index.db")
            held.execute("BEGIN")
            held.execute("SELECT * FROM meta").fetchall()
            now = 1 - now
            self.turn(now)
            run("build", str(self.root))
        if target == "cache":
            shutil.rmtree(self.root / FOLDER)
            with suppress(sqlite3.Error), closing(sqlite3.connect(self.cache / "facts.db")) as cache:
                cache.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # in use, most of it is not in the log
        flips = self.flip(target)
        if held is not None and self.chance.random() < 0.5:
            held.close()
        if target != "cache":
            self.ask(target, states[now], flips, "--no-update")
        if self.chance.random() < 0.5:
            now = 1 - now
            self.turn(now)
        if target != "cache" and self.chance.random() < 0.5:
            self.ask(target, states[now], flips)
        ran = run("build", str(self.root))
        if not self.looked_at(target, ran, f"{flips} flips, build"):
            self.amiss(target, "builds that failed", ran.errors[-300:])
        if held is not None:
            held.close()
        if not self.compare(target, states[now], flips):
            self.restore(now)
        return now

    def ask(self, target: str, state: State, flips: int, *more: str) -> None:
        """Ask all questions of a damaged store; after an update each must be answered."""
        ran, answers = self.asked(self.questions, *more)
        well = self.looked_at(target, ran, f"{flips} flips, questions {more}")
        if not well and not more:
            self.amiss(target, "questions that failed", ran.errors[-300:])
        for question, said, right in zip(self.questions, answers, state.answers, strict=True):
            if said and said != right:
                self.amiss(target, "wrong answers with exit code 0", f"{flips} flips, {question} {more}")
            elif well and not said and not more:
                self.amiss(target, "questions that failed", f"{flips} flips, {question}")
            if "the program failed" in said:
                self.amiss(target, "tracebacks", said)

    def compare(self, target: str, state: State, flips: int) -> bool:
        """True if everything is as it would be without the damage."""
        found = self.state()
        wrong = [self.questions[place] for place, said in enumerate(found.answers) if said != state.answers[place]]
        pages = [path for path in found.book.keys() | state.book.keys() if found.book.get(path) != state.book.get(path)]
        if wrong:
            self.amiss(target, "wrong answers after a build with exit code 0", f"{flips} flips: {wrong[:3]}")
        if pages:
            self.amiss(target, "wrong books after a build with exit code 0", f"{flips} flips: {len(pages)} files: {pages[:3]}")
        if self.checks:
            ran = run("check", "--store", "--repo", str(self.root))
            if ran.code and target == "cache":  # values that nobody asked for are dropped by the check
                ran = run("check", "--store", "--repo", str(self.root))
            if ran.code:
                self.amiss(target, "still damaged after a build", (ran.said + ran.errors)[-300:])
                return False
        return not wrong and not pages

    def restore(self, now: int) -> None:
        shutil.rmtree(self.root / FOLDER, ignore_errors=True)
        shutil.rmtree(self.cache, ignore_errors=True)
        self.turn(now)
        run("build", str(self.root))


def main(words: list[str]) -> None:
    """Damage the data, and print the table."""
    checkout = Path(words[0]) if words else SAMPLE
    trials = int(words[1]) if len(words) > 1 else TRIALS
    targets = words[2:] or list(TARGETS)
    for module in pkgutil.walk_packages(concordance.__path__, "concordance."):  # so that no child has to
        importlib.import_module(module.name)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        bench = Bench(checkout, Path(scratch))
        states = bench.prepare()
        run("build", str(bench.root))
        now, began = 0, time.monotonic()
        done: Counter[str] = Counter()
        for target in targets:
            for _ in range(trials):
                now = bench.trial(target, states, now)
                done[target] += 1
                found = {f"{one}: {what}": count for (one, what), count in bench.wrong.items()}
                print(f"\r{sum(done.values())} trials, {time.monotonic() - began:.0f} s, amiss: {found}", end="", file=sys.stderr, flush=True)
    print("\n| what | bar | measured |\n|---|---|---|")
    for target in targets:
        print(f"| {target}: trials of 1 to {MOST} flipped bits | | {done[target]} |")
        for what in ("wrong answers with exit code 0", *sorted({w for t, w in bench.wrong if t == target} - {"wrong answers with exit code 0"})):
            print(f"| {target}: {what} | 0 | {bench.wrong[target, what]} |")
    for example in bench.examples[:40]:
        print(f"    {example}")
