"""External programs: which ones run, what their environment contains, and that each has a time limit."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from concordance.base.errors import ToolFailed, ToolStopped
from concordance.collect import subprocesses
from tests.support.program import wait_for

PIPES = [".gitignore", ".gitattributes", ".mailmap", "lib/.gitignore", ".git/config", ".git/HEAD", ".git/index",
         ".git/info/exclude", ".git/packed-refs"]  # fmt: skip


def _script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_no_program_of_the_repository_is_found(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (repo, repo / "bin", tmp_path / "other"):
        _script(place / "tool", "exit 0")
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", "bin", str(repo / "bin"), str(tmp_path / "other")]))
    assert subprocesses.find_program("tool", str(repo)) == str(tmp_path / "other" / "tool")
    monkeypatch.setenv("PATH", f".:{repo}")
    assert subprocesses.find_program("tool", str(repo)) == ""


def test_a_program_knows_little_of_this_process(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET", "GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "LD_PRELOAD", "PYTHONPATH", "RUFF_CONFIG"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HOME", "relative")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/lib")
    monkeypatch.setenv("GIT_EXEC_PATH", str(repo))
    known = dict(line.split("=", 1) for line in b"".join(subprocesses.run(["env"], str(repo))).decode().splitlines())
    assert known.keys() <= {"PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR", "USER", "LOGNAME", "TZ"}
    assert known["LD_LIBRARY_PATH"] == "/lib"
    more = subprocesses._git_environment(str(repo))
    assert more["GIT_ALLOW_PROTOCOL"] == "none"
    assert not {"GIT_DIR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_EXEC_PATH", "HOME"} & more.keys()


def test_a_silent_program_is_stopped_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "SILENCE", 0.2)
    tool = _script(tmp_path / "tool", "sleep 1000 &\necho $!\nsleep 1000")
    pieces = subprocesses.run([str(tool)], str(tmp_path))
    child = int(next(pieces))
    with pytest.raises(ToolStopped, match=r"tool wrote nothing for 0.2 seconds and was stopped. Run it in "):
        next(pieces)
    _gone(child)


def test_a_program_that_does_not_read_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "SILENCE", 0.2)
    program = subprocesses.RunningProgram([str(_script(tmp_path / "tool", "exec sleep 1000"))], str(tmp_path))
    with pytest.raises(ToolStopped):
        program.say(b"x" * 1_000_000)
    program.close()


def test_a_program_that_does_not_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "SILENCE", 0.2)
    with pytest.raises(ToolStopped):
        list(subprocesses.run([str(_script(tmp_path / "tool", "exec sleep 1000 >&- 2>&-"))], str(tmp_path)))


def _gone(process: int) -> None:
    """Wait until a process has ended."""

    def is_gone() -> bool:
        with suppress(FileNotFoundError, ProcessLookupError):
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return True

    wait_for(is_gone)


@pytest.mark.parametrize("name", PIPES)
def test_git_does_not_wait_for_a_pipe(repo: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "_SILENCE_BEFORE_CHECK", 0.2)
    (repo / name).unlink(missing_ok=True)
    (repo / name).parent.mkdir(exist_ok=True)
    os.mkfifo(repo / name)
    with pytest.raises(ToolStopped) as caught:
        list(subprocesses.run_git(str(repo), "ls-files", "--others", "--exclude-standard"))
    assert str(repo / name) in str(caught.value)
    assert str(caught.value).endswith("Remove it")


def test_git_does_not_wait_for_a_pipe_that_its_settings_name(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocesses, "_SILENCE_BEFORE_CHECK", 0.2)
    os.mkfifo(repo / "pipe")
    for setting in (f"[core]\nexcludesFile = {repo}/pipe\n", "[include]\npath = ../pipe\n"):
        (repo / ".git/config").write_text(setting)
        with pytest.raises(ToolStopped, match="pipe, which is not a regular file"):
            list(subprocesses.run_git(str(repo), "ls-files", "--others", "--exclude-standard"))


def test_a_repository_that_is_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / ".git")
    with pytest.raises(ToolFailed, match="not a git repository"):
        list(subprocesses.run_git(str(folder), "rev-parse", "HEAD"))


def test_git_fetches_nothing(repo: Path, tmp_path: Path) -> None:
    """A partial clone lacks objects and names a program that would fetch them."""
    fired = tmp_path / "fired"
    trap = _script(tmp_path / "trap", f"touch {fired}")
    missing = subprocess.run(["git", "rev-parse", "HEAD:a.py"], cwd=repo, capture_output=True, text=True, check=True).stdout.strip()
    (repo / ".git/objects" / missing[:2] / missing[2:]).unlink()
    remotes = (f"url = {repo}\nuploadpack = {trap}", f"url = ext::{trap}", f"url = x\nvcs = ext::{trap}", "url = ssh://host/x")
    for remote in remotes:
        (repo / ".git/config").write_text(
            "[core]\nrepositoryformatversion = 1\n" f"sshCommand = {trap}\n[extensions]\npartialClone = origin\n"
            f"[remote \"origin\"]\npromisor = true\n{remote}\n[protocol]\nallow = always\n"
        )  # fmt: skip
        with suppress(ToolFailed):
            list(subprocesses.run_git(str(repo), "cat-file", "-p", missing))
    assert not fired.exists()
