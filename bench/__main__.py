"""`make bench`: measures everything that has a bar, in one run. `python -m bench NAME …` runs one benchmark.

In: `$CORPUS`, a folder with checkouts named `pytorch`, `torch-wheel` and `linux`; missing ones are skipped, and named.
Without arguments, or with some of the words `speed` (or a checkout's name), `python`, `c`, `answers`, `imports`,
`names`, `cppnames`, `search`, `tests` and `diff`, it measures that on the corpus. Any other name (`ALONE`) is a module
of this folder with arguments of its own, which the module's docstring explains. Out: a table on standard output. Speed
is a ratio to `ctags -R` in the same run, because machines differ and are noisy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench import (
    answers,
    book,
    bridges,
    damage,
    diff,
    editor,
    edits,
    falsify,
    growth,
    hostile,
    judged,
    kills,
    libclang,
    locate,
    memory,
    oneedit,
    operators,
    publicnames,
    repetition,
    reports,
    reproducible,
    rules,
    scale,
    session,
    site,
    statements,
    switch,
    traps,
    updates,
    workspace,
)
from concordance.collect import walk
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER
from tests.support import ctags, measure, python
from tests.support.measure import row

CONCORD = str(Path(sys.executable).parent / "concord")


# Comparisons of what links and searches, each a program of its own: the word that asks for it, the program, a checkout.
FURTHER = (
    ("imports", ["imports", "CHECKOUT"], "pytorch"),
    ("names", ["pynames", "CHECKOUT", "torch"], "torch-wheel"),  # needs pyrefly beside this Python
    ("cppnames", ["cppnames", "CHECKOUT"], "pytorch"),
    ("search", ["search", "CHECKOUT/.git"], "django-history"),  # a clone with its history
    ("search", ["search", "CHECKOUT"], "pytorch"),
    ("tests", ["tests_map"], "."),  # downloads packages, and runs their tests
)


def python_oracles(corpus: Path) -> None:
    """Compare our Python reader with `ast` and `symtable`."""
    library = Path(os.__file__).parent
    for name, folder in (("standard library", library), ("pytorch", corpus / "pytorch"), ("torch-wheel", corpus / "torch-wheel")):
        if folder.exists():
            found = python.run(str(folder))
            row(
                f"Python definitions and imports, {name} ({found.files:,} files)",
                "equal to ast",
                f"{found.definitions:,} compared, {found.missing} missing, {found.invented} invented",
            )
            row(
                f"Python bindings, {name}",
                "equal to symtable",
                f"{found.names:,} names in {found.scopes:,} scopes, {found.scopes_differ} scopes differ",
            )
            for example in found.examples[:10]:
                print(f"    {example}")


def c_oracles(root: Path) -> None:
    """Compare our C-family readers with ctags, with libclang as the judge."""
    rows, differ, results = ctags.run(root)
    row("C, C++, CUDA definitions, F1 to ctags", ">= 0.97", ", ".join(f"{kind} {score:.4f}" for kind, *_, score in rows))
    for language in ("cpp", "cuda"):
        mine = [r for r in results if r.language == language]
        size = sum(r.size for r in mine)
        row(
            f"{language} files with a parse error",
            "<= 5 % of files, 0.3 % of bytes, 0.5 % blanked",
            f"{sum(bool(r.broken) for r in mine) / len(mine):.2%}, {sum(r.errors for r in mine) / size:.3%}, "
            f"{sum(r.blanked for r in mine) / size:.3%}",
        )
    causes = Counter((why, mine) for why, mine, _ in differ)
    listed = [f"{why} {causes[why, True]}/{causes[why, False]}" for why in sorted({why for why, _ in causes})]
    row("causes of difference (ours only / ctags only)", "listed", "; ".join(listed))
    verdicts = Counter(verdict for *_, verdict in libclang.run(root))
    decided = verdicts["ours"] + verdicts["ctags"]
    row(
        "300 differences judged by libclang, ours right",
        ">= 90 %",
        f"{verdicts['ours']} of {decided} decided ({verdicts['ours'] / max(1, decided):.1%}), {verdicts['undecided']} undecided",
    )


def ledger(root: Path) -> None:
    """Check that every file of git's list is in the ledger once."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    theirs = sorted(os.fsdecode(path) for path in listed.split(b"\0") if path)
    with Facts(str(root / FOLDER)) as facts:
        ours = sorted(file.path for file in facts.files())
    row("ledger", "git ls-files, each once", "equal" if ours == theirs else f"differs in {len(set(ours) ^ set(theirs))}")


def speed(root: Path, name: str, with_ctags: bool) -> None:
    """Measure a cold build, a second one, and their memory."""
    size = sum(entry.size for entry in walk.walk(str(root)))
    with tempfile.TemporaryDirectory() as scratch:
        shutil.rmtree(root / FOLDER, ignore_errors=True)
        env = {"CONCORDANCE_CACHE": scratch}
        tags = 0.0
        if with_ctags:
            command = ["ctags", "-R", "-f", os.path.join(scratch, "tags"), "."]
            tags = min(measure.run(command, str(root)).seconds for _ in range(2))
        cold = measure.run([CONCORD, "build", str(root), "--jobs", "2", "--json"], env=env)
        steps = json.loads(cold.output)["seconds"]
        ratio = f" = {cold.seconds / tags:.1f} x ctags ({tags:.2f} s)" if tags else ""
        shares = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in steps.items())
        row(f"{name}, cold, 2 processes ({size / 1e6:.0f} MB)", "<= 5 x ctags -R", f"{cold.seconds:.1f} s{ratio}: {shares}")
        row(f"{name}, peak memory of all processes", "<= 1 GiB (linux 2)", f"{cold.peak / 2**20:.0f} MiB")
        again = min(measure.run([CONCORD, "build", str(root)], env=env).seconds for _ in range(3))
        row(f"{name}, second build", "<= 0.5 s", f"{again:.2f} s")
        store, cache = (root / FOLDER / "index.db").stat().st_size, Path(scratch, "facts.db").stat().st_size
        row(f"{name}, size of store and cache", "", f"{store / 1e6:.0f} MB and {cache / 1e6:.0f} MB")


def latency(root: Path, name: str) -> None:
    """Measure how long one answer takes."""
    for one in answers.run(root):
        row(
            f"{name}, one answer in batch: {one.command} ({one.count} questions)",
            f"p95 <= {50 if one.command == 'search' else 20} ms",
            f"p50 {one.half:.1f} ms, p95 {one.most:.1f} ms, slowest {one.slowest:.0f} ms",
        )


# What is measured by itself, by the word that asks for it.
ALONE = {
    "kills": kills.main, "damage": damage.main, "falsify": falsify.main, "statements": statements.main, "hostile": hostile.main, "book": book.main, "edit": oneedit.main, "edits": edits.main, "switch": switch.main, "scale": scale.main, "growth": growth.main,
    "site": site.main, "editor": editor.main, "session": session.main, "reports": reports.main, "locate": locate.main, "judged": judged.main, "public": publicnames.main, "bridges": bridges.main,
    "operators": operators.main, "updates": updates.main, "memory": memory.main, "repetition": repetition.main, "reproducible": reproducible.main, "traps": traps.main, "workspace": workspace.main,
}  # fmt: skip


def main() -> None:
    """Print the whole table."""
    if sys.argv[1:2] == ["rules"]:
        rules.main(Path(sys.argv[2]), sys.argv[3:])
        return
    alone = ALONE.get(sys.argv[1]) if sys.argv[1:] else None
    if alone is not None:
        alone(sys.argv[2:])
        return
    corpus = Path(os.environ.get("CORPUS", "../corpus"))
    if sys.argv[1:2] == ["diff"]:
        diff.run(Path(sys.argv[2]) if sys.argv[2:] else corpus / "pytorch", row)
        return
    print("| what | bar | measured |\n|---|---|---|")
    row("concord --version", "<= 0.15 s", f"{min(measure.run([CONCORD, '--version']).seconds for _ in range(5)):.2f} s")
    only = sys.argv[1:] or ["speed", "python", "c", "answers", "imports", "names", "cppnames", "search", "tests", "diff"]
    for name in ("pytorch", "torch-wheel", "linux"):
        if not (corpus / name).exists():
            print(f"    {corpus / name} is not there: passed over", flush=True)
        elif "speed" in only or name in only:
            speed(corpus / name, name, with_ctags=True)
            ledger(corpus / name)
    if "python" in only:
        python_oracles(corpus)
    if "c" in only and (corpus / "pytorch").exists():
        c_oracles(corpus / "pytorch")
    for word, command, checkout in FURTHER:
        if word in only and (corpus / checkout).exists():
            print(f"\n{word}: python -m bench.{' '.join(command)}", flush=True)
            folder = [part.replace("CHECKOUT", str(corpus / checkout)) for part in command]
            measure.run([CONCORD, "build", str(corpus / checkout)])
            subprocess.run([sys.executable, "-m", f"bench.{folder[0]}", *folder[1:]], check=False)
    if "diff" in only and (corpus / "pytorch").exists():
        diff.run(corpus / "pytorch", row)
    if "answers" in only and (corpus / "pytorch").exists():
        measure.run([CONCORD, "build", str(corpus / "pytorch")])
        latency(corpus / "pytorch", "pytorch")


if __name__ == "__main__":
    main()
