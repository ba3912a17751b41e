"""Nothing in a repository is executed, whatever it contains and however the program is started in it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from concordance.base import startup
from tests.support import program
from tests.support.program import concord, git, wait_for, write
from tests.support.traps import Traps, imported

FILES = {f"part/m{number}.py": f"def f{number}(): return {number}\n" for number in range(20)}


def test_the_current_folder_is_no_place_to_import_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, outside = tmp_path / "repo", tmp_path / "other"
    monkeypatch.chdir(tmp_path)
    path = ["", "relative", str(inside), str(inside / "src"), str(outside), os.path.dirname(os.__file__)]
    home = str(program.TREE)
    kept = startup.import_path(path, f":{outside}", str(inside))
    assert kept == [os.path.dirname(os.__file__), str(outside), home], "those of PYTHONPATH come last"
    assert startup.import_path([str(tmp_path), home], ":/elsewhere", "") == [home], "an empty entry is the current folder"


def test_an_installation_inside_a_repository_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = str(tmp_path / ".venv" / "lib" / "python" / "site-packages")
    monkeypatch.setattr(startup.site, "getsitepackages", lambda: [packages])
    assert startup.import_path([packages, str(tmp_path)], "", str(tmp_path)) == [packages, str(program.TREE)]


def test_the_current_folder_is_no_place_for_programs(tmp_path: Path) -> None:
    joined = os.pathsep.join(["", ".", "bin", str(tmp_path / "bin"), "/usr/bin", str(tmp_path), ""])
    assert startup.search_path(joined, str(tmp_path)) == "/usr/bin"
    assert startup.search_path(str(tmp_path), "/") == str(tmp_path), "all is inside the root of the file system"


def test_a_child_has_no_relative_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "src", "/lib"])
    assert startup.child_path() == ["/lib", str(program.TREE)]


@contextmanager
def _running(repo: Path, env: dict[str, str], log: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program in a repository until the end of the block; its standard error goes to a file."""
    with log.open("a") as errors:
        process = subprocess.Popen(
            [program.CONCORD, *args], cwd=repo, env=program.environment(**env), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)


def _served(repo: Path, env: dict[str, str], log: Path, name: str) -> None:
    """Serve a repository, ask a question, and add a definition meanwhile."""
    with _running(repo, env, log, "serve", ".", "--no-browser", "--port", "0", "--watch") as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://"), log.read_text()

        def defined(asked: str) -> object:
            with (
                suppress(urllib.error.HTTPError),  # not there yet
                urllib.request.urlopen(f"{address.rstrip('/')}/api/define?q={asked}", timeout=120) as reply,
            ):
                return json.loads(reply.read())

        wait_for(lambda: defined("plant"))
        write(repo, {"part/m1.py": f"def {name}(): pass\n"})
        wait_for(lambda: defined(name))


def _watched(repo: Path, env: dict[str, str], log: Path) -> None:
    """Watch a repository in which a file changes."""
    with _running(repo, env, log, "watch", ".", "--jobs", "1") as process:
        assert process.stdout is not None
        process.stdout.readline()
        write(repo, {"part/m2.py": "def watched(): pass\n"})
        page = repo / ".concordance/book/part/m2.py_docs.md"
        wait_for(lambda: page.exists() and "watched" in page.read_text())


def _modules(repo: Path) -> set[str]:
    """Return the modules that all processes of a build and of a server import."""
    log = repo.parent / "verbose"
    env = {"PYTHONVERBOSE": "1"}
    with log.open("a") as errors:
        concord("build", ".", "--no-book", cwd=repo, env=env, stderr=errors, stdout=subprocess.DEVNULL)
    _served(repo, env, log, "recorded")
    return imported(log.read_text(errors="replace"))


def test_nothing_of_a_repository_runs(repo: Path) -> None:
    write(repo, FILES)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "more")
    modules = _modules(repo)
    kinds = {"concordance", "multiprocessing", "selectors", "tree_sitter", "sqlite3", "tantivy", "asyncio", "watchfiles"}
    assert kinds <= modules, "what the fork server, workers, readers and whoever follows the disk import"
    traps = Traps(repo, modules)
    write(repo, {".gitattributes": "* filter=trap diff=trap\n"})
    env, log = traps.environment(), repo.parent / "log"
    git_files = sorted((repo / ".git").rglob("*"))
    shutil.rmtree(repo / ".concordance")  # all is read anew, by workers of the fork server
    for command in (["build", "."], ["verify"], ["check"], ["diff"], ["show", "a.py"]):
        done = concord(*command, cwd=repo, env=env, code=None)
        assert (command, done.returncode, traps.met()) == (command, 0, []), done.stderr
    questions = (("define", "plant"), ("impact", "lib/b.py"), ("search", "tree"))
    lines = [json.dumps({"command": command, "args": [asked]}) for command, asked in questions]
    (repo.parent / "questions").write_text("\n".join(lines))
    with (repo.parent / "questions").open() as asked:
        replies = concord("batch", cwd=repo, env=env, stdin=asked).stdout.splitlines()
    assert [json.loads(reply)["ok"] for reply in replies] == [True] * 3
    write(repo, {"part/m3.py": "def edited(): pass\n"})
    assert concord("build", ".", cwd=repo, env=env).stderr == ""
    _served(repo, env, log, "served")
    _watched(repo, env, log)
    assert traps.met() == []
    assert "Traceback" not in log.read_text()
    assert sorted((repo / ".git").rglob("*")) == git_files, "git has written nothing"


def test_an_empty_entry_of_the_module_path(repo: Path) -> None:
    """It stands for the current folder. What Python imports by itself cannot be prevented; what we import can."""
    write(repo, FILES)
    fired = repo.parent / "fired"
    names = ("click", "json", "msgspec", "multiprocessing", "selectors", "socket", "subprocess", "tree_sitter", "tantivy")
    for name in names:
        write(repo, {f"{name}.py": f"open({str(fired)!r}, 'a').write({name!r})\n"})
    concord("build", ".", "--no-book", cwd=repo, env={"PYTHONPATH": f":{program.TREE}"})
    assert not fired.exists()
