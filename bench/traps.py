"""Runs the tests of traps on every installed Python version that the program supports.

In: nothing, or paths of interpreters. Out: a line for each with its version and the result of the tests. Each gets an
environment of its own in a temporary folder, with the packages of `requirements.lock` and an installation of this tree
that is not editable, as users have it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).parent.parent
TESTS = ("tests/test_traps.py", "tests/test_tools.py", "tests/test_pipes.py")
OLDEST, NEWEST = 11, 20  # minor versions that are looked for


def interpreters() -> list[str]:
    """Return one interpreter for each supported version, from PATH or pyenv."""
    found = []
    for minor in range(OLDEST, NEWEST):
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"))
        place = str(pyenv[-1]) if pyenv else shutil.which(f"python3.{minor}")
        if place is not None:
            found.append(place)
    return found


def main(args: list[str]) -> None:
    """Print the table."""
    print("| Python | tests |\n|---|---|", flush=True)
    failed = False
    for python in args or interpreters():
        version = subprocess.run([python, "-VV"], capture_output=True, text=True, check=True).stdout.split(" (")[0].strip()
        with tempfile.TemporaryDirectory() as scratch:
            done = _tested(python, Path(scratch))
        last = (done.stdout.strip().splitlines() or ["nothing was said"])[-1]
        print(f"| {version} | {'passed' if done.returncode == 0 else 'FAILED'}: {last} |", flush=True)
        if done.returncode:
            failed = True
            print(done.stdout[-5000:], done.stderr[-2000:], flush=True)
    sys.exit(failed)


def _tested(python: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    uv = [str(Path(sys.executable).parent / "uv")]
    home = scratch / "env"
    tree = scratch / "tree"  # what is tested is a copy: a build of the package leaves files
    shutil.copytree(TREE, tree, ignore=shutil.ignore_patterns(".venv", ".git", ".concordance", ".*_cache", "__pycache__"))
    inside = str(home / "bin" / "python")
    for command in (
        [*uv, "venv", "-q", "--seed", "--python", python, str(home)],
        [*uv, "pip", "install", "-q", "--python", inside, "--require-hashes", "-r", str(tree / "requirements.lock")],
        [*uv, "pip", "install", "-q", "--python", inside, "--no-deps", "--no-build-isolation", str(tree)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done
    env = {**os.environ, "TMPDIR": str(scratch)}
    tests = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(tests, cwd=tree, env=env, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main(sys.argv[1:])
