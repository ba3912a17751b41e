"""`python -m bench bridges REPO`: what bridges between languages add to the time of a build.

In: a repository. Out: the seconds of store builds from nothing, without a cache, with and without bridges, in turns in
one run on an otherwise idle machine; and the ratio of the best of each. The version without bridges is a copy of the
program whose bridge folders are empty.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import concordance

_FOLDERS = ("extract/bridges", "link/bridges")


def main(arguments: list[str]) -> None:
    """Measure, and print the result."""
    parser = argparse.ArgumentParser(prog="python -m bench bridges", description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--times", type=int, default=2)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        homes = {"with": _copied(home / "with", True), "without": _copied(home / "without", False)}
        found: dict[str, list[float]] = {name: [] for name in homes}
        for turn in range(asked.times):
            for name in sorted(homes, reverse=bool(turn % 2)):
                found[name].append(_built(homes[name], asked.repository, home))
                print(f"{name:8} {found[name][-1]:7.1f} s", flush=True)
    best = {name: min(times) for name, times in found.items()}
    print(f"added    {100 * (best['with'] / best['without'] - 1):6.1f} %")


def _copied(home: Path, bridges: bool) -> Path:
    """Copy the program, with or without its bridges."""
    package = Path(concordance.__file__).parent
    shutil.copytree(package, home / "concordance", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in () if bridges else _FOLDERS:
        for path in (home / "concordance" / folder).glob("*.py"):
            if path.name != "__init__.py":
                path.unlink()
    return home


def _built(program: Path, repository: Path, home: Path) -> float:
    """Return the seconds of one build."""
    copy = home / "repository"
    shutil.rmtree(copy, ignore_errors=True)
    left_out = shutil.ignore_patterns(".git", ".concordance")
    shutil.copytree(repository, copy, symlinks=True, copy_function=_put, ignore=left_out)
    environment = {**os.environ, "PYTHONPATH": str(program), "CONCORDANCE_CACHE": str(home / "cache")}
    shutil.rmtree(home / "cache", ignore_errors=True)
    began = time.perf_counter()
    command = [str(Path(sys.executable).parent / "concord"), "build", str(copy), "--no-book"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began


def _put(there: str, here: str) -> None:
    """Hard-link a file, which costs nothing, or copy it where that is not possible."""
    try:
        os.link(there, here, follow_symlinks=False)
    except OSError:
        shutil.copy2(there, here, follow_symlinks=False)
