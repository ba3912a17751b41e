"""The walk lists every file once, follows no link and runs nothing; git is the oracle."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from concordance.base.errors import NoPermission, NotARepository, ToolFailed, UnknownRevision, Unreadable, UserError
from concordance.base.model import ListedFile, Skip
from concordance.collect import history, line_diff, subprocesses, walk

NOBODY = 65534


@pytest.fixture(autouse=True)
def _own_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *args: str) -> str:
    allowed = ("-c", "protocol.file.allow=always")
    return subprocess.run(["git", *allowed, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def write(folder: Path, *paths: str, text: str = "x\n") -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def commit(folder: Path, message: str = "change") -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def paths(folder: Path) -> list[str]:
    return [entry.path for entry in walk.walk(str(folder))]


def by_path(folder: Path) -> dict[str, ListedFile]:
    return {entry.path: entry for entry in walk.walk(str(folder))}


# What belongs to a git work tree


def test_tracked_and_untracked_but_not_ignored(repo: Path) -> None:
    write(repo, "a.py", "b/c.py", ".github/workflows/x.yml", "kept.log")
    write(repo, ".gitignore", text="*.log\nbuild/\n")
    git(repo, "add", "-A")
    git(repo, "add", "-f", "kept.log")
    write(repo, "new.py", "noise.log", "build/out.py")
    assert paths(repo) == [".github/workflows/x.yml", ".gitignore", "a.py", "b/c.py", "kept.log", "new.py"]


def test_size_and_time(repo: Path) -> None:
    write(repo, "a.py", text="12345")
    os.utime(repo / "a.py", ns=(1, 123_456_789_000_000_001))
    (entry,) = walk.walk(str(repo))
    found = (repo / "a.py").stat()
    assert entry == ListedFile("a.py", 5, 123_456_789_000_000_001, altered=found.st_ctime_ns, inode=found.st_ino)


def test_deleted_from_the_work_tree_is_left_out(repo: Path) -> None:
    write(repo, "a", "b", "folder/c")
    commit(repo)
    (repo / "a").unlink()
    shutil.rmtree(repo / "folder")
    assert paths(repo) == ["b"]


def test_a_file_that_became_a_folder(repo: Path) -> None:
    write(repo, "a")
    commit(repo)
    (repo / "a").unlink()
    write(repo, "a/b")
    assert paths(repo) == ["a/b"]


def test_merge_conflict_lists_a_path_once(repo: Path) -> None:
    write(repo, "a", text="0\n")
    commit(repo)
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, "a", text="1\n")
    commit(repo)
    git(repo, "checkout", "-q", "main")
    write(repo, "a", text="2\n")
    commit(repo)
    assert subprocess.run(["git", "merge", "-q", "other"], cwd=repo, capture_output=True).returncode == 1
    assert len(git(repo, "ls-files", "-s").splitlines()) == 3
    assert paths(repo) == ["a"]


def test_our_own_folder_is_left_out(repo: Path) -> None:
    write(repo, ".concordance/index.db", "sub/.concordance/book/x.md", "sub/a", "x.concordance/a")
    assert paths(repo) == ["sub/a", "x.concordance/a"]
    assert paths(repo / "sub") == ["a"]


def test_a_subfolder_as_the_repository(repo: Path) -> None:
    write(repo, "a", "sub/b", "sub/deep/c", "subway/d")
    write(repo, ".gitignore", text="*.log\n")
    commit(repo)
    write(repo, "sub/new", "sub/x.log")
    (repo / "sub/link").symlink_to("../a")
    entries = by_path(repo / "sub")
    assert list(entries) == ["b", "deep/c", "link", "new"]
    assert entries["link"].note == "points to ../a, outside the repository"
    alias = repo.parent / "alias"
    alias.symlink_to(repo / "sub")
    assert paths(alias) == ["b", "deep/c", "link", "new"]


def test_a_folder_that_the_repository_ignores_is_walked_as_it_is(repo: Path) -> None:
    write(repo, ".gitignore", text="out/\n")
    write(repo, "out/a", "out/b/c")
    assert paths(repo / "out") == ["a", "b/c"]


def test_a_repository_that_ignores_everything_is_empty(repo: Path) -> None:
    write(repo, ".gitignore", text="*\n")
    assert paths(repo) == []


def test_submodules_tracked_and_not(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, "inside")
    commit(other)
    git(repo, "submodule", "--quiet", "add", str(other), "libs/other")
    shutil.copytree(other, repo / "loose")
    commit_id = git(other, "rev-parse", "HEAD").strip()
    entries = by_path(repo)
    assert list(entries) == [".gitmodules", "libs/other", "loose"]
    assert entries["libs/other"][3:5] == (Skip.SUBMODULE, f"at commit {commit_id}")
    assert entries["loose"].skip is Skip.SUBMODULE
    commit(repo)
    shutil.rmtree(repo / "libs")
    assert by_path(repo)["libs/other"].skip is Skip.SUBMODULE


def test_a_linked_work_tree(repo: Path, tmp_path: Path) -> None:
    write(repo, "a")
    commit(repo)
    git(repo, "worktree", "add", "-q", str(tmp_path / "second"))
    assert paths(tmp_path / "second") == ["a"]


def test_a_copied_submodule_whose_repository_was_left_behind(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, ".git", text="gitdir: ../.git/modules/gone\n")
    assert paths(tmp_path) == ["a"]


def test_a_broken_repository_says_so(repo: Path) -> None:
    write(repo, "a")
    git(repo, "add", "a")
    (repo / ".git/index").write_bytes(b"DIRC nonsense")
    with pytest.raises(ToolFailed, match="index"):
        walk.walk(str(repo))


# The ledger


def test_every_listed_file_once(repo: Path) -> None:
    names = [
        "plain",
        "with space",
        "tab\tname",
        "line\nbreak",
        "ünïcode",
        "-option",
        '"quoted"',
        "back\\slash",
        "? mark",
    ]
    names += ["H 100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\tfake", "#a", "~", "x" * 255]
    write(repo, *(f"tracked/{name}" for name in names))
    commit(repo)
    write(repo, *(f"new/{name}" for name in names))
    raw = b"bytes-\xff\xfe-\x80"
    (Path(os.fsdecode(os.fsencode(repo) + b"/" + raw))).write_text("x")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=repo, capture_output=True
    ).stdout.split(b"\0")[:-1]
    found = [os.fsencode(path) for path in paths(repo)]
    assert found == sorted(set(listed))
    assert len(found) == 2 * len(names) + 1
    assert all(walk.read(str(repo), entry) for entry in walk.walk(str(repo)))


@pytest.mark.skipif("CONCORDANCE_CORPUS" not in os.environ, reason="needs a large repository")
def test_a_large_repository_fast() -> None:
    root = os.environ["CONCORDANCE_CORPUS"]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True).stdout.split(b"\0")[:-1]
    start = time.perf_counter()
    found = {os.fsencode(entry.path) for entry in walk.walk(root)}
    assert time.perf_counter() - start < 0.15 + len(listed) * 15e-6
    assert found >= set(listed)


# Plain folders


def test_a_plain_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.py", ".github/x.yml", ".hidden", "sub/b", "sub/.hg/store", ".svn/x", ".jj/y", ".bzr/z")
    write(tmp_path, ".gitignore", text="a.py\n")
    assert paths(tmp_path) == [".github/x.yml", ".gitignore", ".hidden", "a.py", "sub/b"]


def test_without_git_a_repository_is_a_plain_folder(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, "a", "b.log")
    write(repo, ".gitignore", text="*.log\n")
    monkeypatch.setenv("PATH", "/nonexistent")
    assert paths(repo) == [".gitignore", "a", "b.log"]


def test_the_order_is_that_of_bytes(tmp_path: Path) -> None:
    write(tmp_path, "b", "B", "a/z", "a.z", "é")
    raw = os.fsdecode(b"\xc3")
    (tmp_path / raw).write_text("x")
    assert paths(tmp_path) == ["B", "a.z", "a/z", "b", raw, "é"]


@pytest.mark.parametrize("in_git", [False, True])
def test_folders_500_deep(tmp_path: Path, in_git: bool) -> None:
    if in_git:
        git(tmp_path, "init", "-q")
    deep = "/".join(["d"] * 500)
    write(tmp_path, f"{deep}/a")
    assert paths(tmp_path) == [f"{deep}/a"]
    assert walk.read(str(tmp_path), ListedFile(f"{deep}/a", 2, 0)) == b"x\n"


def test_a_path_longer_than_the_system_takes_is_in_the_ledger(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("n" * 200, dir_fd=at)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
    (entry,) = walk.walk(str(tmp_path))
    assert (entry.skip, entry.note) == (Skip.UNREADABLE, "File name too long")
    shutil.rmtree(tmp_path / ("n" * 200), ignore_errors=True)


# Links and special files


@pytest.mark.parametrize("in_git", [False, True])
def test_symbolic_links_are_never_followed(tmp_path: Path, in_git: bool) -> None:
    root = tmp_path / "root"
    root.mkdir()
    write(tmp_path, "outside/secret")
    write(root, "folder/a")
    links = {
        "good": "folder/a",
        "to_folder": "folder",
        "broken": "nowhere",
        "self": "self",
        "one": "two",
        "two": "one",
        "up": "..",
        "root": ".",
        "leaves": "../outside",
        "absolute": "/etc/passwd",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    if in_git:
        git(root, "init", "-q")
        commit(root)
    entries = by_path(root)
    assert sorted(entries) == sorted(["folder/a", *links])
    assert all((entry.skip is Skip.SYMLINK) == (path in links) for path, entry in entries.items())
    notes = {path: entry.note.removeprefix(f"points to {links[path]}") for path, entry in entries.items() if entry.skip}
    assert notes == {
        "good": "",
        "to_folder": "",
        "root": "",
        "broken": ", which does not exist",
        "self": ", in a loop",
        "one": ", in a loop",
        "two": ", in a loop",
        "up": ", outside the repository",
        "leaves": ", outside the repository",
        "absolute": ", outside the repository",
    }


def test_a_long_chain_of_links(tmp_path: Path) -> None:
    write(tmp_path, "end")
    for number in range(1500):
        (tmp_path / f"link{number}").symlink_to(f"link{number + 1}" if number < 1499 else "end")
    entries = by_path(tmp_path)
    assert entries["link0"].note == "points to link1, in a loop"  # the system gives up, and so do we
    assert entries["link1490"].note == "points to link1491"


def test_a_folder_that_became_a_link(repo: Path, tmp_path: Path) -> None:
    write(repo, "folder/passwd", "a")
    commit(repo)
    shutil.rmtree(repo / "folder")
    (repo / "folder").symlink_to("/etc")
    assert paths(repo) == ["a", "folder"]
    with pytest.raises(Unreadable, match="folder/passwd"):
        walk.read(str(repo), ListedFile("folder/passwd", 1, 1))


@pytest.mark.parametrize("in_git", [False, True])
def test_special_files(tmp_path: Path, in_git: bool) -> None:
    write(tmp_path, "pipe", "regular")
    if in_git:
        git(tmp_path, "init", "-q")
        commit(tmp_path)
    (tmp_path / "pipe").unlink()
    os.mkfifo(tmp_path / "pipe")
    entries = by_path(tmp_path)
    assert list(entries) == ["pipe", "regular"]
    assert (entries["pipe"].skip, entries["pipe"].note) == (Skip.UNREADABLE, "a named pipe")
    with pytest.raises(Unreadable, match="no longer a regular file"):
        walk.read(str(tmp_path), ListedFile("pipe", 1, 1))


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert by_path(tmp_path)["socket"].note == "a socket"


# Reading


def test_reading(tmp_path: Path) -> None:
    write(tmp_path, "sub/a", text="0123456789")
    root, entry = str(tmp_path), ListedFile("sub/a", 10, 0)
    assert walk.read(root, entry) == b"0123456789"
    assert walk.read(root, entry, 4) == b"0123"
    with pytest.raises(Unreadable) as caught:
        walk.read(root, ListedFile("sub/gone", 1, 1))
    assert (caught.value.path, caught.value.reason) == ("sub/gone", "No such file or directory")
    (tmp_path / "link").symlink_to("sub/a")
    with pytest.raises(Unreadable, match="symbolic link"):
        walk.read(root, ListedFile("link", 1, 1))
    with pytest.raises(Unreadable, match="sub"):
        walk.read(root, ListedFile("sub", 1, 1))
    with pytest.raises(Unreadable):
        walk.read(root, ListedFile("nul\0byte", 1, 1))


# Bad input


def test_a_path_that_cannot_be_documented(tmp_path: Path) -> None:
    write(tmp_path, "file")
    for path, message in ((tmp_path / "none", "does not exist"), (tmp_path / "file", "is a file")):
        with pytest.raises(NotARepository, match=message) as caught:
            walk.walk(str(path))
        assert caught.value.what_to_do
        assert caught.value.exit_code == 2
        assert isinstance(caught.value, UserError)


def test_a_bare_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(NotARepository, match="bare") as caught:
        walk.walk(str(tmp_path / "bare.git"))
    assert "git clone" in caught.value.what_to_do


# Permissions: as root nothing is forbidden, so a child gives its rights up.


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own folders are private."""
    folder = Path(tempfile.mkdtemp(prefix="concordance-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    for place, _, _ in os.walk(folder):
        os.chmod(place, 0o755)
    shutil.rmtree(folder)


def as_nobody(ask: Callable[[], object]) -> Any:
    """Return the result of a function that runs as an unprivileged user."""
    if os.geteuid() != 0:
        return ask()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:  # whatever happens, the child must not go on as a second test runner
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, json.dumps(ask()).encode())
        except BaseException:
            os.write(writer, traceback.format_exc().encode())
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, answer.decode()
    return json.loads(answer)


@pytest.mark.parametrize("in_git", [False, True])
@pytest.mark.parametrize("below", ["", "sub"])
def test_an_unreadable_folder_does_not_stop_the_walk(open_folder: Path, in_git: bool, below: str) -> None:
    write(open_folder, "sub/a", "sub/shut/b", "sub/z")
    if in_git:
        git(open_folder, "init", "-q")
    (open_folder / "sub/shut").chmod(0)
    (open_folder / "sub/z").chmod(0)
    root = str(open_folder / below)
    prefix = "" if below else "sub/"

    def ask() -> object:
        entries = walk.walk(root)
        problems = []
        for entry in entries:
            if not entry.skip:
                try:
                    walk.read(root, entry)
                except Unreadable as error:
                    problems.append([error.path, error.reason])
        return [[entry.path, entry.skip, entry.note] for entry in entries], problems

    found, problems = as_nobody(ask)
    assert [f for f in found if not f[0].startswith(".git")] == [
        [f"{prefix}a", "", ""],
        [f"{prefix}shut", "unreadable", "Permission denied"],
        [f"{prefix}z", "", ""],
    ]
    assert problems == [[f"{prefix}z", "Permission denied"]]


def test_a_repository_that_may_not_be_read(open_folder: Path) -> None:
    write(open_folder, "shut/a")
    (open_folder / "shut").chmod(0)

    def ask() -> object:
        try:
            walk.walk(str(open_folder / "shut"))
        except NoPermission as error:
            return [error.message, error.what_to_do, error.exit_code]
        return None

    assert as_nobody(ask) == [
        f"no permission to read {open_folder}/shut",
        "Run as a user who may read it, or change its permissions",
        2,
    ]


# Hostile repositories


def test_nothing_that_a_repository_names_is_run(repo: Path, tmp_path: Path) -> None:
    write(repo, "a")
    commit(repo)
    trace = tmp_path / "trace"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {trace}\n")
    program.chmod(0o755)
    hooks = repo / ".git/hooks"
    shutil.rmtree(hooks, ignore_errors=True)
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "diff.external", "diff.evil.textconv", "diff.evil.command",
        "gpg.program", "core.sshCommand", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
        "credential.helper", "core.askPass", "core.gitProxy", "uploadpack.packObjectsHook", "pager.log",
    ):  # fmt: skip
        git(repo, "config", key, str(program))
    git(repo, "config", "mailmap.file", "/dev/zero")
    git(repo, "config", "log.showSignature", "true")
    git(repo, "config", "log.showRoot", "false")
    git(repo, "config", "alias.ls-files", f"!{program}")
    write(repo, ".gitattributes", text="* diff=evil filter=evil\n")
    write(repo, "a", text="changed, so that git would look at it\n")
    # a signed commit, and a blob to be fetched from a server that is a program
    git(repo, "config", "remote.origin.url", f"ext::{program} %S")
    git(repo, "config", "remote.origin.promisor", "true")
    git(repo, "config", "remote.origin.partialclonefilter", "blob:none")
    git(repo, "config", "core.repositoryFormatVersion", "1")
    git(repo, "config", "extensions.partialClone", "origin")
    git(repo, "config", "protocol.ext.allow", "always")
    raw = git(repo, "cat-file", "commit", "HEAD").replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n\n", 1)
    (tmp_path / "commit").write_text(raw)
    signed = git(repo, "hash-object", "-t", "commit", "-w", str(tmp_path / "commit")).strip()
    git(repo, "update-ref", "refs/heads/main", signed)
    blob = git(repo, "rev-parse", "HEAD:a").strip()
    shutil.rmtree(repo / ".git/objects" / blob[:2])
    trace.unlink(missing_ok=True)

    assert paths(repo) == [".gitattributes", "a"]
    assert [change.path for change in history.history(str(repo)).changes] == ["a"]
    assert [entry.skip for entry in walk.tree(str(repo), "HEAD")] == [Skip.UNREADABLE]
    with pytest.raises((Unreadable, ToolFailed)):
        list(walk.blobs(str(repo), [blob]))
    assert line_diff.changed_lines(str(repo)).keys() == {".gitattributes", "a"}
    assert not trace.exists(), trace.read_text()


def test_a_hook_s_variables_do_not_lead_elsewhere(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(repo, "a")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    monkeypatch.setenv("GIT_TRACE", "1")
    assert paths(repo) == ["a"]


def test_an_index_written_by_hand_leads_nowhere(repo: Path) -> None:
    write(repo, "a")
    git(repo, "add", "a")
    rows = b""
    for name in (b"../outside", b".git/config", b"/etc/passwd", b"a", b"sub/../../x", b"sub/.GIT/config"):
        about = struct.pack(">10I20sH", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0, b"\x11" * 20, len(name))
        rows += about + name + b"\0" * (8 - (len(about) + len(name)) % 8)
    index = b"DIRC" + struct.pack(">II", 2, 6) + rows
    (repo / ".git/index").write_bytes(index + hashlib.sha1(index).digest())
    write(repo.parent, "outside")
    with suppress(ToolFailed):  # git may refuse it, which is as good
        assert paths(repo) == ["a"]


def test_a_repository_of_another_user(repo: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs the right to give files away")
    write(repo, "a")
    write(repo, ".gitignore", text="*.log\n")
    write(repo, "x.log")
    for place, folders, files in os.walk(repo):
        for name in (*folders, *files):
            os.chown(os.path.join(place, name), NOBODY, NOBODY)
    os.chown(repo, NOBODY, NOBODY)
    assert paths(repo) == [".gitignore", "a"]


# Revisions


def test_a_tree_at_a_revision(repo: Path) -> None:
    write(repo, "a", "sub/b", "sub/line\nbreak", text="old\n")
    (repo / "link").symlink_to("sub/b")
    commit(repo)
    git(repo, "tag", "old")
    write(repo, "a", "new", text="newer\n")
    commit(repo)
    entries = {entry.path: entry for entry in walk.tree(str(repo), "old")}
    assert list(entries) == ["a", "link", "sub/b", "sub/line\nbreak"]
    assert (entries["a"].size, entries["a"].blob) == (4, git(repo, "rev-parse", "old:a").strip())
    assert (entries["link"].skip, entries["link"].note) == (Skip.SYMLINK, "points to sub/b")
    assert list(walk.blobs(str(repo), [entries["a"].blob, entries["link"].blob])) == [b"old\n", b"sub/b"]
    assert [entry.path for entry in walk.tree(str(repo / "sub"), "old")] == ["b", "line\nbreak"]


@pytest.mark.parametrize("revision", ["nothing", "--help", "-r", "HEAD:a", ""])
def test_an_unknown_revision(repo: Path, revision: str) -> None:
    write(repo, "a")
    commit(repo)
    with pytest.raises(UnknownRevision) as caught:
        walk.tree(str(repo), revision)
    assert caught.value.exit_code == 2


def test_no_revisions_in_a_plain_folder(tmp_path: Path) -> None:
    with pytest.raises(NotARepository):
        walk.tree(str(tmp_path), "HEAD")


def test_a_blob_that_is_not_there(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        list(walk.blobs(str(repo), ["1" * 40]))
    with pytest.raises(ToolFailed):
        list(walk.blobs(str(tmp_path), ["1" * 40]))


# The root, and the tools


def test_the_repository_that_holds_a_path(repo: Path, tmp_path: Path) -> None:
    write(repo, "a/b/c")
    assert walk.find_root(str(repo / "a/b")) == str(repo)
    assert walk.find_root(str(repo / "a/b/c")) == str(repo)
    (repo / "a/.concordance").mkdir()
    assert walk.find_root(str(repo / "a/b")) == str(repo / "a")
    assert walk.find_root(str(tmp_path)) == str(tmp_path)


def test_running_a_program(tmp_path: Path) -> None:
    write = "import sys; sys.stderr.write('e' * 300_000); sys.stdout.write('o' * 300_000)"
    assert b"".join(subprocesses.run([sys.executable, "-c", write], str(tmp_path))) == b"o" * 300_000
    with pytest.raises(ToolFailed, match=r"exit code 3\): too bad"):
        list(subprocesses.run([sys.executable, "-c", "import sys; sys.stderr.write('too bad'); sys.exit(3)"], str(tmp_path)))
    with pytest.raises(ToolFailed, match="not installed"):
        list(subprocesses.run(["no-such-program"], str(tmp_path)))
    with pytest.raises(ToolFailed, match="cannot be started"):
        list(subprocesses.run([sys.executable], str(tmp_path / "none")))


def test_errors_come_whole_out_of_another_process() -> None:
    for error in (Unreadable("a", "b"), ToolFailed("a", "b"), NotARepository("a", "b")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.exit_code) == (type(error), str(error), error.exit_code)


def test_a_program_that_is_not_read_to_its_end_is_stopped(tmp_path: Path) -> None:
    pieces = subprocesses.run([sys.executable, "-c", "while True: print('x' * 1000)"], str(tmp_path))
    assert next(pieces)
    pieces.close()  # type: ignore[attr-defined]
