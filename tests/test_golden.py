"""Goldens: what the program writes about the sample repository is what it wrote when a person last read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import golden_files, picture, screens


def _check(path: Path, text: str) -> None:
    if os.environ.get("CONCORDANCE_GOLDEN") == "write":
        path.write_text(text)
    assert path.exists(), "`make golden` writes it"
    assert text == path.read_text(), f"{path.name} differs: `make golden` rewrites it, then read the difference"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden_files.built(tmp_path_factory.mktemp("golden"))


def test_facts(sample: Path) -> None:
    _check(golden_files.GOLDEN / "facts.txt", golden_files.facts(sample))


def test_links(sample: Path) -> None:
    _check(golden_files.GOLDEN / "links.txt", golden_files.links(sample))


def test_picture(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    _check(picture.PICTURE, picture.draw(sample))


def test_book(tmp_path: Path) -> None:
    _check(golden_files.GOLDEN / "book.txt", golden_files.book(golden_files.built(tmp_path)))


def test_figures() -> None:
    _check(golden_files.GOLDEN / "figures.txt", golden_files.figures())


@pytest.fixture(scope="module")
def screen_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return screens.make(tmp_path_factory.mktemp("screens"))


@pytest.mark.parametrize("width", screens.WIDTHS)
def test_screens(screen_root: Path, width: int) -> None:
    _check(golden_files.GOLDEN / f"terminal-{width}.txt", "\n".join(screens.screens(screen_root, width)))


def test_every_command_has_a_screen() -> None:
    assert screens.commands() == screens.all_commands(), "name it in tests/support/screens.py"
