"""Rules: their literate cases (`tests/cases/rules/`), their examples, and ruff's findings in a build."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Config
from concordance.base.errors import ToolFailed
from concordance.base.model import Rule, unpack_column
from concordance.collect import ruff, subprocesses
from concordance.extract import ruleset
from concordance.extract.engine import extract
from concordance.extract.registry import readers
from concordance.extract.ruleset import OWN_TOOL, rules, rules_for
from concordance.facts.read import Facts
from concordance.workflow import pipeline, store_location
from tests.support import cases

HOME = cases.HOME / "rules"
RULES = list(rules().values())
OURS = [rule for rule in RULES if rule.tool == OWN_TOOL]
WORDS = 60  # a reason is one to three sentences


def _found(text: str, language: str) -> set[tuple[int, str]]:
    facts = extract(text, language)
    assert not [f for f in facts.findings if f.by in ("rules", "reader")], facts.findings
    return {(f.line, f.by) for f in facts.findings if f.by in rules()}


@pytest.mark.parametrize("case", sorted(HOME.glob("*.md")), ids=lambda p: p.stem)
def test_case(case: Path) -> None:
    """Each marked line is found by the rule named there, and nothing else is found."""
    found = cases.examples(case)
    assert any(example.pointed for example in found), f"{case} expects nothing"
    for example in found:
        expected = {(line, rule) for line, _, rule in example.pointed}
        assert _found(example.text, example.language) == expected, example.name


def test_every_rule_has_a_case() -> None:
    assert {rule.id for rule in OURS} == {case.stem for case in HOME.glob("*.md")}, "tests/cases/rules has one case for each"


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_a_rule_explains_itself(rule: Rule) -> None:
    assert rule.category in ("performance", "security")
    assert rule.severity in ("info", "warning", "error")
    assert rule.title and not rule.title.endswith(".")
    assert rule.why.endswith(".") and len(rule.why.split()) <= WORDS, rule.why
    assert set(rule.languages) <= set(readers())
    assert rule.bad and rule.good and rule.bad != rule.good
    assert re.fullmatch(r"[A-Z]+(-[A-Z]+|\d+)", rule.id)


_BEFORE = {
    "python": "import itertools, json, numpy, os, pickle, re, subprocess, torch, yaml\n",
    "javascript": 'const { exec, execFile } = require("child_process");\n',
}
_AROUND = ("c", "cpp", "cuda")


@pytest.mark.parametrize("rule", OURS, ids=lambda r: r.id)
def test_the_examples_are_true(rule: Rule) -> None:
    """A rule finds its bad example, and nothing in its good one."""
    language = rule.languages[0] if rule.languages else "text"
    before, after = ("void f() {\n", "\n}\n") if language in _AROUND else (_BEFORE.get(language, ""), "\n")
    assert rule.id in {by for _, by in _found(before + rule.bad + after, language)}
    assert rule.id not in {by for _, by in _found(before + rule.good + after, language)}


def test_what_is_checked_depends_on_the_language() -> None:
    assert {"PY-ITEM", "PERF401", "ANY-KEY"} <= {rule.id for rule in rules_for("python")}
    assert "C-STRCPY" not in {rule.id for rule in rules_for("python")}
    assert {rule.id for rule in rules_for("python") if rule.tests} == {"ANY-KEY", "ANY-TOKEN"}


def test_complexity_counts_ways_through_each_function() -> None:
    text = (
        "@skip_if(a or b)\ndef f(x):\n    if x and y:\n        return [z for z in x if z]\n"
        "    def g():\n        while x: pass\n    try: pass\n    except E: pass\n\nclass C: pass\n"
    )
    facts = extract(text, "python")
    ways = dict(zip((s.name for s in facts.symbols), unpack_column(facts.complexity), strict=True))
    assert ways == {"f": 6, "g": 2, "C": 0}


# Ruff

PYTHON = "def f(items):\n    return sorted(list(items))\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    (root / "tests").mkdir(parents=True)
    (root / "a.py").write_text(PYTHON)
    (root / "-b [x].py").write_text(PYTHON)
    (root / "silent.py").write_text(PYTHON.replace("\n    return", "\n    return ").replace("))", "))  # noqa: C414"))
    (root / "tests" / "test_a.py").write_text(PYTHON)
    (root / "pyproject.toml").write_text('[tool.ruff.lint]\nignore = ["C414"]\n')
    return root


def _built(root: Path) -> tuple[list[str], dict[str, list[str]], dict[str, str]]:
    """Build a repository; return the summary, the findings of each file, and the notes."""
    said: list[str] = []
    pipeline.Build(
        str(root), Config(jobs=1), lambda step, done, total, word: said.append(word) if step == "say" else None
    ).run()
    with Facts(str(root / store_location.FOLDER)) as facts:
        found = {file.path: [f.by for f in facts.findings(file.path)] for file in facts.files()}
        return said, {path: by for path, by in found.items() if by}, facts.meta()


def _age(path: Path) -> None:
    """Set the time of a file to long before the build."""
    os.utime(path, (1_600_000_000, 1_600_000_000))


def test_ruff_looks_at_python_but_not_at_tests(repository: Path) -> None:
    said, found, meta = _built(repository)
    assert found == {"a.py": ["C414"], "-b [x].py": ["C414"]}
    assert meta["ruff"] and not meta["ruff_problem"] and not said


def test_ruff_is_asked_again_of_changed_files_only(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in repository.rglob("*"):
        _age(path)
    _built(repository)
    asked: list[str] = []
    check = ruff.check

    def noted(root: str, paths: list[str], wanted: list[str], crashed: list[str]) -> object:
        asked.extend(paths)
        return check(root, paths, wanted, crashed)

    monkeypatch.setattr(ruff, "check", noted)
    (repository / "a.py").write_text("def f(items):\n    return set(list(items)), list(sorted(items))\n")
    (repository / "-b [x].py").unlink()
    _, found, _ = _built(repository)
    assert asked == ["a.py"]
    assert found == {"a.py": ["C414", "C413"]}


def test_a_missing_ruff_is_said_and_made_good(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setattr(ruff, "program", lambda root: "")
        said, found, meta = _built(repository)
    assert not found and "ruff is not installed" in meta["ruff_problem"]
    assert any("not checked by ruff" in word for word in said)
    _, found, meta = _built(repository)
    assert set(found) == {"a.py", "-b [x].py"} and not meta["ruff_problem"]


def test_a_failing_ruff_costs_its_findings_only(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "ruff"
    fake.write_text("#!/bin/sh\necho broken >&2\nexit 2\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(ruff, "program", lambda root: str(fake))
    said, found, meta = _built(repository)
    assert not found and "broken" in meta["ruff_problem"] and said
    fake.write_text("#!/bin/sh\necho nonsense\n")
    with pytest.raises(ToolFailed):
        list(ruff.check(str(repository), ["a.py"], ["C414"], []))


def test_ruff_does_not_obey_its_variables(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUFF_OUTPUT_FILE", str(tmp_path / "taken"))
    assert [path for path, _ in ruff.check(str(repository), ["a.py"], ["C414"], [])] == ["a.py"]
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize("rule", ruleset.RUFF_RULES, ids=lambda r: r.id)
def test_ruffs_examples_are_true(rule: Rule, tmp_path: Path) -> None:
    """Ruff finds each bad example, and nothing in the good one."""
    before = (
        "import asyncio, functools, itertools, os, requests, ssl, subprocess, tarfile, tempfile, time\nimport paramiko\n"
        "from cryptography.hazmat.primitives.asymmetric import rsa\nfrom flask import Flask\n"
        "from pysnmp.hlapi import CommunityData, UsmUserData\napp = Flask('x')\nclient = paramiko.SSHClient()\n"
    )
    fills = rule.id.startswith("PERF4")
    given = "items, pairs" if fills else "items, pairs, table, file, found"
    head = f"def f({given}):\n    " + ("found = []\n    table = {}\n    " if fills else "")
    for name, text in (("bad.py", rule.bad), ("good.py", rule.good)):
        whole = text.startswith(("async", "def "))
        body = text if whole else head + text.replace("\n", "\n    ") + ("\n    return found" if fills else "")
        (tmp_path / name).write_text(f"{before}\n\n{body}\n")
    found = {path for path, _ in ruff.check(str(tmp_path), ["bad.py", "good.py"], [rule.id], [])}
    assert found == {"bad.py"}


def test_a_file_on_which_ruff_crashes_costs_the_others_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ruff's parser overflows the stack on some files, and a run that crashes reports nothing for any file."""
    names = [f"m{number}.py" for number in range(5)]
    for name in (*names, "evil.py"):
        (tmp_path / name).write_text("list(sorted([1]))\nset(sorted([1]))\n")
    run = subprocesses.run

    def crashing(args: Sequence[str], *rest: Any) -> Iterator[bytes]:
        if any(arg.endswith("evil.py") for arg in args):
            raise ToolFailed("ruff failed (exit code -6): overflowed its stack")
        return run(args, *rest)

    monkeypatch.setattr(subprocesses, "run", crashing)
    crashed: list[str] = []
    found = {path for path, _ in ruff.check(str(tmp_path), [*names[:3], "evil.py", *names[3:]], ["C414"], crashed)}
    assert (found, crashed) == (set(names), ["evil.py"])
