"""`python -m bench switch CHECKOUT [FILES]`: what a branch switch costs, beside a cold build of the files that it changes.

In: a checkout, which is copied, and how many of its files the other branch changes (500). Out: a table: processor time
of the update after the switch there (files that were never read), back, and there again (files that were), each with
the store and the whole book, as a share of a build from nothing of those files alone; and whether the last book equals
that of a clean build. Processor time of all processes, because a busy machine does not change it.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import oneedit
from bench.reproducible import differences, said
from concordance.collect import walk
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER
from tests.support import measure

FILES = 500
SEED = 11
BAR = "<= 0.3 x"


def build(root: Path, cache: Path) -> float:
    """Update the store and the book; return seconds of processor time."""
    before = oneedit.processor_time()
    measure.run([*oneedit.CONCORD, "build", str(root), "--jobs", "2"], env={"CONCORDANCE_CACHE": str(cache)})
    return oneedit.processor_time() - before


def git(root: Path, *words: str) -> None:
    """Run git in a repository."""
    own = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", *own, *words], cwd=root, check=True, capture_output=True)


def branch(root: Path, wanted: int) -> list[str]:
    """Make a branch on which some files are edited, each in one of the ways of `bench edit`; return these files."""
    chance, edited = random.Random(SEED), []
    with Facts(str(root / FOLDER)) as facts:
        files = [file for file in facts.files() if not file.skip and file.language and facts.of(file.path).symbols]
        for file in chance.sample(files, len(files)):
            path = root / file.path
            lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
            symbols = list(facts.of(file.path).symbols)
            for change in chance.sample(list(oneedit.EDITS.values()), len(oneedit.EDITS)):
                other = change(lines, symbols, file.language, chance)
                if other is not None:
                    path.write_text("\n".join(other), encoding="utf-8", errors="surrogateescape")
                    edited.append(file.path)
                    break
            if len(edited) == wanted:
                break
    git(root, "checkout", "-q", "-b", "bench-other")
    git(root, "commit", "-q", "-a", "-m", "other")
    git(root, "checkout", "-q", "-")
    return edited


def main(arguments: list[str]) -> None:
    """Switch branches, and print the table."""
    if not arguments:
        sys.exit("switch needs a checkout, e.g. python -m bench switch ../corpus/django")
    checkout, wanted = Path(arguments[0]), int(arguments[1]) if arguments[1:] else FILES
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        root, alone = home / "repository", home / "alone"
        for path in (entry.path for entry in walk.walk(str(checkout)) if not entry.skip):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / path, root / path)
        git(root, "init", "-q", "-b", "main")
        git(root, "add", "-A", "-f")
        git(root, "commit", "-q", "-m", "first")
        whole = build(root, home / "cache")
        edited = branch(root, wanted)
        for path in edited:
            (alone / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, alone / path)
        cold = build(alone, home / "cache-alone")
        print("| what | bar | measured |\n|---|---|---|", flush=True)
        measure.row(f"{len(edited)} files alone, cold build with pages, processor time", "", f"{cold:.1f} s (all: {whole:.1f} s)")
        for what, where in (("there", "bench-other"), ("back", "main"), ("there again", "bench-other")):
            git(root, "checkout", "-q", where)
            took = build(root, home / "cache")
            measure.row(f"switch {what}", BAR, f"{took:.1f} s = {took / cold:.2f} x")
        updated = said(root)
        shutil.rmtree(root / FOLDER)
        build(root, home / "cache")
        other = differences(updated, said(root))
        measure.row("what differs from a clean build", "nothing", ", ".join(other[:5]) or "nothing")
