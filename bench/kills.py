"""`python -m bench kills [CHECKOUT] [KILLS] [FILES]`: sends signals to the program at random moments.

In: a checkout, of which some hundred files are used, in two states. Out: a table: how many programs (first builds,
updates, `watch`, `serve --watch`) or one of their processes were sent which signal (INT, TERM, HUP, KILL) in which
stage, and what was wrong afterwards: stores that do not open or mix the old and the new state, pages that are neither,
lost pages, builds whose result differs from a clean one's, processes left after 10 seconds, and temporary folders that
the next build leaves.
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
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from concordance.base.errors import ConcordanceError
from concordance.collect import walk
from concordance.facts.fulltext.index import open_shards
from concordance.facts.read import Facts
from concordance.render.output import manifest
from concordance.workflow.store_location import FOLDER

FILES = 100  # of the checkout, spread over it, where no number is said
CHAIN = 8  # kills before a build may end
PATIENCE = 180.0  # seconds that a program may take to end
SEED = 5
START = 0.5  # seconds, before the first step
CONCORD = str(Path(sys.executable).parent / "concord")


class State(NamedTuple):
    """The result of a complete build: the ledger, the text index and the book."""

    ledger: dict[str, str]
    texts: list[int]
    book: dict[str, str]


class Bench:
    """One repository that is built and killed."""

    def __init__(self, checkout: Path, home: Path, files: int) -> None:
        self.root, self.home = home / "repo", home
        (home / "tmp").mkdir()
        own = {"CONCORDANCE_CACHE": str(home / "cache"), "TMPDIR": str(home / "tmp"), "PYTHONPATH": str(Path(__file__).parent.parent)}
        self.env = {**os.environ, **own}
        self.sent: Counter[str] = Counter()
        self.chance = random.Random(SEED)
        self.wrong: Counter[str] = Counter()
        self.examples: list[str] = []
        self.kills: Counter[str] = Counter()
        paths = [entry.path for entry in walk.walk(str(checkout)) if not entry.skip]
        self.paths = paths[:: max(1, len(paths) // files)]
        for path in self.paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / path, self.root / path)
        self.texts = {path: (self.root / path).read_bytes() for path in self.paths}

    def turn(self, changed: bool) -> None:
        """Put the repository into one of its two states."""
        for place, (path, text) in enumerate(self.texts.items()):
            if place % 9 == 0:
                more = b"\n\ndef added_here():\n    return 1\n" if path.endswith(".py") else b"\n"
                (self.root / path).write_bytes(text + more if changed else text)
            elif place % 31 == 5:
                (self.root / path).unlink(missing_ok=True) if changed else (self.root / path).write_bytes(text)
        extra = self.root / "added.py"
        extra.write_text("def another():\n    return 2\n") if changed else extra.unlink(missing_ok=True)

    def build(self) -> dict[str, float]:
        """Build to the end; return how long each step took."""
        command = [CONCORD, "build", str(self.root), "--json", "--jobs", "2"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode or "Traceback" in done.stderr:
            self.amiss("builds that failed after a kill", done.stderr[-300:])
            return {}
        seconds: dict[str, float] = json.loads(done.stdout)["seconds"]
        return seconds

    def started(self, *words: str) -> subprocess.Popen[str]:
        """Start the program in a session of its own."""
        return subprocess.Popen(
            [CONCORD, *words], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            text=True, errors="replace",
        )  # fmt: skip

    def killed(self, what: str, seconds: float) -> float:
        """Start a program, and after a while send a signal to it or to one of its processes; return how long it took if
        it had ended before."""
        words = {"watch": ["watch"], "serve": ["serve", "--watch", "--no-browser", "--port", "0"]}.get(what, ["build"])
        began = time.monotonic()
        run = self.started(*words, str(self.root), *([] if what == "serve" else ["--jobs", "2"]))
        try:
            run.wait(seconds)
            run.communicate()
            return time.monotonic() - began
        except subprocess.TimeoutExpired:
            pass
        number = self.chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL))
        below = [pid for pid in processes(run.pid) if pid != run.pid]
        if below and self.chance.random() < 0.35:
            self.sent[f"{number.name} to a child"] += 1
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(below), number)
            if what in ("watch", "serve"):
                time.sleep(self.chance.uniform(0.0, 3.0))
                run.terminate()
        elif self.chance.random() < 0.3:
            self.sent[f"{number.name} to the group"] += 1
            os.killpg(run.pid, number)
        else:
            self.sent[f"{number.name} to the program"] += 1
            run.send_signal(number)
        self.ended(run, what, number)
        return 0.0

    def ended(self, run: subprocess.Popen[str], what: str, number: int) -> None:
        """Wait until a program has ended, and check that all of its processes have."""
        try:
            _, said = run.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.amiss("programs that did not end", f"{what} {number}: {[shown(pid) for pid in processes(run.pid)]}")
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return
        if "Traceback" in said:
            self.amiss("tracebacks", f"{what} {number}: {said[-2000:]}")
        end = time.monotonic() + 10
        while (left := processes(run.pid)) and time.monotonic() < end:
            time.sleep(0.05)
        if left:
            self.amiss("processes left after 10 s", f"{what} {number}: {[shown(pid) for pid in left]}")
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def state(self) -> State:
        """Return the current state."""
        folder = str(self.root / FOLDER)
        with Facts(folder) as facts:
            ledger = {file.path: file.digest for file in facts.files()}
            symbols = sum(1 for file in ledger if facts.of(file))
        texts = [number for shelf in open_shards(folder) for number in (shelf._files.num_docs, shelf._pieces.num_docs)]
        return State(ledger, [*texts, symbols], self.book())

    def book(self) -> dict[str, str]:
        """Return every file of the book with its digest."""
        out = self.root / FOLDER / "book"
        return {path: blake2b((out / path).read_bytes()).hexdigest() for path in manifest.files(str(out))}

    def amiss(self, what: str, example: str) -> None:
        self.wrong[what] += 1
        self.examples.append(f"{what}: {example}")

    def look(self, old: State | None, new: State) -> None:
        """Check what a reader sees after a kill."""
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
                open_shards(str(store.parent))
            except (ConcordanceError, sqlite3.Error, ValueError, OSError) as error:
                self.amiss("corrupt stores", repr(error))
        left = self.book()
        for path, digest in left.items():
            if path.endswith((".md", ".md.json")) and digest not in (old and old.book.get(path), new.book.get(path)):
                self.amiss("half-written pages", path)
        for path in sorted((old.book.keys() & new.book.keys()) - left.keys()) if old else ():
            self.amiss("lost files", path)

    def finish(self, new: State) -> None:
        """Build to the end, and compare with a clean build."""
        for path in (self.home / "tmp").iterdir():
            os.utime(path, (1, 1))  # as if the build came later: what is new may be that of a run that just starts
        self.build()
        found = self.state()
        for name, ours, clean in zip(State._fields, found, new, strict=True):
            if ours != clean:
                self.amiss("builds that ended elsewhere than a clean one", name)
        if list((self.root / FOLDER).rglob("*.new*")):
            self.amiss("strays", "*.new")
        left = [path.name for path in (self.home / "tmp").iterdir()]
        if left:
            self.amiss("temporary folders", str(left))


def processes(session: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError):
            state, _, _, of, *_ = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(of) == session and state != "Z":
                found.append(int(name))
    return found


def shown(pid: int) -> str:
    """Return a description of a process, for a message."""
    try:
        return f"{pid} {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode()}"
    except OSError:
        return str(pid)


def stage_at(seconds: dict[str, float], moment: float, whole: float) -> str:
    """Return the step in which a moment lies, if the run is like the measured one; before the first step it is `start`.
    """
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
    """Send the signals, and print the table."""
    checkout = Path(words[0]) if words else Path(os.environ.get("CORPUS", "../corpus")) / "numpy"
    wanted = int(words[1]) if len(words) > 1 else 300
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
                what = bench.chance.choice(("build", "build", "build", "watch", "serve"))
                took = bench.killed(what, moment)
                if took:  # machines are not always as busy
                    whole = took
                    break
                run = what if what != "build" else "first build" if anew else "update"
                bench.kills[f"{run}: {stage_at(seconds, moment, whole)}"] += 1
                bench.look(old, states[now])
            if anew:
                first = seconds, whole
            else:
                later = seconds, whole
            bench.finish(states[now])
            print(f"\r{sum(bench.kills.values())} kills, amiss: {dict(bench.wrong)}", end="", file=sys.stderr, flush=True)
    print("\n| what | bar | measured |\n|---|---|---|")
    print(f"| programs that were sent a signal ({len(bench.paths)} files) | >= 300 | {sum(bench.kills.values())} |")
    bars = ("corrupt stores", "half-written pages", "lost files", "processes left after 10 s", "programs that did not end")
    for what in dict.fromkeys((*bars, *sorted(bench.wrong))):
        print(f"| {what} | 0 | {bench.wrong[what]} |")
    for sent, count in sorted(bench.sent.items()):
        print(f"| {sent} | | {count} |")
    for stage, count in sorted(bench.kills.items()):
        print(f"| {stage} | | {count} kills |")
    for example in bench.examples[:20]:
        print(f"    {example}")
