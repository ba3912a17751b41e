"""Stored data is checked before it is used: damage is detected, and the next build repairs it."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
import zstandard

from concordance.base.config import Book, Config
from concordance.base.errors import StoreBroken, UserError
from concordance.base.progress import BuildSummary
from concordance.collect import walk
from concordance.extract.cfamily import macros
from concordance.facts.cache import Cache, CachedFileDecoder, encode_cached_file
from concordance.facts.fulltext import index
from concordance.facts.integrity import checksums
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.query.index.repository import Index
from concordance.workflow import builds
from concordance.workflow.pipeline import Build
from concordance.workflow.stages import extract
from tests.support import books
from tests.support.program import SAMPLE, age, ask, concord, dump, remove_store, write


def run(folder: Path) -> BuildSummary:
    return Build(str(folder), Config(jobs=1)).run()


def made(folder: Path, out: Path | None = None) -> int:
    """Write the book; return its number of files."""
    return builds.write_book(str(folder), str(out) if out is not None else None, jobs=1)[0].files


def flip(path: Path, seed: int, bits: int = 20) -> None:
    """Flip some bits of a file."""
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def names(folder: Path, path: str) -> list[str]:
    with Facts(str(folder / ".concordance")) as facts:
        return [symbol.name for symbol in facts.of(path).symbols]


# --- edits that leave size and modification time as they were


def test_an_edit_of_the_same_size_and_time_is_seen(repo: Path) -> None:
    run(repo)
    was = (repo / "plain.cpp").stat()
    write(repo, {"plain.cpp": "int enigma() { return 42; }\n"})
    os.utime(repo / "plain.cpp", ns=(was.st_mtime_ns, was.st_mtime_ns))
    assert run(repo).read == 1
    assert names(repo, "plain.cpp") == ["enigma"]


def test_a_file_that_was_put_in_place_of_another_is_seen(repo: Path) -> None:
    """By its change time alone, the file would be older than the build."""
    write(repo, {"plain.new": "int enigma() { return 42; }\n"})
    was = (repo / "plain.cpp").stat()
    os.utime(repo / "plain.new", ns=(was.st_mtime_ns, was.st_mtime_ns))
    run(repo)
    os.replace(repo / "plain.new", repo / "plain.cpp")
    run(repo)
    assert names(repo, "plain.cpp") == ["enigma"]


def test_a_question_sees_text_that_was_changed_under_it(repo: Path) -> None:
    """Lines of a file that changed since it was read are not shown."""
    run(repo)
    was = (repo / "plain.cpp").stat()
    write(repo, {"plain.cpp": "int enigma() { return 42; }\n"})
    os.utime(repo / "plain.cpp", ns=(was.st_mtime_ns, was.st_mtime_ns))
    with Facts(str(repo / ".concordance")) as facts:
        assert Index(facts, str(repo), Book()).open_file("plain.cpp").text() is None


def test_a_store_that_was_moved_reads_nothing_again(repo: Path, tmp_path: Path) -> None:
    """A cache restored beside a new checkout has other change times, inodes and modification times."""
    run(repo)
    before = dump(repo)
    copy = tmp_path / "copy"
    shutil.copytree(repo, copy)
    age(copy, 30)
    assert (run(copy).read, run(copy).unchanged) == (0, 6)
    assert dump(copy) == before


def test_times_of_many_files_are_renewed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concordance.workflow.pipeline.MIN_RENEWED", 1)
    run(repo)
    age(repo, 30)
    assert run(repo).read == 0
    with Facts(str(repo / ".concordance")) as facts:
        assert {file.changed for file in facts.files()} == {(repo / file.path).stat().st_mtime_ns for file in facts.files()}
    update = run(repo)
    assert (update.read, update.unchanged) == (0, 6)


# --- the fact cache


def test_a_damaged_value_of_the_cache_is_none(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), 1 << 30)
    cache.put([(b"one", b"first"), (b"two", b"second")])
    cache.close()
    with sqlite3.connect(tmp_path / "facts.db") as connection:
        connection.execute("UPDATE facts SET packed = (SELECT packed FROM facts WHERE key = ?) WHERE key = ?", (b"one", b"two"))
    cache = Cache(str(tmp_path), 1 << 30)
    assert (cache.get(b"one"), cache.get(b"two")) == (b"first", None)
    cache.put([(b"two", b"second")])
    assert cache.get(b"two") == b"second"
    cache.close()


def test_the_cache_is_checked_if_it_had_a_damaged_value_not_if_two_files_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, checks = Cache(str(tmp_path), 1 << 30), list[str]()
    monkeypatch.setattr(cache, "drop_damaged", lambda: checks.append("checked"))
    cache.put([(b"one", b"first")])
    cache.put([(b"one", b"first")])
    cache.trim()
    assert not checks
    with sqlite3.connect(tmp_path / "facts.db") as connection:
        connection.execute("UPDATE facts SET packed = ?", (b"damaged",))
    cache.put([(b"one", b"first")])
    cache.trim()
    assert checks == ["checked"]
    cache.close()


class Extraction:
    """Extracts one file with a cache of its own."""

    def __init__(self, repo: Path, cache: Path, path: str) -> None:
        self.job = extract.Job(str(repo), Config(), "", "version", "cpp", "")
        self.cache = Cache(str(cache), 1 << 30)
        self.state = extract.extract_state(self.job, self.cache, macros.merge([]))
        [self.entry] = [entry for entry in walk.walk_with_counts(str(repo))[0] if entry.path == path]
        self.data = (repo / path).read_bytes()

    def at(self, path: str) -> ExtractedFile:
        return extract.extract_content(self.job, self.state, self.entry._replace(path=path), self.data)


def test_the_cache_has_all_that_is_stored_of_a_file(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Extraction(repo, tmp_path / "own", "plain.cpp")
    first, moved = one.at("plain.cpp"), one.at("other/place.cpp")
    assert not first.cached and first.cache_value == moved.cache_value and first.words != moved.words
    one.cache.put([(first.key, first.cache_value)])
    monkeypatch.setattr(extract, "content_words", None)
    monkeypatch.setattr(extract.engine, "extract", None)
    assert one.at("plain.cpp") == first._replace(cached=True, cache_value=b"")
    assert one.at("other/place.cpp") == moved._replace(cached=True, cache_value=b"")


def test_values_with_good_digests_that_the_cache_cannot_have_are_not_used(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Extraction(repo, tmp_path / "own", "plain.cpp")
    first = one.at("plain.cpp")
    file = CachedFileDecoder().decode(first.cache_value)
    words = [b"", b"no words", *map(msgspec.msgpack.encode, (["", "", [[0, "x"]]], ["", "", [[1 << 63, "x"]]], ["", ""], [1, 2, []]))]
    facts = [b"", b"no facts", b"\x91\x01"]
    values = [encode_cached_file(file._replace(words=part)) for part in words]
    values += [encode_cached_file(file._replace(facts=part)) for part in facts]
    values += [b"", b"not compressed", first.cache_value[:-5], zstandard.compress(b"short"), zstandard.compress(b"\xff" * 50)]
    for value in values:
        one.cache.put([(first.key, value)])
        assert one.at("plain.cpp") == first
    one.cache.put([(first.key, first.cache_value)])
    assert one.at("plain.cpp").cached
    monkeypatch.setattr("concordance.facts.cache._LARGEST_VALUE", 100)  # what decompresses to more is not decompressed
    assert one.at("plain.cpp") == first


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_in_the_cache(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "own"))
    run(repo)
    before = dump(repo)
    flip(tmp_path / "own/facts.db", seed, 200)
    remove_store(repo / ".concordance")
    run(repo)
    assert dump(repo) == before
    remove_store(repo / ".concordance")
    again = run(repo)
    assert again.read - again.cached == 0


# --- the store, its log and the full-text index


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_in_the_store(repo: Path, seed: int) -> None:
    run(repo)
    before = dump(repo)
    flip(repo / ".concordance/index.db", seed, 1 + 10 * seed)
    with pytest.raises(StoreBroken, match=r"damaged|no store|another version"):
        Facts(str(repo / ".concordance")).close()
    run(repo)
    assert dump(repo) == before


def test_a_question_of_a_damaged_store(repo: Path) -> None:
    run(repo)
    right = ask("define", "Tree", "--repo", repo)
    flip(repo / ".concordance/index.db", 3, 1)
    assert "concord build" in concord("define", "Tree", "--repo", repo, "--no-update", code=1).stderr
    assert ask("define", "Tree", "--repo", repo) == right


def test_a_copied_store_is_believed(repo: Path, tmp_path: Path) -> None:
    run(repo)
    shutil.copytree(repo / ".concordance", tmp_path / "copy")
    with Facts(str(tmp_path / "copy")) as facts:
        assert len(list(facts.files())) == 6


def test_damaged_checksums(repo: Path) -> None:
    """Damaged checksums are not trusted, like a store that does not match its checksums."""
    run(repo)
    before = dump(repo)
    for end in (checksums.SUMS, checksums.VERIFIED):
        flip(repo / f".concordance/index.db{end}", 1)
    with pytest.raises(StoreBroken):
        Facts(str(repo / ".concordance")).close()
    run(repo)
    assert dump(repo) == before


def test_damage_in_the_log(repo: Path) -> None:
    """A reader keeps SQLite from moving the log into the database."""
    run(repo)
    with Facts(str(repo / ".concordance")) as held:
        write(repo, {"a.py": "def other(): pass\n"})
        run(repo)
        log = repo / ".concordance/index.db-wal"
        assert log.stat().st_size and names(repo, "a.py") == ["other"]
        flip(log, 5)
        with pytest.raises(StoreBroken):
            Facts(str(repo / ".concordance")).close()
        assert len(list(held.files())) == 6
    run(repo)
    assert names(repo, "a.py") == ["other"]


def test_a_build_that_was_killed_behind_its_commit(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it committed is valid, because SQLite checks its log."""
    run(repo)
    with Facts(str(repo / ".concordance")), monkeypatch.context() as patch:
        patch.setattr(checksums, "add_committed", lambda path: None)
        patch.setattr(checksums, "note_verified", lambda path: None)
        write(repo, {"a.py": "def other(): pass\n"})
        run(repo)
        assert names(repo, "a.py") == ["other"]
    assert names(repo, "a.py") == ["other"]
    assert run(repo).read == 0


def test_a_page_that_rots_without_a_trace(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When SQLite reports an error, the next build checks everything."""
    run(repo)
    before = dump(repo)
    store = repo / ".concordance/index.db"
    data = bytearray(store.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    store.write_bytes(data)
    checksums.note_verified(str(store))
    with pytest.raises(StoreBroken), Facts(str(store.parent)) as facts:
        for file in facts.files():
            facts.of(file.path), facts.flow(file.path), facts.links(file.path)
        facts.symbols(("", "", -1), 1000)
    run(repo)
    assert dump(repo) == before


@pytest.mark.parametrize("what", ["meta.json", "*.store", "*.term", "made", "sums"])
def test_damage_in_the_text_index(repo: Path, what: str) -> None:
    run(repo)
    before = dump(repo)
    found = sorted((repo / ".concordance/text").rglob(what))
    flip(found[0], 2, 1)
    with pytest.raises(StoreBroken):
        index.open_shards(str(repo / ".concordance"))
    run(repo)
    assert dump(repo) == before
    assert index.open_shards(str(repo / ".concordance"))


def test_an_index_that_is_being_changed_can_be_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(repo)
    with monkeypatch.context() as patch:
        patch.setattr("concordance.facts.integrity.checksums.note_files", lambda place, made: None)
        write(repo, {"a.py": "def other(): pass\n"})
        run(repo)
    assert index.open_shards(str(repo / ".concordance"))


# --- the book


@pytest.mark.parametrize("seed", range(3))
def test_damage_in_the_notes_of_pages(repo: Path, seed: int) -> None:
    made(repo)
    before = books.contents(repo / ".concordance/book")
    flip(next((repo / ".concordance").glob("pages-*.db")), seed, 40)
    write(repo, {"a.py": "def other(): pass\n"})
    made(repo)
    write(repo, {"a.py": SAMPLE["a.py"]})
    made(repo)
    assert books.contents(repo / ".concordance/book") == before


@pytest.mark.parametrize("what", ["half", "zeros", "sign", "name", "version", "kind"])
def test_a_damaged_manifest(repo: Path, what: str) -> None:
    """The manifest is written again; the pages that it listed are not taken for files of the repository or of another
    program."""
    made(repo, repo / "docs")
    before = books.contents(repo / "docs")
    path = repo / "docs/manifest.json"
    data = path.read_bytes()
    damaged = {
        "half": data[: len(data) // 2], "zeros": bytes(len(data)), "sign": data.replace(b"Conc", b"Kong", 1),
        "name": data.replace(b"a.py_docs.md", b"q.py_docs.md"), "version": data.replace(b'"version": "', b'"version": "9', 1),
        "kind": data.replace(b'"file"', b'"fire"'),
    }[what]  # fmt: skip
    assert damaged != data
    path.write_bytes(damaged)
    assert made(repo, repo / "docs") == 6
    assert books.contents(repo / "docs") == before


def test_a_manifest_of_others_is_left(repo: Path) -> None:
    write(repo, {"docs/manifest.json": '{\n "generator": "Another tool",\n "pages": {}\n}\n'})
    assert "manifest.json" in concord("build", repo, "--out", repo / "docs", code=2).stderr


def test_a_page_of_the_same_size_is_written_again(repo: Path) -> None:
    made(repo)
    before = books.contents(repo / ".concordance/book")
    page = repo / ".concordance/book/a.py_docs.md"
    page.write_bytes(page.read_bytes().replace(b"Tree", b"Free"))
    claims = repo / ".concordance/book/.claims/plain.cpp_docs.md.json"
    flip(claims, 7, 2)
    made(repo)
    assert books.contents(repo / ".concordance/book") == before


def test_a_damaged_list_of_a_site(repo: Path) -> None:
    out = repo / ".concordance/site"
    builds.write_book(str(repo), str(out), jobs=1, form="html")
    before = books.contents(out)
    (out / "manifest.json").write_bytes((out / "manifest.json").read_bytes()[:300])
    builds.write_book(str(repo), str(out), jobs=1, form="html")
    assert books.contents(out) == before


# --- `concord check --store`


def test_check_store(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "own"))
    assert "concord build" in concord("check", "--store", "--repo", repo, code=2).stderr
    made(repo)
    assert "No damage found" in concord("check", "--store", "--repo", repo).stdout
    home = repo / ".concordance"
    damaged = [home / "index.db", next(home.glob("pages-*.db")), next(home.rglob("*.term")), tmp_path / "own/facts.db"]
    for path in damaged:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    found = json.loads(concord("check", "--store", "--repo", repo, "--json", code=1).stdout)
    assert {Path(one["path"]) for one in found["damaged"]} >= set(damaged[:3])
    made(repo)
    concord("check", "--store", "--repo", repo)


def test_check_store_of_a_cache_that_is_none(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "own"))
    run(repo)
    (tmp_path / "own/facts.db").write_bytes(b"hello")
    assert [Path(one.path).name for one in builds.audit_store(str(repo))] == ["facts.db"]
    assert builds.audit_store(str(repo)) == []


def test_check_store_follows_no_link(repo: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (repo / ".concordance").symlink_to(victim)
    with pytest.raises(UserError, match="is a link or a file"):
        builds.audit_store(str(repo))
    assert os.listdir(victim) == []


# --- pages and manifests of ours that were cut short


def test_a_page_that_was_cut_short_or_added_to_is_made_again(repo: Path) -> None:
    made(repo)
    book = repo / ".concordance/book"
    before = books.contents(book)
    page = book / "plain.cpp_docs.md"
    for spoilt in (page.read_bytes()[:5], page.read_bytes()[:200], page.read_bytes() + b"\nmore\n"):
        page.write_bytes(spoilt)
        made(repo)
        assert books.contents(book) == before


@pytest.mark.parametrize("size", [0, 1, 20, 100])
def test_a_manifest_that_was_cut_short(repo: Path, size: int) -> None:
    made(repo)
    book = repo / ".concordance/book"
    before = books.contents(book)
    (book / "manifest.json").write_bytes((book / "manifest.json").read_bytes()[:size])
    made(repo)
    assert books.contents(book) == before


def test_nothing_is_written_into_the_folder_of_git(repo: Path) -> None:
    with pytest.raises(UserError, match="git's own folder"):
        made(repo, repo / ".git/book")
    assert not (repo / ".git/book").exists()
