"""What users install is this project, with the locked versions, and no other project of the same name."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

from concordance.base.version import VERSION

TREE = Path(__file__).parent.parent
# An installer, and somewhere behind it on the line `concordance` as the name of what is to be installed.
_TAKEN = re.compile(r"""\b(?:pip[x3]?|uvx?|poetry|pdm|conda)\b.*\b(?:install|add|run|tool)\b.*[\s"']concordance(?![\w./-])""")


def _pins(name: str) -> dict[str, tuple[str, ...]]:
    """Return what a lock file pins for each package: its version and its hashes."""
    text = (TREE / name).read_text().replace("\\\n", " ")
    rows = [line.split(" --hash=") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[0].partition("==")[0]: tuple(sorted(part.partition(";")[0].strip() for part in row)) for row in rows}


def _project() -> dict[str, object]:
    said = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    assert isinstance(said, dict)
    return said


def test_the_distribution_has_a_name_of_its_own() -> None:
    project = _project()
    assert project["name"] == "repo-concordance"
    assert project["scripts"] == {"concord": "concordance.entry:main"}
    assert project["version"] == VERSION


def test_nothing_tells_anyone_to_install_the_project_that_has_the_name() -> None:
    assert _TAKEN.search("pip install concordance==0.1.0") and _TAKEN.search("run: uv tool install 'concordance[all]'")
    assert not _TAKEN.search("pip install repo-concordance") and not _TAKEN.search('make -C "$HOME/concordance" setup')
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, capture_output=True, check=True).stdout.split(b"\0")
    found = []
    for name in map(bytes.decode, listed):
        path = TREE / name
        if path.is_file() and not path.is_symlink() and path != Path(__file__):
            lines = enumerate(path.read_text(errors="replace").splitlines(), 1)
            found += [f"{name}:{number}: {line[:200]}" for number, line in lines if _TAKEN.search(line)]
    assert not found


def test_the_locks_agree() -> None:
    run, dev = _pins("requirements.lock"), _pins("requirements-dev.lock")
    assert {name: dev.get(name) for name in run} == run
    assert {"pytest", "mypy", "uv", "playwright"} <= dev.keys() - run.keys()
    assert all(len(pin) > 1 for pin in dev.values()), "a package has no hash"
    plain = [line.partition(" ;")[0] for line in (TREE / "constraints.txt").read_text().splitlines()]
    assert plain == [one for pin in run.values() for one in pin if "==" in one]


def test_the_locks_have_what_the_project_asks_for() -> None:
    said = tomllib.loads((TREE / "pyproject.toml").read_text())
    groups = said["dependency-groups"]

    def names(wanted: list[str]) -> set[str]:
        return {re.split(r"[^\w-]", one)[0] for one in wanted}

    assert names([*said["project"]["dependencies"], *groups["build"]]) <= _pins("requirements.lock").keys()
    assert names(groups["dev"]) <= _pins("requirements-dev.lock").keys()


def test_the_hook_is_installed_with_the_pinned_versions() -> None:
    hooks = (TREE / ".pre-commit-hooks.yaml").read_text()
    assert "additional_dependencies: [--constraint=constraints.txt]" in hooks
