"""A store outside the repository, for repositories that may only be read; and folders that are read only after
confirmation.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from concordance.base.errors import NoPermission, UserError
from concordance.workflow import builds, store_location
from concordance.workflow.store_location import check_store, make_store, store_path
from tests.support import program
from tests.support.program import CONCORD, concord, environment


def _listing(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


@pytest.fixture
def plain(folder: Path) -> Path:
    program.write(folder, {"a.py": "def grow(): pass\n"})
    return folder


# --- a store elsewhere


def test_a_repository_that_may_only_be_read(repo: Path, tmp_path: Path) -> None:
    store, book = tmp_path / "store", tmp_path / "book"
    before = _listing(repo)
    for path in (repo, *(path for path in repo.rglob("*") if path.is_dir())):
        path.chmod(0o555)
    try:
        told = concord("build", repo, code=2, preexec_fn=program.bound).stderr
        assert "--store" in told and "--out" in told
        where = ("--store", store)
        concord("build", repo, *where, "--out", book, preexec_fn=program.bound)
        concord("build", repo, "--format", "html", *where, preexec_fn=program.bound)
        assert concord("verify", "--repo", repo, "--out", book, *where).stdout.startswith("0 problems")
        rows = json.loads(concord("define", "Tree", "--json", "--repo", repo, *where, preexec_fn=program.bound).stdout)
        assert rows[0]["path"] == "a.py"
        there = {"CONCORDANCE_STORE": str(store)}
        assert "current" in concord("check", "--repo", repo, "--out", book, env=there, preexec_fn=program.bound).stdout
    finally:
        for path in (repo, *(path for path in repo.rglob("*") if path.is_dir())):
            path.chmod(0o755)
    assert _listing(repo) == before
    assert (store / "site/index.html").exists() and (book / "index.md").exists() and not (store / "book").exists()
    assert (store / "repository").read_text() == f"{repo.resolve()}\n"


def test_the_book_is_beside_the_store(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store_location.VARIABLE, str(tmp_path / "store"))
    _, written = builds.write_book(str(plain), jobs=1)
    assert written.out == str(tmp_path / "store/book")
    assert not builds.check(str(plain), jobs=1).is_stale
    assert builds.verify(str(plain), jobs=1).problems == []
    assert os.listdir(plain) == ["a.py"]


def test_a_store_of_another_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir(), other.mkdir()
    monkeypatch.setenv(store_location.VARIABLE, str(tmp_path / "store"))
    assert make_store(str(one)) == make_store(str(one)) == str(tmp_path / "store")
    assert make_store(str(one), "generated") == str(tmp_path / "store/generated")
    for refuses in (make_store, check_store):
        with pytest.raises(UserError, match=f"is the store of {one}, not of {other}"):
            refuses(str(other))


@pytest.mark.parametrize("place", ["", "docs", "docs/store", ".concordance/deep"])
def test_a_store_inside_of_its_repository_is_refused(plain: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (plain / "docs").mkdir()
    monkeypatch.setenv(store_location.VARIABLE, str(plain / place))
    with pytest.raises(UserError, match="inside the repository"):
        make_store(str(plain))
    assert sorted(os.listdir(plain)) == ["a.py", "docs"]


def test_its_own_folder_may_be_named(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store_location.VARIABLE, str(plain / ".concordance"))
    assert os.listdir(make_store(str(plain))) == [".gitignore"]


@pytest.mark.parametrize("name", ["thesis.tex", "index.db"])
def test_a_folder_with_files_of_others_is_no_place_for_a_store(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program.write(tmp_path / "store", {name: "years of work"})
    monkeypatch.setenv(store_location.VARIABLE, str(tmp_path / "store"))
    with pytest.raises(UserError, match=f"did not write \\({name}\\)"):
        make_store(str(plain))
    assert os.listdir(tmp_path / "store") == [name]


def test_the_owner_is_not_written_through_a_link(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "store/repository").symlink_to(tmp_path / "victim")
    monkeypatch.setenv(store_location.VARIABLE, str(tmp_path / "store"))
    with pytest.raises(NoPermission, match="cannot be read"):
        make_store(str(plain))
    assert (tmp_path / "victim").read_text() == "precious"


def test_a_batch_has_one_store(plain: Path) -> None:
    question = json.dumps({"command": "define", "args": ["grow", "--store", "elsewhere"]})
    done = subprocess.run(
        [CONCORD, "batch", "--repo", str(plain), "--yes"], input=question, text=True, capture_output=True,
        env=environment(), timeout=120,
    )  # fmt: skip
    assert "one repository" in json.loads(done.stdout)["error"]
    assert not (plain / "elsewhere").exists()


# --- folders that nobody called a repository


def test_a_plain_folder_is_read_after_a_yes(plain: Path) -> None:
    told = concord("define", "grow", cwd=plain, code=2).stderr
    assert "neither a repository nor indexed" in told and "--yes" in told and f"concord build {plain}" in told
    for question in (
        ("show", "a.py"), ("build",), ("watch",), ("serve", "--no-browser"), ("refs", "grow", "--repo", str(plain)),
        ("mcp",), ("mcp", str(plain)), ("lsp", str(plain)),
    ):  # fmt: skip
        assert "--yes" in concord(*question, cwd=plain, code=2).stderr
    assert os.listdir(plain) == ["a.py"]
    told = concord("define", "grow", "--yes", cwd=plain).stderr
    assert str(plain / ".concordance") in told  # says where the store is
    assert concord("define", "grow", cwd=plain).stderr == ""


def test_what_is_asked_about_and_what_is_not(plain: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="neither a repository"):
        store_location.ask_first(str(plain), False)
    store_location.ask_first(str(plain), True)
    store_location.ask_first(str(plain / "missing"), False)  # what is wrong with it is said later
    for control in (".git", ".hg", ".svn", ".jj"):
        folder = tmp_path / f"with{control}"
        (folder / control).mkdir(parents=True)
        (folder / "deep/er").mkdir(parents=True)
        store_location.ask_first(str(folder), False)
        store_location.ask_first(str(folder / "deep/er"), False)
    (plain / ".concordance").mkdir()
    with pytest.raises(UserError, match="neither a repository"):
        store_location.ask_first(str(plain), False)
    (plain / ".concordance/index.db").touch()
    store_location.ask_first(str(plain), False)
    assert store_path(str(plain)) == str(plain / ".concordance")


def test_a_terminal_asks(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [CONCORD, "symbols", "a.py"], cwd=plain, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=environment()
    )
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 1000)
    assert b"1 file, 0 KB" in said
    os.write(ours, b"n\n")
    assert process.communicate(timeout=120)[0] == b"" and process.returncode == 2
    os.close(ours)
    assert os.listdir(plain) == ["a.py"]
    monkeypatch.setattr(store_location, "_is_terminal", lambda stream: True)
    monkeypatch.setattr(store_location.click, "confirm", lambda question, err: err)
    store_location.ask_first(str(plain), False)


def test_a_server_of_a_repository_that_may_only_be_read(repo: Path, tmp_path: Path) -> None:
    told = f"concord: {repo}/.concordance cannot be created: Permission denied. "
    repo.chmod(0o555)
    try:
        said = concord("serve", repo, "--no-browser", "--port", "0", code=2, preexec_fn=program.bound).stderr
        assert said.startswith(told) and "--store" in said
        process = program.started("serve", repo, "--no-browser", "--port", "0", "--store", tmp_path / "store", preexec_fn=program.bound)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://")
        program.wait_for((tmp_path / "store/index.db").exists)
        process.terminate()
        assert "cannot" not in process.communicate(timeout=120)[1]
    finally:
        repo.chmod(0o755)
    assert not (repo / ".concordance").exists() and (tmp_path / "store/index.db").exists()
