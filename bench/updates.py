"""`python -m bench updates [UPDATES]`: updates a small repository beside two busy loops; no update may stall.

In: how many updates. Out: a table: how many updates there were, how long they took, and how many did not end within
`DEADLINE` seconds, with the stacks of those. Every third edit changes a macro that all C files use, so that workers are
started anew in the middle of the update; at random moments one of the workers is killed, so that they are replaced
while the text index is open.
"""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

DEADLINE = 120.0  # seconds
SEED = 7
# Updates for as long as it is told to, as `concord watch` does; shows all stacks on a signal.
PROGRAM = """
import faulthandler, signal, sys
from concordance.workflow import builds, store_update
if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    for line in sys.stdin:
        (builds.write_book if line == "book\\n" else store_update.build)(sys.argv[1], jobs=2)
        print("done", flush=True)
"""


def files() -> dict[str, str]:
    """Return a few files of each kind that an update treats differently."""
    found = {"lib/api.h": "#define LIB_API __attribute__((visibility(\"default\")))\nclass LIB_API Leaf { int size; };\n"}
    for number in range(12):
        found[f"lib/c{number}.cpp"] = f'#include "api.h"\nclass LIB_API Stem{number} : public Leaf {{ void bend(); }};\n'
        found[f"part/m{number}.py"] = f"from part import m{(number + 1) % 12}\n\n\ndef f{number}():\n    return m{(number + 1) % 12}\n"
    return found


def edit(root: Path, step: int, chance: random.Random) -> None:
    """Make one edit."""
    if step % 3 == 0:
        (root / "lib/api.h").write_text(f"#define LIB_API __attribute__((v{step}))\n#define MORE_{step} 1\nclass LIB_API Leaf {{ int size; }};\n")
    for _ in range(chance.randint(1, 5)):
        number = chance.randrange(12)
        with (root / f"part/m{number}.py").open("a") as file:
            file.write(f"\n\ndef g{step}_{chance.randrange(10**6)}():\n    return f{number}()\n")
        if chance.random() < 0.2:
            (root / f"part/m{number}.py").write_text(files()[f"part/m{number}.py"])


def children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    found, waiting = [], [pid]
    while waiting:
        try:
            listed = Path(f"/proc/{(one := waiting.pop())}/task/{one}/children").read_text().split()
        except OSError:
            continue
        found += map(int, listed)
        waiting += map(int, listed)
    return found


def disturb(pid: int, chance: random.Random) -> bool:
    """Kill one of the workers at a random moment; return True if there was one."""
    until = time.monotonic() + 8.0
    while not (found := [one for one in children(pid) if _is_worker(one)]) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(chance.uniform(0.0, 0.2))
    try:
        os.kill(chance.choice(found), signal.SIGKILL) if found else None
    except ProcessLookupError:
        return False
    return bool(found)


def _is_worker(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return not any(other in words for other in (b"resource_tracker", b"forkserver", b"git", b"ruff"))


class Updater:
    """A process that updates when told to; a new one replaces it when it stalls."""

    def __init__(self, home: Path) -> None:
        self.root, self.program = home / "repo", home / "program.py"
        self.program.write_text(PROGRAM)
        self.env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent), "CONCORDANCE_CACHE": str(home / "cache")}
        self.said = (home / "said").open("w+")
        self.run = self._started()

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(self.program), str(self.root)]
        return subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True)

    def update(self, what: str, chance: random.Random, counts: Counter[str]) -> None:
        """Update once."""
        assert self.run.stdin is not None
        assert self.run.stdout is not None
        self.run.stdin.write(f"{what}\n")
        self.run.stdin.flush()
        if chance.random() < 0.2:
            counts["workers killed"] += disturb(self.run.pid, chance)
        ready, _, _ = select.select([self.run.stdout], [], [], DEADLINE)
        if ready and self.run.stdout.readline() == "done\n":
            return
        counts["failed" if ready else "stalls"] += 1
        for pid in (self.run.pid, *children(self.run.pid)):
            print(pid, Path(f"/proc/{pid}/cmdline").read_bytes(), Path(f"/proc/{pid}/wchan").read_text())
        if not ready:
            self.run.send_signal(signal.SIGUSR1)
            time.sleep(2)
        self.run.kill()
        self.run.wait()
        self.said.seek(0)
        print(self.said.read()[-5000:], flush=True)
        self.run = self._started()

    def close(self) -> None:
        """End the process."""
        self.run.communicate()
        self.said.close()


def main(words: list[str]) -> None:
    """Update, and print the table."""
    wanted = int(words[0]) if words else 1000
    chance = random.Random(SEED)
    counts: Counter[str] = Counter()
    times: list[float] = []
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        with tempfile.TemporaryDirectory() as home:
            root = Path(home, "repo")
            for path, text in files().items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            with closing(Updater(Path(home))) as updater:
                updater.update("build", random.Random(0), counts)
                for step in range(wanted):
                    edit(root, step, chance)
                    began = time.monotonic()
                    updater.update("book" if chance.random() < 0.1 else "build", chance, counts)
                    times.append(time.monotonic() - began)
                    print(f"\r{step + 1} updates, {dict(counts)}", end="", file=sys.stderr, flush=True)
    finally:
        for one in busy:
            one.kill()
            one.wait()
    times.sort()
    print("\n| what | bar | measured |\n|---|---|---|")
    print(f"| updates beside two busy loops | 1,000 | {wanted:,} |")
    print(f"| of which a worker was killed | | {counts['workers killed']} |")
    print(f"| stalls (no end within {DEADLINE:.0f} s) | 0 | {counts['stalls']} |")
    print(f"| failed | 0 | {counts['failed']} |")
    print(f"| seconds | | half within {times[len(times) // 2]:.1f}, longest {times[-1]:.1f} |")
