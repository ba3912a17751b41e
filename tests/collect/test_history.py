"""The history of files from one run of `git log`; git's own counts are the oracle."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from concordance.base.errors import ToolFailed
from concordance.base.forks import can_fork
from concordance.base.model import FileHistory
from concordance.collect import subprocesses
from concordance.collect.history import History, HistoryReader, history
from tests.support import program

START = 1_700_000_000


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def git(folder: Path, *args: str, author: str = "Ada", at: int = START) -> str:
    environment = dict(os.environ)
    for who in ("AUTHOR", "COMMITTER"):
        environment[f"GIT_{who}_NAME"] = author
        environment[f"GIT_{who}_EMAIL"] = f"{author.lower()}@example.org"
        environment[f"GIT_{who}_DATE"] = f"{at} +0000"
    done = subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def commit(folder: Path, at: int, *paths: str, author: str = "Ada") -> None:
    """Make a commit that appends a line to files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with open(folder / path, "ab") as file:
            file.write(os.fsencode(f"line of {path} at {at}\n"))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change", author=author, at=START + at)


def changes(folder: Path) -> dict[str, FileHistory]:
    return {change.path: change for change in read(folder).changes}


def read(folder: Path) -> History:
    return history(str(folder))


def test_counts_authors_and_times(repo: Path) -> None:
    commit(repo, 1, "a", "b")
    commit(repo, 2, "a", author="Bob")
    commit(repo, 3, "a", author="Bob")
    commit(repo, 4)
    found = read(repo)
    assert (found.commits, found.note) == (4, "")
    assert found.changes == (
        FileHistory("a", 3, (("Bob", 2), ("Ada", 1)), START + 1, START + 3, ()),
        FileHistory("b", 1, (("Ada", 1),), START + 1, START + 1, ()),
    )


def test_the_mailmap_is_respected(repo: Path) -> None:
    commit(repo, 1, "a", author="bobby")
    commit(repo, 2, "a", author="Bob")
    (repo / ".mailmap").write_text("Robert <bob@example.org>\nRobert <bob@example.org> <bobby@example.org>\n")
    assert changes(repo)["a"].authors == (("Robert", 2),)


def test_renames_are_carried_on(repo: Path) -> None:
    commit(repo, 1, "old/a")
    commit(repo, 2, "old/a")
    git(repo, "mv", "old", "middle")
    commit(repo, 3, "middle/a")
    (repo / "new").mkdir()
    git(repo, "mv", "middle/a", "new/b")
    commit(repo, 4)
    commit(repo, 5, "new/b", "old/a")
    found = changes(repo)
    assert (found["new/b"].commits, found["new/b"].first) == (5, START + 1)
    assert (found["old/a"].commits, found["old/a"].first) == (1, START + 5)


def test_a_name_that_is_used_again(repo: Path) -> None:
    commit(repo, 1, "a")
    git(repo, "mv", "a", "b")
    commit(repo, 2)
    commit(repo, 3, "a")
    git(repo, "mv", "a", "c")
    commit(repo, 4)
    commit(repo, 5, "a")
    assert {path: change.commits for path, change in changes(repo).items()} == {"a": 1, "b": 2, "c": 2}


def test_deleted_files_may_come_back(repo: Path) -> None:
    """The history depends on the commit alone, not on the work tree."""
    commit(repo, 1, "a", "gone")
    (repo / "gone").unlink()
    commit(repo, 2, "a")
    (repo / "new").write_text("x")
    found = changes(repo)
    assert list(found) == ["a", "gone"]
    (repo / "gone").write_text("back")
    (repo / "a").unlink()
    assert changes(repo) == found


def test_files_that_change_together(repo: Path) -> None:
    commit(repo, 1, "a", "b", "c")
    commit(repo, 2, "a", "b")
    commit(repo, 3, "a", "b")
    commit(repo, 4, "a", "c")
    commit(repo, 5, *(f"many/{number}" for number in range(30)), "a")
    commit(repo, 6, *(f"many/{number}" for number in range(30)), "a")
    found = changes(repo)
    assert found["a"].together == (("b", 3), ("c", 2))
    assert found["c"].together == (("a", 2),)
    assert found["many/1"].together == ()


def test_merges_do_not_count_twice(repo: Path) -> None:
    commit(repo, 1, "a")
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, 2, "b")
    git(repo, "checkout", "-q", "main")
    commit(repo, 3, "a")
    git(repo, "merge", "-q", "--no-ff", "-m", "merge", "side", at=START + 4)
    assert {path: change.commits for path, change in changes(repo).items()} == {"a": 2, "b": 1}


def test_hostile_names(repo: Path) -> None:
    raw = os.fsdecode(b"raw-\xff")
    names = ["line\nbreak", "\x01123 Eve", "R100", "M", "tab\there", "ünï", raw, "\n\x015 Eve"]
    commit(repo, 1, *names, author="\x01Mallory; M")
    commit(repo, 2, *names)
    found = changes(repo)
    assert sorted(found) == sorted(names)
    assert {change.commits for change in found.values()} == {2}
    assert {len(change.authors) for change in found.values()} == {2}


def test_a_subfolder_as_the_repository(repo: Path) -> None:
    commit(repo, 1, "a", "sub/b", "sub/deep/c")
    commit(repo, 2, "a")
    commit(repo, 3, "sub/b", "sub/deep/c", "a")
    found = read(repo / "sub")
    assert [(change.path, change.commits) for change in found.changes] == [("b", 2), ("deep/c", 2)]
    assert found.changes[0].together == (("deep/c", 2),)
    assert found.commits == 2


def test_no_history(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "a").write_text("x")
    assert read(repo) == History(note="no git history")
    plain = tmp_path / "plain"
    plain.mkdir()
    assert read(plain) == History(note="no git history")
    commit(repo, 1, "a")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert read(repo) == History(note="no git history")


def test_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    for at in range(5):
        commit(repo, at, "a")
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repo}", "shallow")
    found = read(tmp_path / "shallow")
    assert found.changes[0].commits == 2
    assert "shallow" in found.note


def test_a_clone_without_all_contents(repo: Path) -> None:
    commit(repo, 1, "a")
    blob = git(repo, "rev-parse", "HEAD:a").strip()
    git(repo, "mv", "a", "b")
    commit(repo, 2, "b")
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = read(repo)
    assert [(change.path, change.commits) for change in found.changes] == [("a", 2), ("b", 1)]
    assert "git lacks some contents" in found.note


def test_settings_do_not_change_the_answer(repo: Path) -> None:
    commit(repo, 1, "a", "b")
    git(repo, "mv", "a", "c")
    commit(repo, 2, "c")
    expected = read(repo)
    for key, value in (
        ("diff.renames", "false"),
        ("diff.renameLimit", "1"),
        ("log.showRoot", "false"),
        ("log.follow", "true"),
        ("format.pretty", "oneline"),
        ("color.ui", "always"),
        ("diff.noprefix", "true"),
        ("diff.orderFile", "/nonexistent"),
        ("log.mailmap", "false"),
        ("log.decorate", "full"),
        ("i18n.logOutputEncoding", "latin-1"),
        ("core.quotePath", "true"),
    ):
        git(repo, "config", key, value)
    assert read(repo) == expected
    assert changes(repo)["c"].commits == 2


def test_counts_agree_with_git(repo: Path) -> None:
    pick = random.Random(1)
    names = [f"f{number}" for number in range(12)]
    for at in range(40):
        commit(repo, at, *pick.sample(names, pick.randint(1, 5)), author=pick.choice(["Ada", "Bob"]))
    for path, change in changes(repo).items():
        log = git(repo, "log", "--format=%ct %aN", "--", path).splitlines()
        times = [int(line.split()[0]) for line in log]
        assert (change.commits, change.first, change.last) == (len(log), min(times), max(times))
        assert dict(change.authors) == {who: sum(line.endswith(who) for line in log) for who, _ in change.authors}
        mine = set(git(repo, "log", "--format=%H", "--", path).split())
        for other, count in change.together:
            assert count == len(mine & set(git(repo, "log", "--format=%H", "--", other).split()))


@pytest.mark.skipif("CONCORDANCE_HISTORY" not in os.environ, reason="needs a repository with a long history")
def test_a_long_history_fast() -> None:
    root = os.environ["CONCORDANCE_HISTORY"]
    start = time.perf_counter()
    found = history(root)
    assert time.perf_counter() - start < 2 + found.commits * 12 / 95_994


def test_a_history_that_is_read_in_a_thread(repo: Path) -> None:
    commit(repo, 1, "a", "b")
    reader = HistoryReader(str(repo))
    assert reader.result() == read(repo)
    assert can_fork()  # the thread has ended
    reader.close()


def test_a_history_that_nobody_waits_for_is_not_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither git nor another attempt with it goes on."""
    commit(repo, 1, "a")
    started: list[subprocesses.RunningProgram] = []

    class SilentProgram(subprocesses.RunningProgram):
        def __init__(self, args: Sequence[str], *rest: Any) -> None:
            super().__init__(["sleep", "300"] if "log" in args else args, *rest)
            started.append(self)

    monkeypatch.setattr(subprocesses, "RunningProgram", SilentProgram)
    reader = HistoryReader(str(repo))
    program.wait_for(lambda: len(started) > 1, 60)
    reader.close()
    assert not any(one.is_running for one in started)
    assert can_fork()
    with pytest.raises(ToolFailed):
        reader.result()
