"""The documentation is complete, and everything it names exists."""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from pathlib import Path

import click
import pytest

from concordance.cli import cli
from concordance.extract import registry
from concordance.link.languages import import_linkers
from tests.support import architecture, program

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_generated_pages_are_current() -> None:
    for path, text in ((architecture.ARCHITECTURE, architecture.architecture_page()), (architecture.MODULES, architecture.modules_page())):
        if os.environ.get("CONCORDANCE_GOLDEN") == "write":
            path.write_text(text)
        assert path.read_text() == text, f"`make golden` rewrites docs/{path.name}"


def test_every_module_is_listed() -> None:
    text = architecture.MODULES.read_text()
    for path in [*ROOT.glob("concordance/**/*.py"), *ROOT.glob("concordance_torch/**/*.py")]:
        name = path.relative_to(ROOT)
        if path.name == "__init__.py":
            heading = str(name.parent).removeprefix("concordance/")
            assert re.search(rf"^#+ {heading}$", text, re.M) or heading == "concordance", f"{name} is missing"
        else:
            assert f"(../{name})" in text, f"{name} is missing: run `make golden`"


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
    names = [name for name in architecture.NAME.findall(architecture.WALKS) if not name.endswith(".py")]
    assert len(names) > 50
    assert not [name for name in names if not _exists(f"concordance.{name}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_dotted_names_exist(page: Path) -> None:
    names = re.findall(r"`(concordance(?:_torch)?(?:\.\w+)+)`", page.read_text())
    files = re.compile(r".*\.(toml|plugins|service)$")  # files of settings, and a group of entry points
    assert not [name for name in names if not files.match(name) and not _exists(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        assert re.match(r"https?:", target) or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_paths_exist(page: Path) -> None:
    for path in re.findall(r"`((?:concordance|concordance_torch|tests|bench|docs)/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists(), f"{page.name} names {path}"


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    for name in cli.list_commands(click.Context(cli)):
        assert f"`concord {name}" in text, f"docs/commands.md does not say what `concord {name}` does"


def test_make_targets_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"\bmake (\w+)", (ROOT / "README.md").read_text()):
        assert re.search(rf"^{target}:", makefile, re.M), f"make {target}"


def test_the_table_of_languages_is_current() -> None:
    """Each language is in the row of what is linked in it: imports and names, imports only, or neither."""
    linkers = import_linkers()
    rows: dict[tuple[bool, bool], list[str]] = {}
    for language in registry.languages():
        linker = linkers.get(language.name)
        rows.setdefault((linker is not None, hasattr(linker, "names")), []).append(language.title)
    table = re.findall(r"^\| (.*) \| yes \| (yes|no) \| (yes|no) \|$", (ROOT / "README.md").read_text(), re.M)
    assert {(imports == "yes", names == "yes"): titles.split(", ") for titles, imports, names in table} == rows, "see README.md"


def test_every_language_has_a_case() -> None:
    for language in registry.languages():
        assert list((ROOT / "tests" / "cases" / language.name).glob("*.md")), f"no case in tests/cases/{language.name}"


def test_help_has_an_example() -> None:
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert f"concord {name}" in (command.help or ""), f"concord {name} --help shows no example"


def _example() -> dict[str, str]:
    """Return the files of the example extension: the fenced blocks of the page that are named by a path."""
    text = (ROOT / "docs" / "extending.md").read_text()
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```", text, re.M | re.S))


def _install(folder: Path, files: dict[str, str]) -> None:
    """Install an extension into a folder: its packages, and the entry points that it declares."""
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
