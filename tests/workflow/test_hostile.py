"""Hostile repositories: each is built with its book, nothing is lost, and nothing outside is touched."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book
from concordance.base.errors import StoreBroken
from concordance.collect import walk
from concordance.facts.store import Store
from concordance.workflow import builds, store_update
from tests.support import books, hostile, program
from tests.support.linked import Repository
from tests.support.program import git, ledger, write

OUT = Path(".concordance/book")


def held(folder: Path) -> Any:
    """Build with the book: every file is in the ledger, every page can be made, and `verify` finds nothing."""
    written = books.write(folder, folder / OUT)
    listed = {entry.path for entry in walk.walk(str(folder))}
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


# What leads back to itself, or far away

_USE = "x.go()\n"
_END = "class X:\n    def go(self): pass\n\n\nx = X()\n"
_FAR = {  # what each of many files of Python says, by its number and that of the next; whether the last leads to the first
    "classes in a circle": (lambda k, n: f"import m{n}\n\n\nclass C{k}(m{n}.C{n}): pass\n", True),
    "classes in a chain": (lambda k, n: f"import m{n}\n\n\nclass X(m{n}.X):\n    def go{k}(self): self.go()\n", False),
    "names in a circle": (lambda k, n: f"from m{n} import x\n{_USE}", True),
    "names in a chain": (lambda k, n: f"from m{n} import x\n{_USE}", False),
    "stars in circles": (lambda k, n: "".join(f"from m{m} import *\n" for m in (n, k * 7 % 120, k * 5 % 120)) + _USE, True),
    "stars both ways": (lambda k, n: f"from m{max(0, k - 1)} import *\nfrom m{n} import *\n{_USE}", False),
}


@pytest.mark.parametrize("shape", _FAR)
def test_many_files_that_lead_to_one_another(shape: str, tmp_path: Path) -> None:
    """Results are shared between files, and the answer is the same whichever file comes first, however long the chain
    is."""
    said, is_round = _FAR[shape]
    files = {f"m{k}.py": ("python", said(k, (k + 1) % 120 if is_round else k + 1)) for k in range(120)}
    files.update({} if is_round else {"m120.py": ("python", _END)})
    began = time.process_time()
    one = Repository(tmp_path, files)
    other = Repository(tmp_path, files, backwards=True)
    assert time.process_time() - began < 10
    assert one.links == {path: other.links[path] for path in one.links}
    if "x.go" in files["m0.py"][1] and not is_round:
        assert one.at("m0.py", files["m0.py"][1].count("\n"), 3) == ["m120.py#X.go exact"]


def test_classes_above_one_another_are_searched_nearest_first(tmp_path: Path) -> None:
    texts = {
        "a.py": "import b\n\n\nclass A(b.B):\n    def go(self): self.far()\n",
        "b.py": "import a, c\n\n\nclass B(a.A, c.C):\n    pass\n",
        "c.py": "import a\n\n\nclass C(a.A):\n    def far(self): self.go()\n",
    }
    one = Repository(tmp_path, {path: ("python", text) for path, text in texts.items()})
    assert one.at("a.py", 5, 25) == ["c.py#C.far exact"]
    assert one.at("c.py", 5, 26) == ["a.py#A.go exact"]


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
    walked = walk.walk_with_counts

    def listed(root: str) -> Any:
        found = walked(root)
        harm(folder, how, tmp_path)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(walk, "walk_with_counts", listed)
        books.write(folder, folder / OUT)
    held(folder)


@pytest.mark.parametrize("how", ["gone", "longer", "shorter", "folder", "link", "pipe", "binary"])
def test_files_that_change_between_the_store_and_the_pages(folder: Path, how: str, tmp_path: Path) -> None:
    write(folder, program.SAMPLE)
    program.age(folder)
    summary = store_update.build(str(folder))
    harm(folder, how, tmp_path)
    from concordance.base.config import Config

    written = builds._write(str(folder), str(folder / OUT), Book(), Config(jobs=1), summary, lambda *_: None)
    assert written.failed == []
    held(folder)


def harm(folder: Path, how: str, tmp_path: Path) -> None:
    """Do something to some files."""
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
    """Files are written while a build reads them: it ends, and the next build is right."""
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
    """Pages never replace files, whatever these are called."""
    hostile.odd_names(folder, 1)
    (folder / "manifest.json").write_text("{}")
    before = {path: (folder / os.fsdecode(path)).read_bytes() for path in map(os.fsencode, (e.path for e in walk.walk(str(folder))))}
    said = program.concord("build", folder, "--out", folder, code=2).stderr
    assert "contains files that Concordance did not write" in said
    for path, data in before.items():
        assert (folder / os.fsdecode(path)).read_bytes() == data
    assert not (folder / ".concordance").exists()


def test_a_store_that_came_with_the_repository_has_no_views(folder: Path) -> None:
    """A query of a view may never end, so a store that has one is built anew."""
    write(folder, {"a.py": "def plant(): ...\n", ".concordance/.gitignore": "*\n"})
    with closing(sqlite3.connect(folder / ".concordance/index.db")) as database:
        database.execute("CREATE VIEW meta AS SELECT 'schema' AS key, '1' AS value")
        database.commit()
    with pytest.raises(StoreBroken, match="damaged"):
        Store(str(folder / ".concordance"))
    assert "plant" in program.concord("define", "plant", "--repo", folder, "--yes").stdout
