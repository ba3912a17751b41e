"""A question that follows another one sees from the status of files alone whether a build has anything to do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from concordance.api import Repository
from concordance.facts.read import Facts
from concordance.workflow import changed_files
from concordance.workflow.checks import freshness
from tests.support.program import git as run_git

FILES = {"a.py": "def one():\n    pass\n", "lib/b.py": "def two():\n    pass\n", "lib/.gitignore": "*.log\nout/\n", ".gitignore": "/build/\n"}


@pytest.fixture
def repo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an index that is recorded as current; in a test, no file is old enough for the usual rule."""
    monkeypatch.setattr(freshness, "_CLOCK_RESOLUTION_NS", 0)
    monkeypatch.setattr(changed_files, "CLOCK_RESOLUTION_NS", 0)
    for path, text in {**FILES, "build/x.py": "x = 1\n", "lib/out/y.py": "y = 1\n"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        time.sleep(0.01)  # not all at the same time, which would mean that the times say nothing
    (folder / "link").symlink_to("later")
    (folder / "empty").mkdir()
    run_git(folder, "init", "-q")
    run_git(folder, "add", "a.py", "lib/b.py")
    run_git(folder, "commit", "-qm", "first")
    time.sleep(0.02)
    Repository(str(folder)).close()
    assert _is_current(folder)
    return folder


def _is_current(root: Path) -> bool:
    time.sleep(0.02)
    store = str(root / ".concordance")
    with Facts(store) as facts:
        return freshness.is_current(str(root), store, facts.meta()["started"])


def _same_size(root: Path) -> None:
    before = os.stat(root / "a.py")
    (root / "a.py").write_text(FILES["a.py"].replace("one", "six"))
    os.utime(root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def _write(path: str, text: str = "z = 1\n") -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    return write


def _git(*args: str) -> Callable[[Path], None]:
    return lambda root: run_git(root, *args)


EDITS: dict[str, Callable[[Path], object]] = {
    "an edit that keeps size and time": _same_size,
    "a new file": _write("c.py"),
    "a new file in an empty folder": _write("empty/c.py"),
    "a new file in a new folder": _write("new/deep/c.py"),
    "a removed file": lambda root: (root / "lib/b.py").unlink(),
    "a renamed folder": lambda root: (root / "lib").rename(root / "src"),
    "what a link points to": _write("later"),
    "settings": _write("concordance.toml", 'exclude = ["lib/*"]\n'),
    "what git ignores": _write(".gitignore", ""),
    "what git ignores in a folder": _write("lib/.gitignore", "b.py\n"),
    "what git ignores here only": _write(".git/info/exclude", "b.py\n"),
    "an ignored file that is added": _git("add", "-f", "build/x.py"),
    "a commit": _git("commit", "-q", "--allow-empty", "-m", "second"),
    "a branch at another commit": lambda root: (run_git(root, "checkout", "-q", "-b", "other"), run_git(root, "commit", "-q", "--allow-empty", "-m", "x")),
    "packed references": _git("pack-refs", "--all"),
    "names of authors": _write(".mailmap", "A <a@example.org>\n"),
    "another remote": _git("remote", "add", "origin", "https://example.org/project.git"),
    "a folder that became a link": lambda root: ((root / "lib").rename(root / "build/lib"), (root / "lib").symlink_to("build/lib")),
    "the text index": lambda root: next((root / ".concordance/text").rglob("meta.json")).write_text("{}"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_change_is_noticed(repo: Path, edit: Callable[[Path], object]) -> None:
    edit(repo)
    assert not _is_current(repo)
    Repository(str(repo)).close()
    assert _is_current(repo)


@pytest.mark.parametrize("path", ["build/z.py", "lib/out/z.py", ".git/description", ".concordance/note"])
def test_what_does_not_belong_to_the_repository_changes_nothing(repo: Path, path: str) -> None:
    _write(path)(repo)
    assert _is_current(repo)


def test_a_store_of_another_build(repo: Path) -> None:
    assert not freshness.is_current(str(repo), str(repo / ".concordance"), "1")


def test_a_plain_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "_CLOCK_RESOLUTION_NS", 0)
    monkeypatch.setattr(changed_files, "CLOCK_RESOLUTION_NS", 0)
    _write("a.py")(folder)
    time.sleep(0.02)
    _write("lib/b.py")(folder)
    time.sleep(0.02)
    Repository(str(folder)).close()
    assert _is_current(folder)
    _write("lib/c.py")(folder)
    assert not _is_current(folder)
    Repository(str(folder)).close()
    run_git(folder, "init", "-q")
    assert not _is_current(folder)


def test_a_file_that_was_just_changed_is_not_relied_upon(folder: Path) -> None:
    _write("a.py")(folder)
    Repository(str(folder)).close()
    assert not _is_current(folder)


def test_a_question_does_not_build_again(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concordance.workflow.store_update.build", lambda *_: pytest.fail("it built"))
    with Repository(str(repo)) as found:
        assert [row["path"] for row in found.define("one")] == ["a.py"]
