"""`concord watch`: what it follows, which changes become one update, what it prints, and how it ends."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book
from concordance.base.errors import NotARepository, StoreFailed
from concordance.base.model import Skip
from concordance.collect import walk
from concordance.workflow import builds
from concordance.workflow.watch import file_watcher, watch
from concordance.workflow.watch.file_watcher import NotifyingWatcher, PollingWatcher
from concordance.workflow.watch.watch import CurrentBook, Update, Watch
from tests.support import books, program
from tests.support.program import concord, git, processes, started, wait_for, write

LONG = 120  # seconds, on a machine that has other work


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    """A test that waits for something that does not happen fails, instead of waiting forever."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError("it did not come to pass")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONG)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# The list of files


def _act(folder: Path, dice: random.Random) -> set[str]:
    """Do something to a repository; return the changed paths."""
    paths = sorted(entry.path for entry in walk.walk(str(folder)) if entry.skip is not Skip.SYMLINK)
    path, name = dice.choice(paths), f"new{dice.randrange(1000)}"
    what = dice.randrange(8)
    if what == 0:
        (folder / path).write_text(f"x = {dice.randrange(1000)}\n")
    elif what == 1:
        (folder / path).unlink()
    elif what == 2:
        path = str(Path(path).parent / f"{name}.py")
        (folder / path).write_text("def fresh(): pass\n")
    elif what == 3:
        path = f"{name}.o"  # which git ignores
        (folder / path).write_text("made")
    elif what == 4:
        (folder / f"{name}.py").symlink_to("a.py")
        path = f"{name}.py"
    elif what == 5:
        os.rename(folder / path, folder / f"{name}.txt")
        return {path, f"{name}.txt"}
    elif what == 6:
        (folder / path).unlink()
        (folder / path).mkdir()
        (folder / path / "inside.py").write_text("")
    else:
        (folder / ".gitignore").write_text(dice.choice(("*.o\n", "*.o\n*.txt\n")))
        path = ".gitignore"
    return {path}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("in_git", [True, False], ids=["git", "plain"])
def test_a_list_that_is_brought_up_to_date_is_that_of_a_walk(
    folder: Path, in_git: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    monkeypatch.chdir(folder)
    write(folder, {**program.SAMPLE, ".gitignore": "*.o\n"})
    if in_git:
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "first")
    known, short = walk.walk(str(folder)), 0
    for _ in range(25):
        found = walk.update_listing(dice.choice((str(folder), ".")), known, _act(folder, dice))
        known = walk.walk(str(folder))
        if found is not None:
            short += 1
            assert found == known
    assert short > 5  # else it would be of no use


def test_lists_that_need_a_walk(repo: Path) -> None:
    known = walk.walk(str(repo))
    assert walk.update_listing(str(repo), known, {"a.py"}) == known
    for path in (".gitignore", "lib", "lib/.gitignore", "docs/manifest.json"):
        assert walk.update_listing(str(repo), known, {path}) is None, path
    assert walk.update_listing(str(repo), known, {f"{number}.py" for number in range(1000)}) is None
    shutil.rmtree(repo / "lib")
    assert walk.update_listing(str(repo), known, {"lib"}) is None


# What is followed


@pytest.fixture
def followed(repo: Path) -> Iterator[Callable[[], file_watcher.FileChanges]]:
    """A repository with a book in `docs` that is watched; calling it returns the next changes."""
    write(repo, {".gitignore": "*.o\nbuild/\n", "build/made.py": "", "docs/guide.md": "# Guide\n"})
    (repo / "elsewhere").symlink_to(repo.parent)
    follower = NotifyingWatcher(str(repo), str(repo / "docs"))

    def following_changes() -> file_watcher.FileChanges:
        while True:
            found = follower.changes(LONG)
            if found.paths or found.recheck_all:
                return found

    yield following_changes
    follower.close()


def test_files_are_followed(repo: Path, followed: Callable[[], file_watcher.FileChanges]) -> None:
    (repo / "a.py").write_text("def other(): pass\n")
    assert followed() == ({"a.py"}, False)
    os.replace(repo / "plain.cpp", repo / "lib/other.cpp")
    assert followed() == ({"plain.cpp", "lib/other.cpp"}, False)
    (repo / "lib/other.cpp").unlink()
    assert followed() == ({"lib/other.cpp"}, False)
    (repo / "docs/guide.md").write_text("# Another guide\n")
    assert followed() == ({"docs/guide.md"}, False)


def test_new_folders_are_followed(repo: Path, followed: Callable[[], file_watcher.FileChanges]) -> None:
    (repo / "new/deep").mkdir(parents=True)
    assert followed().recheck_all
    (repo / "new/deep/a.py").write_text("")
    assert followed() == ({"new/deep/a.py"}, False)
    shutil.rmtree(repo / "lib")
    (repo / "lib").mkdir()
    assert followed().recheck_all
    (repo / "lib/again.py").write_text("")
    assert followed() == ({"lib/again.py"}, False)


def test_what_is_not_ours_to_follow(repo: Path, followed: Callable[[], file_watcher.FileChanges]) -> None:
    """What git ignores, git's own files, the store, pages, and what is behind a link."""
    (repo / "build/made.py").write_text("x = 1\n")
    (repo.parent / "outside.py").write_text("x = 1\n")
    write(
        repo, {".git/COMMIT_EDITMSG": "", ".git/objects/ff/0": "", ".concordance/index.db": "", "docs/a.py_docs.md": ""}
    )
    write(repo, {"docs/manifest.json": "{}", "docs/.claims/a.py_docs.md.json": "{}", "docs/index.md": ""})
    (repo / "a.py").write_text("x = 1\n")
    assert followed().paths == {"a.py"}


@pytest.mark.parametrize(
    "command",
    [
        ("checkout", "-q", "-b", "other"),
        ("commit", "-q", "--allow-empty", "-m", "second"),
        ("rm", "-q", "--cached", "a.py"),
    ],
    ids=str,
)
def test_git_is_followed(repo: Path, followed: Callable[[], file_watcher.FileChanges], command: tuple[str, ...]) -> None:
    git(repo, *command)
    assert followed() == (set(), True)


def test_rules_of_git_are_followed(repo: Path, followed: Callable[[], file_watcher.FileChanges]) -> None:
    (repo / ".gitignore").write_text("*.o\n")
    assert followed().recheck_all
    (repo / "build/made.py").write_text("x = 2\n")  # no longer ignored
    assert followed().paths == {"build/made.py"}


def test_a_name_that_is_no_text(repo: Path, followed: Callable[[], file_watcher.FileChanges]) -> None:
    with open(os.fsencode(repo) + b"/caf\xe9.py", "w"):
        pass
    assert followed().recheck_all


def test_a_work_tree_beside_its_repository(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "beside"))
    follower = NotifyingWatcher(str(tmp_path / "beside"), str(tmp_path / "book"))
    git(tmp_path / "beside", "commit", "-q", "--allow-empty", "-m", "second")
    assert wait_for(lambda: follower.changes(1.0).recheck_all, LONG)
    follower.close()


def test_without_notifications_the_disk_is_looked_at(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watcher, "POLL", 0.05)
    follower = PollingWatcher(lambda: walk.walk_with_counts(str(repo)))
    assert not follower.changes(0.2).recheck_all
    (repo / "new.py").write_text("")
    assert follower.changes(LONG).recheck_all
    assert not follower.changes(0.2).recheck_all


# Updates


def _watched(repo: Path, *steps: Callable[[], object], out: str = "docs", poll: bool = False) -> list[Update]:
    """Watch a repository; each update is followed by the next step, the last one by the end."""
    updates, waiting = list[Update](), iter(steps)

    def tell(update: Update) -> None:
        updates.append(update)
        step = next(waiting, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    current = CurrentBook(str(repo), str(repo / out), Book, 1, _quiet)
    with pytest.raises(KeyboardInterrupt):
        Watch(current, poll, tell).run()
    return updates


def _quiet(step: str, done: int, total: int, word: str) -> None:
    assert step != "say", word


def _is_as_if_built_anew(repo: Path, out: Path, tmp_path: Path) -> bool:
    clean = tmp_path / "clean"
    shutil.copytree(repo, clean, symlinks=True, ignore=shutil.ignore_patterns(".concordance"))
    shutil.rmtree(clean / out.name, ignore_errors=True)
    books.write(clean, clean / out.name)
    return books.contents(clean / out.name) == books.contents(out)


def test_updates(repo: Path, tmp_path: Path) -> None:
    def edit() -> None:
        (repo / "a.py").write_text("class Tree:\n    def grow(self) -> int:\n        return 1\n")

    def add() -> None:
        write(repo, {"young/twig.py": "from a import Tree\n"})

    def take() -> None:
        (repo / "plain.cpp").unlink()

    first, edited, added, taken = _watched(repo, edit, add, take)
    assert (first.is_first, first.summary.read, first.book.written) == (True, 6, first.book.pages)
    assert (edited.is_first, edited.summary.files, edited.summary.read) == (False, 6, 1)
    assert {"a.py_docs.md", "a.py_kw.md"} <= set(edited.book.changed) < set(books.pages(repo / "docs"))
    assert added.summary.files == 7
    assert "young/twig.py_docs.md" in added.book.changed
    assert (taken.summary.files, taken.summary.removed) == (6, 1)
    assert "plain.cpp_docs.md" in taken.book.gone
    assert _is_as_if_built_anew(repo, repo / "docs", tmp_path)


def test_others_write_the_book_meanwhile(repo: Path, tmp_path: Path) -> None:
    """What a long-running process keeps about reads and pages counts only while nobody else has written them."""
    out = repo / "docs"
    current = CurrentBook(str(repo), str(out), Book, 2, _quiet)

    def edited(text: str, by_us: bool) -> None:
        write(repo, {"a.py": text})
        if by_us:
            assert current.update(["a.py"], False) is not None
        else:
            concord("build", repo, "--out", out)

    current.update([], True)
    edited("class Tree:\n    pass\n", True)
    edited("class Shrub:\n    pass\n", False)
    edited("class Shrub:\n    def grow(self): pass\n", True)
    assert _is_as_if_built_anew(repo, out, tmp_path / "1")
    before = books.contents(out)
    edited("class Shrub:\n    def fell(self): pass\n", True)
    for path, data in before.items():  # as git does, when it puts the pages of another commit in their place
        (out / path).write_bytes(data)
    edited("class Shrub:\n    def fell(self, axe): pass\n", True)
    assert _is_as_if_built_anew(repo, out, tmp_path / "2")
    (out / "a.py_docs.md").unlink()
    write(repo, {"plain.cpp": "int plain;\n"})
    current.update(["plain.cpp"], True)
    assert _is_as_if_built_anew(repo, out, tmp_path / "3")


def test_a_checkout_is_one_update(repo: Path, tmp_path: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other")
    write(repo, {f"part{n % 30}/m{n}.py": f"def f{n}(): pass\n" for n in range(600)})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "many")
    git(repo, "checkout", "-q", "main")
    _, many, few = _watched(
        repo,
        lambda: git(repo, "checkout", "-q", "other"),
        lambda: git(repo, "checkout", "-q", "main"),
        out=".concordance/book",
    )
    assert (many.summary.files, many.summary.read) == (606, 600)
    assert (few.summary.files, few.summary.removed) == (6, 600)


def test_nothing_changed(repo: Path) -> None:
    """A touched file, a commit and our own output are examined, and not mentioned."""

    def stir() -> None:
        git(repo, "commit", "-q", "--allow-empty", "-m", "second")
        git(repo, "status")
        (repo / "new.py").write_text("")

    _, update = _watched(repo, stir)
    assert update.summary.files == 7


def test_the_tables_of_c_are_loaded_in_advance(repo: Path, tmp_path: Path) -> None:
    """They take as much memory as all else that is kept for an update, and the first edit should not wait for them."""
    out = repo / "docs"
    CurrentBook(str(repo), str(out), Book, 1, _quiet).update([], True)
    current = CurrentBook(str(repo), str(out), Book, 1, _quiet)
    current.update([], True)  # nothing has changed, so nothing is linked
    current.preload()
    tables = current._resident.store.tables
    assert tables is not None
    with (repo / "plain.cpp").open("a") as file:
        file.write("int added() { return 1; }\n")
    current.update(["plain.cpp"], False)
    now = current._resident.store.tables
    assert now is not None
    assert now.table is tables.table
    assert _is_as_if_built_anew(repo, out, tmp_path)


def test_settings_that_change(repo: Path) -> None:
    def leave_out() -> None:
        (repo / "concordance.toml").write_text('exclude = ["lib/"]\n')

    first, second = _watched(repo, leave_out)
    assert (first.summary.files, second.summary.files) == (6, 4)


def test_polled(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watcher, "POLL", 0.05)
    assert len(_watched(repo, lambda: (repo / "new.py").write_text(""), poll=True)) == 2


def test_no_notifications(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watcher, "POLL", 0.05)
    monkeypatch.setattr(watch, "NotifyingWatcher", _Limited)
    said, updates = [], []

    def tell(update: Update) -> None:
        updates.append(update)
        if len(updates) == 2:
            raise KeyboardInterrupt
        (repo / "new.py").write_text("")

    current = CurrentBook(
        str(repo), None, Book, 1, lambda step, done, total, word: said.append(word) if step == "say" else None
    )
    with pytest.raises(KeyboardInterrupt):
        Watch(current, False, tell).run()
    assert "max_user_watches" in said[0]
    assert len(said) == 1


class _Limited(NotifyingWatcher):
    def __init__(self, *_: object) -> None:
        raise OSError(errno.ENOSPC, "OS file watch limit reached.")


def test_errors_are_said_once_and_the_work_goes_on(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[Exception | None] = [
        None,
        StoreFailed("the disk is full"),
        StoreFailed("the disk is full"),
        KeyError("x"),
    ]
    said: list[str] = []
    book = builds.write_book

    def failing(*args: Any) -> Any:
        error = errors.pop(0) if errors else None
        if error is not None:
            raise error
        return book(*args)

    def tell(update: Update) -> None:
        if said:
            raise KeyboardInterrupt
        (repo / "new.py").write_text("")

    monkeypatch.setattr(builds, "write_book", failing)
    monkeypatch.setattr(watch, "RETRY_SECONDS", 0.05)
    current = CurrentBook(
        str(repo), None, Book, 1, lambda step, done, total, word: said.append(word) if step == "say" else None
    )
    with pytest.raises(KeyboardInterrupt):
        Watch(current, False, tell).run()
    assert [word.partition(".")[0].partition(";")[0] for word in said] == [
        "the disk is full",
        "the program failed: KeyError: 'x'",
    ]
    assert (repo / ".concordance/book/new.py_docs.md").exists()


def test_a_repository_that_vanishes(repo: Path) -> None:
    current = CurrentBook(str(repo), None, Book, 1, lambda *_: None)
    with pytest.raises(NotARepository, match="no longer exists"):
        Watch(current, False, lambda update: shutil.rmtree(repo)).run()


# The command


@contextmanager
def _running(repo: Path, *args: str, end: signal.Signals = signal.SIGINT, **more: Any) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A program that watches, and the lines that it has printed so far; it is interrupted in the end, and must exit
    cleanly."""
    running = started("watch", repo, "--jobs", "1", *args, **more)
    lines: list[str] = []
    assert running.stdout is not None
    assert running.stderr is not None
    reader = threading.Thread(target=lines.extend, args=(running.stdout,))
    reader.start()
    try:
        yield running, lines
        running.send_signal(end)
        assert running.wait(LONG) == 128 + end
        said = running.stderr.read().strip()
        assert said == "concord: stopped; the last complete store is unchanged, and files read so far are cached"
        wait_for(lambda: not processes(running.pid), LONG)
    finally:
        running.kill()
        running.wait()
        reader.join()
        running.stdout.close()
        running.stderr.close()


def _deaf() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda end: end.name)
def test_the_command(repo: Path, end: signal.Signals) -> None:
    in_background = end == signal.SIGTERM  # where a shell has Ctrl-C ignored
    with _running(repo, "--json", end=end, preexec_fn=_deaf if in_background else None) as (running, lines):
        wait_for(lambda: lines, LONG)
        assert json.loads(lines[0])["read"] == 6
        (repo / "a.py").write_text("def other(): pass\n")
        wait_for(lambda: len(lines) > 1, LONG)
        update = json.loads(lines[1])
        assert (update["read"], "a.py_docs.md" in update["written"]) == (1, True)
        if in_background:
            running.send_signal(signal.SIGINT)


def test_nothing_is_left_of_a_watch_that_is_killed(repo: Path) -> None:
    running = started("watch", repo, "--jobs", "2")
    wait_for(lambda: (repo / ".concordance/book/manifest.json").exists(), LONG)
    running.kill()
    running.communicate(timeout=LONG)
    wait_for(lambda: not processes(running.pid), LONG)


def test_what_people_read(repo: Path) -> None:
    with _running(repo) as (_, lines):
        wait_for(lambda: len(lines) == 3, LONG)
        assert lines[0].startswith(f"watching {repo}: 6 files, ")
        (repo / "a.py").write_text("def other(): pass\n")
        wait_for(lambda: any("more; --verbose lists all" in line for line in lines), LONG)
        assert " 1 file read, " in lines[3]
        assert lines[4] == "          a.py_docs.md\n"


def test_no_repository(tmp_path: Path) -> None:
    assert "does not exist" in concord("watch", tmp_path / "none", code=2).stderr


def test_wrong_settings_are_said(repo: Path) -> None:
    (repo / "concordance.toml").write_text("exlude = []\n")
    assert "did you mean `exclude`" in concord("watch", repo, code=2).stderr


def test_interrupted_at_any_moment(folder: Path) -> None:
    program.crowd(folder, 120)
    for moment in (0.3, 0.9, 1.5):
        running = started("watch", folder)
        wait_for(lambda group=running.pid: len(processes(group)) > 1, LONG)  # Python itself answers while it starts
        time.sleep(moment)  # wherever it is then
        running.send_signal(signal.SIGINT)
        said = running.communicate(timeout=LONG)
        assert "Traceback" not in "".join(said)
        assert running.returncode in (0, 130, -signal.SIGINT), said  # before it has begun, Python itself ends
        wait_for(lambda group=running.pid: not processes(group), LONG)
    concord("build", folder)
    assert books.problems(folder, folder / ".concordance/book") == []
