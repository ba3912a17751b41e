"""The documentation is complete, and speaks of what is there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from concordance.base import plugins
from concordance.cli import COMMANDS, cli
from concordance.extract import registry
from tests.support import architecture

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_architecture_is_the_modules_own_words() -> None:
    if os.environ.get("CONCORDANCE_GOLDEN") == "write":
        architecture.PAGE.write_text(architecture.page())
    assert architecture.PAGE.read_text() == architecture.page(), "`make golden` rewrites docs/architecture.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        assert re.match(r"https?:", target) or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_paths_exist(page: Path) -> None:
    for path in re.findall(r"`((?:concordance|tests|bench|docs)/[\w./-]+)`", page.read_text()):
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
