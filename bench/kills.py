"""`python -m bench kills [CHECKOUT] [KILLS] [FILES]`: builds that are killed at random moments.

In: a checkout, of which some hundred files are taken, in two states. Out: a table: how many builds were killed in
which stage, and what was found amiss: stores that do not open or say something that is neither the old nor the new,
pages that are neither, pages that are lost, and builds that did not end where a clean one does.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from concordance.collect import source
from concordance.errors import ConcordanceError
from concordance.facts.fulltext import shelves
from concordance.facts.read import Facts
from concordance.pipeline import FOLDER
from concordance.render import manifest

FILES = 100  # of the checkout, spread over it, where no number is said
CHAIN = 8  # kills before a build may end
SEED = 5
START = 0.5  # seconds, before the first step
CONCORD = str(Path(sys.executable).parent / "concord")


class State(NamedTuple):
    """What a complete build leaves: the ledger, the text index and the book."""

    ledger: dict[str, str]
    texts: list[int]
    book: dict[str, str]


class Bench:
    """One repository that is built and killed."""

    def __init__(self, checkout: Path, home: Path, files: int) -> None:
        self.root, self.home = home / "repo", home
        self.env = {**os.environ, "CONCORDANCE_CACHE": str(home / "cache")}
        self.chance = random.Random(SEED)
        self.wrong: Counter[str] = Counter()
        self.examples: list[str] = []
        self.kills: Counter[str] = Counter()
        paths = [entry.path for entry in source.walk(str(checkout)) if not entry.skip]
        self.paths = paths[:: max(1, len(paths) // files)]
        for path in self.paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / path, self.root / path)
        self.texts = {path: (self.root / path).read_bytes() for path in self.paths}

    def turn(self, changed: bool) -> None:
        """Makes the repository one of its two states."""
        for place, (path, text) in enumerate(self.texts.items()):
            if place % 9 == 0:
                more = b"\n\ndef added_here():\n    return 1\n" if path.endswith(".py") else b"\n"
                (self.root / path).write_bytes(text + more if changed else text)
            elif place % 31 == 5:
                (self.root / path).unlink(missing_ok=True) if changed else (self.root / path).write_bytes(text)
        extra = self.root / "added.py"
        extra.write_text("def another():\n    return 2\n") if changed else extra.unlink(missing_ok=True)

    def build(self) -> dict[str, float]:
        """Builds to the end; how long each step took."""
        command = [CONCORD, "build", str(self.root), "--json", "--jobs", "2"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode or "Traceback" in done.stderr:
            self.amiss("builds that failed after a kill", done.stderr[-300:])
            return {}
        seconds: dict[str, float] = json.loads(done.stdout)["seconds"]
        return seconds

    def killed(self, seconds: float) -> float:
        """Starts a build and kills all of it after a while; how long it took where it was done before."""
        command = [CONCORD, "build", str(self.root), "--json", "--jobs", "2"]
        began = time.monotonic()
        run = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            run.wait(seconds)
            return time.monotonic() - began
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            return 0.0

    def state(self) -> State:
        """What is there."""
        folder = str(self.root / FOLDER)
        with Facts(folder) as facts:
            ledger = {file.path: file.digest for file in facts.files()}
            symbols = sum(1 for file in ledger if facts.of(file))
        texts = [number for shelf in shelves(folder) for number in (shelf._files.num_docs, shelf._pieces.num_docs)]
        return State(ledger, [*texts, symbols], self.book())

    def book(self) -> dict[str, str]:
        """Every file of the book by its digest."""
        out = self.root / FOLDER / "book"
        return {path: blake2b((out / path).read_bytes()).hexdigest() for path in manifest.files(str(out))}

    def amiss(self, what: str, example: str) -> None:
        self.wrong[what] += 1
        self.examples.append(f"{what}: {example}")

    def look(self, old: State | None, new: State) -> None:
        """What somebody sees who looks after a kill."""
        store = self.root / FOLDER / "index.db"
        if old is not None or store.exists():
            try:
                with Facts(str(store.parent)) as facts:
                    ledger = {file.path: file.digest for file in facts.files()}
                    for path in ledger:
                        facts.of(path)
                if ledger not in [state.ledger for state in (old, new) if state]:
                    self.amiss("stores that are neither the old nor the new", f"{len(ledger)} files")
                connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
                said = connection.execute("PRAGMA integrity_check").fetchone()
                connection.close()
                if said != ("ok",):
                    self.amiss("corrupt stores", str(said))
                shelves(str(store.parent))
            except (ConcordanceError, sqlite3.Error, ValueError, OSError) as error:
                self.amiss("corrupt stores", repr(error))
        left = self.book()
        for path, digest in left.items():
            if path.endswith((".md", ".md.json")) and digest not in (old and old.book.get(path), new.book.get(path)):
                self.amiss("half-written pages", path)
        for path in sorted((old.book.keys() & new.book.keys()) - left.keys()) if old else ():
            self.amiss("lost files", path)

    def finish(self, new: State) -> None:
        """Builds to the end, and compares with what a clean build makes."""
        self.build()
        found = self.state()
        for name, ours, clean in zip(State._fields, found, new, strict=True):
            if ours != clean:
                self.amiss("builds that ended elsewhere than a clean one", name)
        if list((self.root / FOLDER).rglob("*.new*")):
            self.amiss("strays", "*.new")


def stage_at(seconds: dict[str, float], moment: float, whole: float) -> str:
    """In which step a moment lies, where a run is like the measured one; what is before the steps is `start`."""
    steps = {step: length for step, length in seconds.items() if step != "pass"}  # which `link` has in it
    speed = whole / (sum(steps.values()) + START)
    at = START * speed
    if moment < at:
        return "start"
    for step, length in steps.items():
        at += length * speed
        if moment < at:
            return step
    return "end"


def timed(bench: Bench) -> tuple[dict[str, float], float]:
    began = time.monotonic()
    seconds = bench.build()
    return seconds, time.monotonic() - began


def main(words: list[str]) -> None:
    """Kills, and prints the table."""
    checkout = Path(words[0]) if words else Path(os.environ.get("CORPUS", "../corpus")) / "numpy"
    wanted = int(words[1]) if len(words) > 1 else 200
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as scratch:
        bench = Bench(checkout, Path(scratch), int(words[2]) if len(words) > 2 else FILES)
        first = timed(bench)
        states = [bench.state()]
        bench.turn(True)
        later = timed(bench)
        shutil.rmtree(bench.root / FOLDER)
        bench.build()
        states.append(bench.state())
        now = 1
        while sum(bench.kills.values()) < wanted:
            anew = bench.chance.random() < 0.4
            old = None if anew else states[now]
            now = 1 - now
            bench.turn(bool(now))
            if anew:
                shutil.rmtree(bench.root / FOLDER)
                if bench.chance.random() < 0.5:
                    shutil.rmtree(bench.home / "cache")
            seconds, whole = first if anew else later
            for _ in range(CHAIN):
                moment = bench.chance.uniform(0.0, whole)
                took = bench.killed(moment)
                if took:  # machines are not always as busy
                    whole = took
                    break
                bench.kills[f"{'first build' if anew else 'update'}: {stage_at(seconds, moment, whole)}"] += 1
                bench.look(old, states[now])
            if anew:
                first = seconds, whole
            else:
                later = seconds, whole
            bench.finish(states[now])
            print(f"\r{sum(bench.kills.values())} kills, amiss: {dict(bench.wrong)}", end="", file=sys.stderr, flush=True)
    print("\n| what | bar | measured |\n|---|---|---|")
    print(f"| builds killed ({len(bench.paths)} files) | >= 200 | {sum(bench.kills.values())} |")
    for what in dict.fromkeys(("corrupt stores", "half-written pages", "lost files", *sorted(bench.wrong))):
        print(f"| {what} | 0 | {bench.wrong[what]} |")
    for stage, count in sorted(bench.kills.items()):
        print(f"| {stage} | | {count} kills |")
    for example in bench.examples[:20]:
        print(f"    {example}")
