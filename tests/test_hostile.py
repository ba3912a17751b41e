"""Repositories that mean harm: each is built with its book, nothing is lost, and nothing outside is touched."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import books
import program
import pytest
from program import git, ledger, write

from bench import hostile
from concordance import api
from concordance.collect import source
from concordance.config import Book

OUT = Path(".concordance/book")


def held(folder: Path) -> Any:
    """Builds with the book: every file is in the ledger, every page can be made, and `verify` finds nothing amiss."""
    written = books.write(folder, folder / OUT)
    listed = {entry.path for entry in source.walk(str(folder))}
    assert set(ledger(folder)) == listed
    assert books.problems(folder, folder / OUT) == []
    assert written.pages >= 2 * len(listed)
    return written


@pytest.mark.parametrize("name", [name for name in hostile.CASES if name != "long paths"])
def test_a_repository_with(name: str, folder: Path) -> None:
    case = hostile.CASES[name]
    case.make(folder, case.small)
    program.age(folder)
    held(folder)
    again = books.write(folder, folder / OUT)
    assert (again.written, again.removed) == (0, 0)


def test_paths_too_long_for_their_pages(tmp_path: Path) -> None:
    """The path of a page is longer than that of its file."""
    folder = tmp_path / "repo"
    hostile.long_paths(folder, hostile.CASES["long paths"].small)
    try:
        held(folder)
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # which goes step by step, as a path so long needs


def test_names_in_git(folder: Path) -> None:
    git(folder, "init", "-q")
    hostile.odd_names(folder, 1)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "odd")
    program.age(folder)
    held(folder)


# What git repositories can be


def test_a_repository_without_commits_and_an_empty_one(folder: Path) -> None:
    git(folder, "init", "-q")
    held(folder)
    write(folder, program.SAMPLE)
    held(folder)


def test_a_repository_in_a_repository(repo: Path) -> None:
    (repo / "inner").mkdir()
    program.sample(repo / "inner")
    (repo / "plain/deep").mkdir(parents=True)
    git(repo / "plain/deep", "init", "-q")
    held(repo)


def test_a_shallow_clone_and_a_work_tree(repo: Path, tmp_path: Path) -> None:
    write(repo, {"a.py": "x = 2\n"})
    git(repo, "commit", "-q", "-a", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    held(tmp_path / "shallow")
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    held(tmp_path / "tree")


def test_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    said = program.concord("build", tmp_path / "bare.git", code=None)
    assert said.returncode in (0, 2) and "Traceback" not in said.stderr
    assert said.returncode == 0 or "bare" in said.stderr


# What files can be


def test_what_is_no_file(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.py": "secret_word = 1\n"})
    write(folder, {"a.py": "x = 1\n", "shut.py": "x = 1\n"})
    os.mkfifo(folder / "pipe.py")
    with socket.socket(socket.AF_UNIX) as sock:
        here = os.getcwd()
        os.chdir(folder)
        sock.bind("sock.py")
        os.chdir(here)
    (folder / "shut.py").chmod(0)
    for name, target in {
        "loop": "loop", "ping": "pong", "pong": "ping", "out.py": "../outside/secret.py", "out": str(tmp_path / "outside"),
        "up": "..", "self": ".", "dangling": "nowhere", "zero": "/dev/zero", "etc": "/etc", "a_docs.md": "../outside/secret.py",
    }.items():  # fmt: skip
        (folder / name).symlink_to(target)
    if os.geteuid() == 0:
        os.mknod(folder / "null.py", 0o600 | 0o020000, os.makedev(1, 3))
    before = {path: path.read_bytes() for path in (tmp_path / "outside").iterdir()}
    held(folder)
    assert {path: path.read_bytes() for path in (tmp_path / "outside").iterdir()} == before
    for page, text in books.pages(folder / OUT).items():
        assert "secret_word" not in text, page


@pytest.mark.parametrize("how", ["gone", "longer", "shorter", "folder", "link", "pipe", "shut", "binary"])
def test_files_that_change_between_the_list_and_the_reading(folder: Path, how: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(folder, program.SAMPLE)
    program.age(folder)
    walked = source.walked

    def listed(root: str) -> Any:
        found = walked(root)
        harm(folder, how, tmp_path)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(source, "walked", listed)
        books.write(folder, folder / OUT)
    held(folder)


@pytest.mark.parametrize("how", ["gone", "longer", "shorter", "folder", "link", "pipe", "binary"])
def test_files_that_change_between_the_store_and_the_pages(folder: Path, how: str, tmp_path: Path) -> None:
    write(folder, program.SAMPLE)
    program.age(folder)
    summary = api.build(str(folder))
    harm(folder, how, tmp_path)
    from concordance.config import Config

    written = api._write(str(folder), str(folder / OUT), Book(), Config(jobs=1), summary, lambda *_: None)
    assert written.failed == []
    held(folder)


def harm(folder: Path, how: str, tmp_path: Path) -> None:
    """Does something to some files."""
    for name in ("a.py", "lib/api.h"):
        path = folder / name
        path.unlink()
        if how == "longer":
            path.write_text("y = 1\n" * 1000)
        elif how == "shorter":
            path.write_text("y")
        elif how == "folder":
            path.mkdir()
            (path / "x.py").write_text("x = 1\n")
        elif how == "link":
            (tmp_path / "secret").write_text("secret\n")
            path.symlink_to(tmp_path / "secret")
        elif how == "pipe":
            os.mkfifo(path)
        elif how == "shut":
            path.write_text("z = 1\n")
            path.chmod(0)
        elif how == "binary":
            path.write_bytes(os.urandom(3000))


def test_files_that_change_all_the_time(folder: Path) -> None:
    """Somebody writes while a build reads: it ends, and the next one is right."""
    program.crowd(folder, 40, 10)
    code = (
        "import os, sys, time, random\nend = time.time() + 60\nwhile time.time() < end and not os.path.exists(sys.argv[1] + '/../stop'):\n"
        "    n = random.randrange(40)\n    p = f'{sys.argv[1]}/part{n % 20}/m{n}.py'\n"
        "    if random.random() < 0.2 and os.path.exists(p): os.unlink(p)\n"
        "    else:\n        with open(p, 'w') as f:\n            f.write(f'x{n} = 1\\n' * random.randrange(500))\n"
    )
    writer = subprocess.Popen(["python3", "-c", code, str(folder)])
    try:
        for _ in range(2):
            program.concord("build", folder)
    finally:
        (folder.parent / "stop").touch()
        writer.wait()
    held(folder)


def test_a_book_in_a_folder_that_is_full_of_others(folder: Path) -> None:
    """Pages never take the place of files, whatever these are called."""
    hostile.odd_names(folder, 1)
    (folder / "manifest.json").write_text("{}")
    before = {path: (folder / os.fsdecode(path)).read_bytes() for path in map(os.fsencode, (e.path for e in source.walk(str(folder))))}
    said = program.concord("build", folder, "--out", folder, code=2).stderr
    assert "holds files of others" in said
    for path, data in before.items():
        assert (folder / os.fsdecode(path)).read_bytes() == data
    shutil.rmtree(folder / ".concordance")
