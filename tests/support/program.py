"""Runs the program as its users do, and makes the repositories that tests run it on."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from concordance.base.model import ListedFile
from concordance.facts.integrity import checksums
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.workflow.stages import extract
from tests.support.starter import Starter
from tests.support.stored import dump as dump

TREE = Path(__file__).parents[2]
CONCORD = str(Path(sys.executable).parent / "concord")
_STARTER = Starter()
_STARTED_ALIKE = frozenset(("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONUTF8"))  # which Python reads first
_SECONDS = 120.0  # that a run may take
GIT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}
SAMPLE = {
    "a.py": 'import os\n\n\nclass Tree:\n    """A tree."""\n\n    def grow(self) -> None:\n        os.getpid()\n',
    "lib/b.py": "from a import Tree\n\n\ndef plant() -> Tree:\n    return Tree()\n",
    "lib/api.h": "#define LIB_API __attribute__((visibility(\"default\")))\nclass LIB_API Leaf { int size; };\n",
    "lib/leaf.cpp": '#include "api.h"\nclass LIB_API Stem : public Leaf { void bend(); };\nvoid Stem::bend() {}\n',
    "plain.cpp": "int answer() { return 42; }\n",
    "README.md": "# Sample\n\nA tree and its leaves.\n",
}


def environment(**more: str) -> dict[str, str]:
    """Return the variables of a run: the program of this tree, without a terminal."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    return {**kept, "PYTHONPATH": str(TREE), **more}


def concord(
    *args: str | Path, cwd: Path | None = None, code: int | None = 0, env: Mapping[str, str] | None = None, killed_at: str = "",
    **run: Any,
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, or until it is killed at a point of `stopping`; with options of `subprocess.run`, in
    a process that imports it anew. Fail if it prints a traceback."""
    done = _forked(args, cwd, env or {}, killed_at) if not run and _STARTED_ALIKE.isdisjoint(env or ()) else None
    assert done is not None or not killed_at
    done = done or subprocess.run(
        [CONCORD, *map(str, args)], cwd=cwd, env=environment(**(env or {})), text=True, errors="surrogateescape",
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": _SECONDS, **run},
    )  # fmt: skip
    said = f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in said, said
    assert code is None or done.returncode == code, said
    return done


def _forked(
    args: Sequence[str | Path], cwd: Path | None, env: Mapping[str, str], killed_at: str
) -> subprocess.CompletedProcess[str] | None:
    """Run the program without importing it anew; return None if that is not possible."""
    words = [str(one) for one in args]
    with _written() as out, _written() as errors:
        code = _STARTER.run(words, os.path.abspath(cwd or "."), environment(**env), out, errors, _SECONDS, killed_at)
        if code is None:
            return None
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess([CONCORD, *words], code, out.read(), errors.read())


def _written() -> IO[str]:
    return tempfile.TemporaryFile("w+", errors="surrogateescape")


def started(
    *args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, command: Sequence[str] = (CONCORD,), **more: Any
) -> subprocess.Popen[str]:
    """Start the program in a process group of its own."""
    return subprocess.Popen(
        [*command, *map(str, args)], cwd=cwd, env=environment(**(env or {})), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more,
    )  # fmt: skip


def build(folder: Path, *args: str, **run: Any) -> dict[str, Any]:
    """Build; return the summary."""
    summary: dict[str, Any] = json.loads(concord("build", folder, "--json", *args, **run).stdout)
    return summary


def ask(*args: str | Path, **run: Any) -> list[dict[str, Any]]:
    """Return a question's answer."""
    rows: list[dict[str, Any]] = json.loads(concord(*args, "--json", **run).stdout)
    return rows


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, env={**os.environ, **GIT})
    return os.fsdecode(done.stdout)


def remove_store(folder: Path) -> None:
    """Remove a store. A thread of the index library looks at an index that this process has read from, and may put a
    lock file into a folder that is being removed."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)


def sample(folder: Path, files: Mapping[str, str | bytes] = SAMPLE) -> None:
    """Make a folder a git repository with a few files."""
    git(folder, "init", "-q", "-b", "main")
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    age(folder)


def age(folder: Path, seconds: int = 120) -> None:
    """Set the times of all files to the past, so that no build takes them for recently written."""
    when = time.time_ns() - seconds * 1_000_000_000
    for top, _, names in os.walk(folder):
        if ".concordance" not in top:
            for name in names:
                os.utime(os.path.join(top, name), ns=(when, when), follow_symlinks=False)


def crowd(folder: Path, files: int, lines: int = 40) -> None:
    """Write many different Python files: enough work for something to happen in the middle of it."""
    for number in range(files):
        body = "".join(f"def f{number}_{line}(x):\n    return x + {number * line}\n" for line in range(lines))
        write(folder, {f"part{number % 20}/m{number}.py": body})
    age(folder)


def ledger(folder: Path) -> dict[str, Any]:
    """Return every line of the ledger by its path; fail if one is there twice."""
    with Facts(str(folder / ".concordance")) as facts:
        files = list(facts.files())
    found = {file.path: file for file in files}
    assert len(found) == len(files)
    return found


def alter_store(folder: Path, statement: str) -> None:
    """Change a store so that it matches its checksums: it is not damaged, but wrong."""
    store = folder / ".concordance/index.db"
    connection = sqlite3.connect(store)
    connection.execute(statement)
    connection.commit()
    connection.close()
    aside = store.with_name("aside.db")
    shutil.copyfile(store, aside)
    checksums.move_sealed(str(aside), str(store))


def bound() -> None:
    """Run in a child before the program: drop root's right to open what permissions forbid."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for power in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if libc.prctl(24, power, 0, 0, 0):  # PR_CAPBSET_DROP
                raise OSError(ctypes.get_errno(), "prctl")


def read_or_die(job: extract.Job, entries: list[ListedFile]) -> list[ExtractedFile]:
    """Read files as the program does, except those whose names say what happens to their readers."""
    for entry in entries:
        name = entry.path.rpartition("/")[2]
        if name == "deadly.py":
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "endless.py":
            while True:
                pass
        elif name == "faulty.py":
            raise RuntimeError("a fault in the program")
    return extract.extract_files(job, entries)


def wait_for(what: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait until a condition holds, and return its value; fail if it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError("it did not come to pass")


def processes(group: int) -> list[int]:
    """Return the living processes of a session, which is that of `started`."""
    alive = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                state, _, _, session = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == group and state != "Z":
                alive.append(int(name))
    return alive
