"""Which test reaches which source file: `concord tests` beside what coverage.py sees when the tests run.

In: names of packages (default: all below); `$SCRATCH`, a folder for what is downloaded, measured and kept for the next
run. Out: a table. Each package's source distribution is fetched and unpacked, its tests run under coverage with one
context a test, and the pairs (test, source file) compared with ours.

What counts: a file is executed by a test where a line inside of a function's body was run in the test's context. Lines
of modules and classes run once, when a file is first imported, in whichever test comes first, and say nothing. A
test's parameters are one test. It is counted twice: with what its fixtures execute, as `concord tests` means it, and
for the test's own run alone. Inherited tests count where they are defined.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.model import Category
from concordance.facts.read import Facts
from concordance.query.answers import full_name
from concordance.query.index.graphs.reachability import find_reaching, functions_in
from concordance.query.index.repository import Index
from concordance.workflow.pipeline import Build
from concordance.workflow.store_location import FOLDER

Pairs = dict[str, set[str]]  # "path::Class.test": source files


class Package(NamedTuple):
    """How a package's tests are run."""

    source: str  # the folder of its code
    needs: str = ""  # what its tests want besides
    options: str = ""  # for pytest


PACKAGES = {
    "click": Package("src/click"),
    "attrs": Package("src/attr", "hypothesis cloudpickle pympler"),
    "flask": Package("src/flask", "asgiref greenlet python-dotenv"),
    "jinja2": Package("src/jinja2", "trio"),
    "itsdangerous": Package("src/itsdangerous", "freezegun"),
    # Serving and Windows paths cannot be measured: they start processes, or change what coverage itself stands on.
    "werkzeug": Package("src/werkzeug", "ephemeral-port-reserve cryptography watchdog pytest-timeout",
                        "--ignore tests/test_serving.py --deselect tests/test_security.py"),
    "tomlkit": Package("tomlkit", "pyyaml"),
    "marshmallow": Package("src/marshmallow", "simplejson"),
}  # fmt: skip


class Score(NamedTuple):
    """Pairs found by both, by us alone, by coverage alone."""

    both: int
    ours: int
    theirs: int

    @property
    def f1(self) -> float:
        """Precision and recall in one."""
        return 2 * self.both / max(1, 2 * self.both + self.ours + self.theirs)

    def __str__(self) -> str:
        precision, recall = self.both / max(1, self.both + self.ours), self.both / max(1, self.both + self.theirs)
        return f"{self.f1:.3f} (precision {precision:.3f}, recall {recall:.3f}, {self.both + self.theirs:,} pairs)"


def fetched(name: str, scratch: Path) -> Path:
    """The unpacked source distribution of a package."""
    home = scratch / name
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            command = [str(_python(scratch)), "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", folder, name]
            subprocess.run(command, check=True)
            (archive,) = Path(folder).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            (root,) = (path for path in Path(folder).iterdir() if path.is_dir())
            root.rename(home)
    return home


def _python(scratch: Path) -> Path:
    """The interpreter of an environment for other people's tests."""
    python = scratch / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(scratch / "venv", with_pip=True)
        _install(python, "coverage", "pytest<9", "pytest-cov")
    return python


def _install(python: Path, *names: str) -> None:
    subprocess.run([str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *names], check=True)


def measured(name: str, scratch: Path) -> list[Pairs]:
    """What coverage sees: with a test's fixtures, and in its run alone."""
    kept = scratch / f"{name}.json"
    if not kept.exists():
        package, root, python = PACKAGES[name], fetched(name, scratch), _python(scratch)
        _install(python, name, *package.needs.split())  # itself, too: some ask for their own version
        data = scratch / f"{name}.coverage"
        settings = scratch / f"{name}.rc"
        settings.write_text(f"[run]\nsource = {root / package.source}\ndata_file = {data}\n")
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cov", f"--cov-config={settings}"]
        command += ["--cov-context=test", "--cov-report=", *package.options.split()]
        env = {**os.environ, "PYTHONPATH": str((root / package.source).parent), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run(command, check=False, cwd=root, env=env, capture_output=True, text=True)
        print(f"    {name}: {ran.stdout.strip().splitlines()[-1]}", flush=True)
        lines = subprocess.run([str(python), "-c", _DUMP, str(data)], check=True, capture_output=True, text=True).stdout
        kept.write_text(json.dumps([{test: sorted(files) for test, files in pairs.items()} for pairs in _pairs(lines, root)]))
    return [{test: set(files) for test, files in pairs.items()} for pairs in json.loads(kept.read_text())]


# Run where coverage is installed: each file's lines with their contexts.
_DUMP = """
import json, sys
from coverage import CoverageData
data = CoverageData(sys.argv[1])
data.read()
print(json.dumps({path: data.contexts_by_lineno(path) for path in data.measured_files()}))
"""


def _pairs(lines: str, root: Path) -> list[Pairs]:
    whole: Pairs = defaultdict(set)
    alone: Pairs = defaultdict(set)
    for path, contexts in json.loads(lines).items():
        bodies = _bodies(Path(path))
        for line, names in contexts.items():
            for context in names if int(line) in bodies else ():
                node, _, phase = context.rpartition("|")
                home, *parts = re.sub(r"\[.*$", "", node, flags=re.S).split("::")
                test, file = f"{home}::{'.'.join(parts)}", os.path.relpath(path, root)
                if phase in ("setup", "run"):
                    whole[test].add(file)
                if phase == "run":
                    alone[test].add(file)
    return [whole, alone]


def _bodies(path: Path) -> set[int]:
    """The lines inside of functions."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


def ours(root: Path, source: str) -> Pairs:
    """What our store says: for each source file the tests that reach it; tests that reach none have no files."""
    Build(str(root), Config()).run()
    pairs: Pairs = {}
    with Facts(str(root / FOLDER)) as facts:
        index = Index(facts, str(root))
        names = {one: f"{place.path}::{full_name(place)}" for one, place in facts.places(index.tests).items()}
        pairs = {name: set() for name in names.values()}
        for file in facts.files():
            if file.path.startswith(f"{source}/") and file.language == "python":
                for test in find_reaching(index, functions_in(index, file), Category.TEST).rows:
                    pairs[names[test.id]].add(file.path)
    return pairs


def compared(mine: Pairs, theirs: Pairs) -> tuple[Score, Score]:
    """The score by test, and by test file."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for test in mine:
        by_name[re.split(r"::|\.", test)[-1]].append(test)
    gold: Pairs = defaultdict(set)
    for test, files in theirs.items():
        same = by_name[re.split(r"::|\.", test)[-1]]
        here = [one for one in same if one.startswith(test.partition("::")[0])]
        defined = test if test in mine else (here or same or [test])[0]  # what is inherited counts where it is defined
        gold[defined] |= files
    return _score(mine, gold), _score(_by_file(mine, gold), _by_file(gold, gold))


def _by_file(pairs: Pairs, known: Pairs) -> Pairs:
    found: Pairs = defaultdict(set)
    for test, files in pairs.items():
        if test in known:
            found[test.partition("::")[0]] |= files
    return found


def _score(mine: Pairs, gold: Pairs) -> Score:
    """Of the tests that coverage saw: others did not run."""
    both = sum(len(files & mine.get(test, set())) for test, files in gold.items())
    all_ours = sum(len(mine.get(test, set())) for test in gold)
    return Score(both, all_ours - both, sum(map(len, gold.values())) - both)


def main() -> None:
    """Prints a line a package."""
    scratch = Path(os.environ.get("SCRATCH", Path(tempfile.gettempdir()) / "concordance-tests-map"))
    scratch.mkdir(parents=True, exist_ok=True)
    print("| package | test → file | the test's run alone | test file → file |\n|---|---|---|---|")
    for name in sys.argv[1:] or PACKAGES:
        whole, alone = measured(name, scratch)
        mine = ours(fetched(name, scratch), PACKAGES[name].source)
        by_test, by_file = compared(mine, whole)
        print(f"| {name} | {by_test} | {compared(mine, alone)[0].f1:.3f} | {by_file} |", flush=True)


if __name__ == "__main__":
    main()
