"""The files in `deploy`: they can be parsed, and name what is there."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from concordance.cli import cli
from concordance.extract.engine import extract

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def _options(words: list[str]) -> None:
    """Fails if a command line of ours has an option that the program does not know."""
    name, *rest = words
    command = cli.get_command(click.Context(cli), name)
    while isinstance(command, click.Group):
        name, *rest = rest
        command = command.get_command(click.Context(command), name)
    assert command is not None, words
    known = {option for parameter in command.params for option in parameter.opts}
    assert not [word for word in rest if word.startswith("--") and word not in known], words


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units(unit: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit.read_text())
    program, *words = shlex.split(parser["Service"]["ExecStart"])
    assert program == "/opt/concordance/bin/concord"
    _options(words)
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
        said = [line for line in done.stderr.splitlines() if unit.name in line and "is not executable" not in line]
        assert not said


@pytest.mark.parametrize(("name", "language"), [("Dockerfile", "dockerfile"), ("compose.yaml", "yaml")])
def test_no_syntax_errors(name: str, language: str) -> None:
    facts = extract((DEPLOY / name).read_text(), language)
    assert facts.symbols
    assert not facts.metrics.errors


def test_commands_in_the_containers() -> None:
    for listed in re.findall(r"^(?:CMD|\s+command:) (\[\"?(?:serve|workspace).*\])$", "\n".join(
        (DEPLOY / name).read_text() for name in ("Dockerfile", "compose.yaml")), re.M):  # fmt: skip
        _options([word.strip().strip('"') for word in listed.strip("[]").split(",")])


def test_the_proxy_asks_and_hides_the_figures() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("{") == text.count("}")
    assert "auth_basic " in text
    assert "location = /docs/metrics { return 404; }" in text


def test_files_that_are_copied_exist() -> None:
    assert (ROOT / "requirements.lock").exists()
    for path in re.findall(r"deploy/[\w.-]+", "\n".join(one.read_text() for one in DEPLOY.iterdir())):
        assert (ROOT / path).exists(), path
