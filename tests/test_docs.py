"""The documentation is complete, and speaks of what is there."""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from pathlib import Path

import pytest

from concordance.base import plugins
from concordance.cli import COMMANDS, cli
from concordance.extract import registry
from tests.support import architecture, program

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_architecture_is_the_modules_own_words() -> None:
    if os.environ.get("CONCORDANCE_GOLDEN") == "write":
        architecture.PAGE.write_text(architecture.page())
    assert architecture.PAGE.read_text() == architecture.page(), "`make golden` rewrites docs/architecture.md"


def test_architecture_lists_every_module() -> None:
    text = architecture.PAGE.read_text()
    for path in [*ROOT.glob("concordance/**/*.py"), *ROOT.glob("concordance_torch/**/*.py")]:
        name = path.relative_to(ROOT)
        if path.name == "__init__.py":
            heading = str(name.parent).removeprefix("concordance/")
            assert re.search(rf"^#+ {heading}$", text, re.M) or heading == "concordance", f"{name} is missing"
        else:
            assert f"(../{name})" in text, f"{name} is missing"


def _exists(name: str) -> bool:
    """True if a dotted name is a module of this tree, or a member of one."""
    module, members = name, list[str]()
    while module:
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            members.insert(0, last)
            continue
        for member in members:
            if not hasattr(found, member) and member not in getattr(found, "__annotations__", ()):
                return False
            found = getattr(found, member, None)
        return True
    return False


def test_names_in_the_walks_exist() -> None:
    first = "|".join((*architecture.STAGES, "api", "cli", "entry"))
    names = re.findall(rf"`((?:{first})(?:\.\w+)+)`", architecture.OPENING)
    names = [name for name in names if not name.endswith(".py")]
    assert len(names) > 50
    assert not [name for name in names if not _exists(f"concordance.{name}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_dotted_names_exist(page: Path) -> None:
    names = re.findall(r"`(concordance(?:_torch)?(?:\.\w+)+)`", page.read_text())
    files = re.compile(r".*\.(toml|plugins)$")  # a file of settings, and a group of entry points
    assert not [name for name in names if not files.match(name) and not _exists(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        assert re.match(r"https?:", target) or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_paths_exist(page: Path) -> None:
    for path in re.findall(r"`((?:concordance|concordance_torch|tests|bench|docs)/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_every_command_is_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text()
    for name in ["build", *plugins.names(COMMANDS)]:
        assert f"concord {name}" in text, f"the README does not say what `concord {name}` answers"


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"\bmake (\w+)", (ROOT / "README.md").read_text()):
        assert re.search(rf"^{target}:", makefile, re.M), f"make {target}"


def test_every_language_is_documented_and_has_a_case() -> None:
    text = (ROOT / "README.md").read_text()
    for language in registry.languages():
        assert language.title in text, f"the README does not name {language.title}"
        assert list((ROOT / "tests" / "cases" / language.name).glob("*.md")), f"no case for {language.name}"


def test_help_has_an_example() -> None:
    import click

    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert f"concord {name}" in (command.help or ""), f"concord {name} --help shows no example"


def _example() -> dict[str, str]:
    """The files of the example extension: the fenced blocks of the page that are named by a path."""
    text = (ROOT / "docs" / "extending.md").read_text()
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```", text, re.M | re.S))


def _install(folder: Path, files: dict[str, str]) -> None:
    """Lays an extension into a folder as an installer would: its packages, and what it declares."""
    project = tomllib.loads(files["pyproject.toml"])["project"]
    about = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    points = project["entry-points"].items()
    declared = "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items()) for group, rows in points)
    program.write(folder, {path: content for path, content in files.items() if path != "pyproject.toml"} | {
        f"{about}/entry_points.txt": declared,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
    })  # fmt: skip


def test_the_example_extension_runs(tmp_path: Path) -> None:
    installed, repo = tmp_path / "installed", tmp_path / "repo"
    _install(installed, _example())
    repo.mkdir()
    program.sample(repo, {
        "client.py": 'from ftplib import FTP as Client\n\n\ndef load(host):\n    return Client(host)\n\n\ndef two(): ...\n',
        "README.md": "# Client\n",
    })  # fmt: skip
    env = {"PYTHONPATH": f"{ROOT}:{installed}", "CONCORDANCE_CACHE": str(tmp_path / "cache")}
    rows = program.ask("longest", "--least", "2", "--repo", repo, env=env)
    assert rows == [{"lines": 2, "path": "client.py", "line": 4, "name": "load"}]
    program.build(repo, env=env)
    book = repo / ".concordance" / "book"
    assert "does not encrypt" in (book / "book/rules/PY-FTP.md").read_text() + (book / "client.py_docs.md").read_text()
    assert "PY-FTP" in (book / "client.py_docs.md").read_text()
    assert "concord longest" in program.concord("longest", "--help", env=env).stdout


def test_an_extension_inside_the_repository_is_not_loaded(tmp_path: Path) -> None:
    program.sample(tmp_path)
    _install(tmp_path / "vendored", _example())
    env = {"PYTHONPATH": f"{ROOT}:{tmp_path / 'vendored'}"}
    assert "No such command" in program.concord("longest", cwd=tmp_path, env=env, code=2).stderr
