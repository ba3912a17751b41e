"""Which test reaches which source file: `concord tests` beside what coverage.py sees when the tests run.

In: names of packages (default: all below); `$SCRATCH`, a folder for what is downloaded, measured and kept for the next
run. Out: a table. Each package's source distribution is fetched and unpacked, its tests run under coverage with one
context a test, and the pairs (test, source file) compared with ours.

What counts: a file is executed by a test where a line inside of a function's body was run in the test's context. Lines
of modules and classes run once, when a file is first imported, in whichever test comes first, and say nothing. A
test's parameters are one test. What its fixtures execute counts, as `concord tests` means it. Inherited tests count
where they are defined. Tests that did not run are left out.

- first five: of the first five tests that `concord tests FILE` lists for each source file, those that execute it.
- recall, precision: of all pairs, those that we have; of ours, those that coverage has.
- none: source files that coverage sees executed and whose page says that no test was found that runs them, of all
  executed files, whether or not the page goes on to list tests that name the file.
- commands: the commands on the pages of all source files, run with `--collect-only`: those that collect exactly the
  tests that the page names.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from concordance.base.config import Config
from concordance.facts.read import Facts
from concordance.query.answers import AnswerPage, full_name
from concordance.query.commands.tests import answer
from concordance.query.index.file_model import model_of
from concordance.query.index.graphs.test_directness import is_stub
from concordance.query.index.repository import Index
from concordance.query.sections.file_page.testing import MAX_TESTS, blocks
from concordance.query.sections.tested_by import ranked_tests, test_commands
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
    "cachetools": Package("src/cachetools"),
    # Not looked at before they were measured.
    "wtforms": Package("src/wtforms", "email_validator babel"),
    "structlog": Package("src/structlog", "pretend freezegun time-machine twisted rich pytest-asyncio<1.3"),
    "tinydb": Package("tinydb", "pyyaml"),
    "tenacity": Package("tenacity", "tornado typeguard trio"),
    "sqlparse": Package("sqlparse"),
    "pluggy": Package("src/pluggy"),
    "pyjwt": Package("jwt", "cryptography"),
    "boltons": Package("boltons"),
    "humanize": Package("src/humanize", "freezegun"),
    "mistune": Package("src/mistune"),
    "blinker": Package("src/blinker", "pytest-asyncio"),
    "arrow": Package("arrow", "pytest-mock pytz dateparser simplejson tzdata", "-o addopts="),
}  # fmt: skip


class Share(NamedTuple):
    """A part of a whole."""

    part: int
    whole: int

    def __str__(self) -> str:
        return f"{self.part / max(1, self.whole):.3f} of {self.whole:,}"


def fetched(name: str, scratch: Path) -> Path:
    """Return the unpacked source distribution of a package."""
    home = scratch / name
    if not home.exists():
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            command = [
                str(_python(scratch)),
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--no-binary",
                name,
                "-d",
                folder,
                name,
            ]
            subprocess.run(command, check=True)
            (archive,) = Path(folder).glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            (root,) = (path for path in Path(folder).iterdir() if path.is_dir())
            root.rename(home)
    return home


def _python(scratch: Path) -> Path:
    """Return the interpreter of an environment for other people's tests."""
    python = scratch / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(scratch / "venv", with_pip=True)
        _install(python, "coverage", "pytest<9", "pytest-cov")
    return python


def _install(python: Path, *names: str) -> None:
    subprocess.run([str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *names], check=True)


def measured(name: str, scratch: Path) -> Pairs:
    """Return what coverage sees, including what a test's fixtures execute."""
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
        kept.write_text(json.dumps({test: sorted(files) for test, files in _pairs(lines, root).items()}))
    return {test: set(files) for test, files in json.loads(kept.read_text()).items()}


# Run where coverage is installed: each file's lines with their contexts.
_DUMP = """
import json, sys
from coverage import CoverageData
data = CoverageData(sys.argv[1])
data.read()
print(json.dumps({path: data.contexts_by_lineno(path) for path in data.measured_files()}))
"""


def _pairs(lines: str, root: Path) -> Pairs:
    found: Pairs = defaultdict(set)
    for path, contexts in json.loads(lines).items():
        bodies = _bodies(Path(path))
        for line, names in contexts.items():
            for context in names if int(line) in bodies else ():
                node, _, phase = context.rpartition("|")
                home, *parts = re.sub(r"\[.*$", "", node, flags=re.S).split("::")
                if phase in ("setup", "run"):
                    found[f"{home}::{'.'.join(parts)}"].add(os.path.relpath(path, root))
    return found


def _bodies(path: Path) -> set[int]:
    """Return the lines inside functions."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return found


class Ours(NamedTuple):
    """What our store and pages say."""

    tests: list[str]  # all tests
    rows: dict[str, list[str]]  # by source file: the tests that reach it, best first
    none: set[str]  # source files whose page says that no test was found that runs them
    commands: list[tuple[str, set[str]]]  # of each page: a command, and the tests that it is for


def ours(root: Path, source: str) -> Ours:
    """Return what is said about each source file."""
    Build(str(root), Config()).run()
    with Facts(str(root / FOLDER)) as facts:
        index = Index(facts, str(root))
        names = {one: f"{place.path}::{full_name(place)}" for one, place in facts.places(index.tests).items()}
        found = Ours(list(names.values()), {}, set(), [])
        for file in facts.files():
            if not file.path.startswith(f"{source}/") or file.language != "python":
                continue
            rows = answer(index, file.path, AnswerPage(1 << 30, "", {"examples": False})).rows
            found.rows[file.path] = [f"{row['path']}::{row['name']}" for row in rows if row["name"] and row["distance"]]
            model = model_of(index, file.path)
            if "No test found" in repr(blocks(model)):
                found.none.add(file.path)
            named = [test.id for test in ranked_tests(model)[:MAX_TESTS]] if not is_stub(file.path) else []
            by_command: dict[str, set[str]] = defaultdict(set)
            for command in test_commands(index, named):
                for test in named:
                    if test_commands(index, [test])[0].split()[-1] in command.split():
                        by_command[command].add(names[test])
            found.commands.extend(by_command.items())
    return found


def defined(theirs: Pairs, tests: list[str]) -> Pairs:
    """Return what coverage saw, with inherited tests where they are defined."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        by_name[_last(test)].append(test)
    known, gold = set(tests), defaultdict[str, set[str]](set)
    for test, files in theirs.items():
        same = by_name[_last(test)]
        here = [one for one in same if one.startswith(test.partition("::")[0])]
        gold[test if test in known else (here or same or [test])[0]] |= files
    return gold


def _last(test: str) -> str:
    return re.split(r"::|\.", test)[-1]


def collected(command: str, root: Path, package: Package, scratch: Path) -> set[str]:
    """Return the tests that a command collects, without their parameters."""
    words = shlex.split(command)
    runner = [str(_python(scratch)), "-m", "pytest"] if words[0] == "pytest" else []
    env = {**os.environ, "PYTHONPATH": str((root / package.source).parent), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", *package.options.split()]
    ran = subprocess.run(
        [*runner, *words[1:], *options], check=False, cwd=root, env=env, capture_output=True, text=True
    )
    ids = [re.sub(r"\[.*$", "", line, flags=re.S) for line in ran.stdout.splitlines() if "::" in line]
    return {f"{one.partition('::')[0]}::{one.partition('::')[2].replace('::', '.')}" for one in ids}


def score(mine: Ours, gold: Pairs) -> tuple[Share, Share, Share, Share]:
    """Return the first five, recall, precision and files wrongly said to have no test."""
    pairs = {(test, path) for path, tests in mine.rows.items() for test in tests if test in gold}
    theirs = {(test, path) for test, files in gold.items() for path in files}
    first = [
        path in gold[test] for path, tests in mine.rows.items() for test in [one for one in tests if one in gold][:5]
    ]
    both, executed = len(pairs & theirs), {path for _, path in theirs}
    return (
        Share(sum(first), len(first)), Share(both, len(theirs)), Share(both, len(pairs)),
        Share(len(mine.none & executed), len(executed)),
    )  # fmt: skip


def scratch_folder() -> Path:
    """Return the folder for what is downloaded, measured and kept for the next run."""
    scratch = Path(os.environ.get("SCRATCH", Path(tempfile.gettempdir()) / "concordance-tests-map"))
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


def measure_package(name: str, scratch: Path) -> tuple[Share, Share, Share, Share, Share]:
    """Return the first five, recall, precision, files wrongly said to have no test, and exact commands of a package."""
    root, package = fetched(name, scratch), PACKAGES[name]
    gold = measured(name, scratch)
    mine = ours(root, package.source)
    exact = [
        defined({test: set() for test in collected(command, root, package, scratch)}, mine.tests).keys() == tests
        for command, tests in mine.commands
    ]
    for path in sorted(mine.none & {path for files in gold.values() for path in files}):
        print(f"    executed, but said to have no test: {path}", flush=True)
    return *score(mine, defined(gold, mine.tests)), Share(sum(exact), len(exact))


def main() -> None:
    """Print a line for each package."""
    scratch = scratch_folder()
    print("| package | first five | recall | precision | none | commands |\n|---|---|---|---|---|---|")
    every: list[tuple[Share, ...]] = []
    for name in sys.argv[1:] or PACKAGES:
        every.append(measure_package(name, scratch))
        print(f"| {name} | {' | '.join(map(str, every[-1]))} |", flush=True)
    totals = [
        Share(sum(one.part for one in column), sum(one.whole for one in column)) for column in zip(*every, strict=True)
    ]
    print(f"| all | {' | '.join(map(str, totals))} |")


if __name__ == "__main__":
    main()
