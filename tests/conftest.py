"""What every test stands on: its own facts cache, and a git that no setting of this machine touches."""

from __future__ import annotations

from pathlib import Path

import program
import pytest


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
    for name, value in program.GIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, which no git knows."""
    made = tmp_path / "repo"
    made.mkdir()
    return made


@pytest.fixture
def repo(folder: Path) -> Path:
    """A git repository with a few files, the last of them two minutes old."""
    program.sample(folder)
    return folder
