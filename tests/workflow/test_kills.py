"""A build that is killed at any moment: existing data stays intact, and the next run finishes the work."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from concordance.base.errors import StoreBroken
from concordance.extract import engine
from concordance.facts.fulltext.file_words import content_words, prepare_file
from concordance.facts.fulltext.index import TextWriter, open_shards, outdated_paths
from concordance.facts.fulltext.words import WordNormalizer
from tests.support import books, program, stopping
from tests.support.program import age, ask, build, concord, dump, write
from tests.support.stopping import stopped

ONLY_FIRST = {"the store would be renamed", "the index would be placed", "the index is placed", "the notes of pages would be renamed"}
ONLY_LATER = {"pages that are gone are taken away"}
BOTH = {"the store is written", "a page is there without its claims"}


def before(folder: Path) -> None:
    """The repository before the change."""
    write(folder, program.SAMPLE)
    write(folder, {f"part/m{n}.py": f"from a import Tree\n\n\ndef f{n}():\n    return Tree({n})\n" for n in range(12)})
    write(folder, {"part/gone.py": "def gone(): pass\n", "docs/guide.md": "# Guide\n\nTrees `grow`.\n"})
    age(folder)


def change(folder: Path) -> None:
    """What a later build finds."""
    write(folder, {"a.py": program.SAMPLE["a.py"].replace("A tree", "A larch") + "\n\ndef fell(): pass\n"})
    write(folder, {f"part/m{n}.py": f"from a import fell\n\n\ndef g{n}():\n    fell()\n" for n in range(6)})
    write(folder, {"part/fresh.py": "def sapling(): pass\n"})
    (folder / "part/gone.py").unlink()
    age(folder, 60)


class State(NamedTuple):
    """Everything that a reader can see of a repository."""

    store: dict[str, Any]
    book: dict[str, bytes]
    texts: dict[str, int]


def seen(folder: Path) -> State:
    home = folder / ".concordance"
    return State(dump(folder), books.contents(home / "book"), texts(folder))


def texts(folder: Path) -> dict[str, int]:
    """Return how many documents the parts of the full-text index have."""
    found = open_shards(str(folder / ".concordance"))
    return {f"{place} {name}": getattr(shelf, f"_{name}").num_docs for place, shelf in enumerate(found) for name in ("files", "pieces")}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, State, State]]:
    """A repository with its book, and the results of clean builds before and after the change."""
    home = tmp_path_factory.mktemp("models")
    states = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(home / "cache"))
        for name in ("first", "later"):
            folder = home / name / "repo"
            folder.mkdir(parents=True)
            before(folder)
            if name == "later":
                change(folder)
            build(folder)
            states.append(seen(folder))
        yield home, states[0], states[1]


def cases() -> Iterator[tuple[str, bool]]:
    for point in stopping.POINTS:
        if point not in ONLY_LATER and (point in ONLY_FIRST or point in BOTH):
            yield point, True
        if point not in ONLY_FIRST:
            yield point, False


@pytest.mark.parametrize(("point", "first"), list(cases()), ids=lambda value: value if isinstance(value, str) else ("later", "first")[value])
def test_a_build_that_is_stopped_when(point: str, first: bool, models: tuple[Path, State, State], tmp_path: Path) -> None:
    home, old, new = models
    folder = tmp_path / "repo"
    if first:
        folder.mkdir()
        before(folder)
        change(folder)
    else:
        shutil.copytree(home / "first/repo", folder)
        change(folder)
    done = stopped(point, "build", folder)
    if stopping.POINTS[point].full:
        assert done.returncode == 1 and "Free some space" in done.stderr, done
    else:
        assert done.returncode == -signal.SIGKILL, done
    assert "Traceback" not in done.stderr
    check_what_is_left(folder, None if first else old, new)
    out = folder / ".concordance/book"
    books.write(folder, out)
    assert seen(folder) == new
    assert not list((folder / ".concordance").rglob("*.new*"))
    assert books.problems(folder, out) == []
    again = books.write(folder, out)
    assert (again.written, again.removed) == (0, 0)


def check_what_is_left(folder: Path, old: State | None, new: State) -> None:
    """A reader sees either the state before or the one after; nothing in between."""
    home = folder / ".concordance"
    if old is not None or (home / "index.db").exists():
        assert dump(folder) in ([new.store] if old is None else [old.store, new.store])
        connection = sqlite3.connect(home / "index.db")
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        paths = {row["path"] for row in ask("search", "tree", "--repo", folder, "--no-update")}
        assert paths <= {file.path for file in dump(folder)["ledger"]} and "a.py" in paths
    left = books.contents(home / "book") if (home / "book").exists() else {}
    pages = {path: data for path, data in left.items() if path.endswith((".md", ".md.json"))}
    for path, data in pages.items():
        assert data in ((old.book.get(path) if old else None), new.book.get(path)), f"{path} is half written"
    if old is not None:
        assert not (old.book.keys() & new.book.keys()) - left.keys(), "lost"


def test_what_was_read_is_not_read_again(folder: Path) -> None:
    """A first build that is killed after reading everything leaves all of it to the next."""
    before(folder)
    stopped("all but the store is written", "build", folder)
    summary = build(folder)
    assert summary["read"] == summary["cached"] == summary["files"] > 0


def test_pages_that_were_written_are_not_written_again(folder: Path) -> None:
    before(folder)
    stopped("the list of pages would be renamed", "build", folder)
    assert list((folder / ".concordance/book").rglob("*_docs.md"))
    assert build(folder)["book"]["written"] < 5


def test_a_file_that_came_and_went_around_a_kill(folder: Path) -> None:
    """The text index was written, the store was not, and then the file is removed."""
    before(folder)
    build(folder)
    write(folder, {"brief.py": "def ephemeral_thing(): pass\n"})
    stopped("the index is written", "build", folder)
    (folder / "brief.py").unlink()
    asked = ("search", "ephemeral thing", "--repo", folder)
    assert "brief.py" not in [row["path"] for row in ask(*asked, "--no-update")]
    build(folder)
    found = [shelf.path(file) for shelf in open_shards(str(folder / ".concordance")) for file in _all(shelf)]
    assert "brief.py" not in found and "a.py" in found


def _all(shelf: Any) -> list[Any]:
    from concordance.facts.fulltext.index import FieldQuery

    return list(shelf.files([FieldQuery("body", (word,), 1.0) for word in ("def", "ephemer", "tree", "import")], "", 100))


def test_a_change_that_was_taken_back_around_a_kill(folder: Path) -> None:
    """By size and time the file is what the store knows, but the text index has read another version."""
    before(folder)
    build(folder)
    was = (folder / "part/gone.py").stat()
    write(folder, {"part/gone.py": "def zany(): pass\n"})
    stopped("the index is written", "build", folder)
    write(folder, {"part/gone.py": "def gone(): pass\n"})
    os.utime(folder / "part/gone.py", ns=(was.st_mtime_ns, was.st_mtime_ns))
    build(folder)
    assert ask("search", "zany", "--repo", folder) == []
    assert "part/gone.py" in [row["path"] for row in ask("search", "gone", "--repo", folder)]


def test_what_a_killed_build_had_begun_of_the_index(tmp_path: Path) -> None:
    """The files that would be written are already there, so the index is made anew."""
    home = tmp_path / "store"
    home.mkdir()
    _indexed(home, None, "1", "a.py", "b.py")
    shutil.copytree(home, tmp_path / "saved")
    _indexed(home, "1", "2", "b.py", "c.py")
    begun = [path.relative_to(home) for path in home.glob("text/*/*/*.del")]
    assert begun
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "saved", home)
    for path in begun:
        (home / path).write_bytes(b"half")
    with pytest.raises(StoreBroken):
        _indexed(home, "1", "2", "b.py", "c.py")
    assert _indexed(home, "1", "2", "a.py", "b.py", "c.py").is_new
    assert outdated_paths(str(home), "2") == frozenset() and outdated_paths(str(home), "1") is None


def _indexed(home: Path, store: str | None, after: str, *paths: str) -> TextWriter:
    writer = TextWriter(str(home), store)
    for path in paths:
        facts = engine.extract("x = 1\n", "python")
        words = WordNormalizer()
        writer.put(path, "source", 6, prepare_file(path, content_words("x = 1\n", facts, words), facts, words))
    writer.finish(after)
    writer.place_it()
    return writer


def test_pages_of_a_change_that_was_taken_back_around_a_kill(folder: Path) -> None:
    """The pages that were written before the kill are as long as the new ones."""
    before(folder)
    build(folder)
    good = seen(folder)
    was, text = (folder / "a.py").stat(), (folder / "a.py").read_text()
    write(folder, {"a.py": text.replace("A tree", "A yarn")})
    stopped("the list of pages would be renamed", "build", folder)
    assert books.contents(folder / ".concordance/book")["a.py_docs.md"] != good.book["a.py_docs.md"]
    write(folder, {"a.py": text})
    os.utime(folder / "a.py", ns=(was.st_mtime_ns, was.st_mtime_ns))
    build(folder)
    assert seen(folder).book == good.book


def test_a_store_of_other_readers_around_a_kill(folder: Path) -> None:
    """It is built anew as a whole; until then the old store answers, with an index that is already the new one's."""
    before(folder)
    build(folder)
    program.alter_store(folder, "UPDATE meta SET value = 'others' WHERE key = 'readers'")
    (folder / "part/gone.py").unlink()
    stopped("the index is placed", "build", folder)
    rows = ask("search", "tree", "--repo", folder, "--no-update")
    assert "a.py" in [row["path"] for row in rows]
    books.write(folder, folder / ".concordance/book")
    assert "part/gone.py" not in program.ledger(folder)
    assert texts(folder)["0 files"] + texts(folder)["1 files"] == len(program.ledger(folder))


def test_a_book_elsewhere_that_is_stopped(folder: Path) -> None:
    """Its pages are among the repository's files, but are not taken for files of it."""
    before(folder)
    stopped("claims are there", "build", folder, "--out", folder / "docs/book")
    summary = build(folder, "--out", str(folder / "docs/book"))
    assert summary["files"] == 20
    assert concord("verify", "--repo", folder, "--out", folder / "docs/book").stdout.startswith("0 problems")


def test_a_power_cut_that_left_files_empty(folder: Path) -> None:
    """A file system may record a file's new name before its content."""
    before(folder)
    build(folder)
    good, out = seen(folder), folder / ".concordance/book"
    for path in ("a.py_docs.md", ".claims/a.py_docs.md.json", "lib/.claims/b.py_docs.md.json", "part/m3.py_kw.md"):
        os.truncate(out / path, 0)
    build(folder)
    assert seen(folder) == good
    for path in ("manifest.json", "index.md"):
        os.truncate(out / path, 0)
    build(folder)
    assert seen(folder) == good
    assert books.problems(folder, out) == []
