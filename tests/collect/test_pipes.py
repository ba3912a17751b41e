"""Named pipes and devices where files are expected: the program never blocks on them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from concordance.base import confined_folder
from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import own_output, walk
from concordance.facts.read import Facts
from concordance.render.output import manifest
from concordance.serve import front_page
from tests.support.program import concord, git, write

NAMES = ("pyproject.toml", "lib/manifest.json", "comprehensive_book.md", "README.md", "LICENSE", "CODEOWNERS", "a.py")


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def test_only_a_plain_file_is_opened(tmp_path: Path) -> None:
    _pipe(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError):
            confined_folder.open_regular_file(str(path))
        assert confined_folder.is_special_file(str(path))
    assert not confined_folder.is_special_file(str(tmp_path / "none"))
    (tmp_path / "file").write_text("x")
    with confined_folder.open_regular_file(str(tmp_path / "file")) as file:
        assert file.read() == b"x"


def test_pipes_in_place_of_tracked_files(repo: Path) -> None:
    write(repo, dict.fromkeys(NAMES, "x = 1\n"))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "more")
    for name in NAMES:
        _pipe(repo / name)
    concord("build", ".", "--no-book", cwd=repo)
    with Facts(str(repo / ".concordance")) as facts:
        notes = {file.path: file.note for file in facts.files()}
    assert {name: notes[name] for name in NAMES} == dict.fromkeys(NAMES, "a named pipe")
    front_page.version_of(str(repo), {}, False)


def test_pipes_in_place_of_our_own_files(repo: Path) -> None:
    concord("build", ".", "--no-book", cwd=repo)
    _pipe(repo / ".concordance/index.db-journal")  # which SQLite would read first
    write(repo, {"a.py": "x = 2\n"})
    book = repo / ".concordance/book"
    book.mkdir()
    _pipe(book / "manifest.json")
    assert manifest.read(str(book)).pages == {}
    assert own_output.read_book(str(book), "") is None
    concord("build", ".", "--no-book", cwd=repo)
    assert not (repo / ".concordance/index.db-journal").is_fifo()


def test_a_pipe_for_settings_is_named(repo: Path) -> None:
    _pipe(repo / "concordance.toml")
    assert "concordance.toml is not a regular file" in concord("build", ".", cwd=repo, code=2).stderr


def test_pieces_of_what_has_become_a_pipe(folder: Path) -> None:
    _pipe(folder / "a")
    with pytest.raises(Unreadable, match="no longer a regular file"):
        list(walk.read_in_pieces(str(folder), ListedFile("a", 1, 0)))


@pytest.mark.parametrize("name", [".gitignore", ".mailmap"])
def test_a_pipe_that_git_would_wait_for_is_named(repo: Path, name: str) -> None:
    _pipe(repo / name)
    assert f"{name}, which is not a regular file. Remove it" in concord("build", ".", cwd=repo, code=1).stderr
