"""`concord pack` and `concord unpack`: a store moves to another machine, and a file from elsewhere can do no harm."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from concordance.base.errors import NoPermission
from concordance.facts.cache import Cache
from concordance.facts.integrity import archive
from concordance.facts.integrity.archive import ArchiveRefused
from concordance.tasks.pack import command as pack_command
from tests.support.program import SAMPLE, build, concord, git, sample, write
from tests.support.stored import dump


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp("pack")
    repo = home / "repo"
    repo.mkdir()
    sample(repo)
    env = {"CONCORDANCE_CACHE": str(home / "cache")}
    build(repo, "--no-book", env=env)
    concord("pack", home / "store.concord", "--repo", repo, env=env)
    return repo, home / "store.concord"


def test_a_clone_reads_nothing_again(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, file = packed
    clone, env = tmp_path / "clone", {"CONCORDANCE_CACHE": str(tmp_path / "cache")}
    shutil.copytree(repo, clone, ignore=shutil.ignore_patterns(".concordance"))
    concord("unpack", file, "--repo", clone, env=env)
    found = build(clone, "--no-book", env=env)
    assert (found["files"], found["unchanged"], found["read"]) == (len(SAMPLE), len(SAMPLE), 0)
    assert dump(clone) == dump(repo)
    shutil.rmtree(clone / ".concordance")
    found = build(clone, "--no-book", env=env)  # from the facts of the cache
    assert (found["read"], found["cached"]) == (len(SAMPLE), len(SAMPLE))


def test_facts_of_other_repositories_stay(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, _ = packed
    other, env = tmp_path / "other", {"CONCORDANCE_CACHE": str(tmp_path / "cache")}
    other.mkdir()
    (other / "secret.py").write_text("class VerySecretName:\n    pass\n")
    build(other, "--no-book", "--yes", env=env)
    file = tmp_path / "store.concord"
    assert "facts of 0 files" in concord("pack", file, "--repo", repo, env=env).stdout
    data = zstandard.ZstdDecompressor().stream_reader(file.read_bytes().partition(b"}")[2]).read()
    assert b"VerySecretName" not in data


def unpack(data: bytes, folder: Path) -> None:
    folder.mkdir()
    file = folder / "file"
    file.write_bytes(data)
    (folder / "into").mkdir()
    with open(file, "rb") as source, closing(Cache(str(folder / "cache"), 10**9)) as cache:
        archive.unpack(source, str(folder / "into"), cache)


def make(records: list[tuple[str, bytes]], digest: bytes | None = None) -> bytes:
    header = json.dumps({"schema": archive.schema.VERSION, "readers": archive.code_versions.readers()}).encode()
    body = b"".join(archive._RECORD.pack(len(name), len(data)) + name.encode() + data for name, data in records)
    digest = archive.blake2b(body, digest_size=32).digest() if digest is None else digest
    return archive.MAGIC + archive._HEADER.pack(len(header)) + header + zstandard.compress(body + archive._RECORD.pack(0, 32) + digest)


def test_what_is_refused(tmp_path: Path) -> None:
    unpack(make([("index.db", b"x"), ("text/source/files/a.b", b"y")]), tmp_path / "good")
    assert (tmp_path / "good/into/text/source/files/a.b").read_bytes() == b"y"
    names = ("../x", "/etc/x", "text/../../x", "text/./x", "text//x", "book/index.md", "index.db-wal", "lock", "text/.hidden", "cache/" + "A" * 64, "x\0y")
    for number, name in enumerate(names):
        with pytest.raises(ArchiveRefused):
            unpack(make([(name, b"x")]), tmp_path / f"name{number}")
    good = make([("index.db", b"x" * 1000)])
    bad = {
        "twice": make([("index.db", b"x"), ("index.db", b"y")]), "digest": make([("index.db", b"x")], bytes(32)), "empty": b"",
        "version": good.replace(b'"schema": ', b'"schema": 1'), "format": good.replace(b"pack 1", b"pack 2"), "tar": b"ustar" * 1000,
        "header": archive.MAGIC + b"\xff\xff\xff\xff", "json": archive.MAGIC + b"\1\0\0\0x",
        "bomb": make([("index.db", bytes(300 << 20))]), "size": make([("index.db", b"")])[:-60],
    }  # fmt: skip
    for name, data in bad.items():
        with pytest.raises(ArchiveRefused):
            unpack(data, tmp_path / name)


def test_damage_leaves_the_store_alone(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, file = packed
    clone, env = tmp_path / "clone", {"CONCORDANCE_CACHE": str(tmp_path / "cache")}
    shutil.copytree(repo, clone)
    before, good, rng = dump(clone), file.read_bytes(), random.Random(3)
    for number in range(40):
        data = bytearray(good)
        at = rng.randrange(len(data))
        if number % 2:
            data[at] ^= 1 << rng.randrange(8)
        else:
            del data[at:]
        with pytest.raises(ArchiveRefused):
            unpack(bytes(data), tmp_path / str(number))
    (tmp_path / "bad").write_bytes(data)
    assert "damaged" in concord("unpack", tmp_path / "bad", "--repo", clone, env=env, code=2).stderr
    assert dump(clone) == before
    assert sorted(os.listdir(clone / ".concordance")) == sorted(os.listdir(repo / ".concordance"))


def test_a_store_of_another_repository_is_refused(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, file = packed
    other = tmp_path / "other"
    write(other, {"src/own.py": "def own(): pass\n", "README.md": (repo / "README.md").read_bytes()})
    build(other, "--no-book", "--yes")
    before = dump(other)
    done = concord("unpack", file, "--repo", other, code=2).stderr
    assert "another repository" in done
    assert "concord build" in done
    assert dump(other) == before


def test_a_store_of_another_state_of_the_repository_is_taken(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, file = packed
    part = tmp_path / "part"  # an export of an older state, without git: few files are as they were
    shutil.copytree(repo, part, ignore=shutil.ignore_patterns(".concordance", ".git"))
    changed = [path for path in sorted(part.rglob("*.py")) if path.stat().st_size]
    for path in changed[1:]:
        path.write_text("older = 1\n")
    concord("unpack", file, "--repo", part, "--yes")
    clone = tmp_path / "clone"  # a clone that knows the commit, though no file is as it was
    clone.mkdir()
    sample(clone)
    build(clone, "--no-book")
    concord("pack", tmp_path / "clone.concord", "--repo", clone)
    git(clone, "rm", "-rqf", ".")
    write(clone, {"fresh.py": "fresh = 1\n"})
    concord("unpack", tmp_path / "clone.concord", "--repo", clone)


def test_messages(packed: tuple[Path, Path], tmp_path: Path) -> None:
    repo, file = packed
    assert "does not exist" in concord("unpack", tmp_path / "none", "--repo", repo, code=2).stderr
    (tmp_path / "mine.txt").write_text("mine")
    assert "was not written by" in concord("pack", tmp_path / "mine.txt", "--repo", repo, code=2).stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
    link = tmp_path / "link"
    link.symlink_to(file)
    concord("unpack", link, "--repo", repo)  # a link that the user names
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no store" in concord("pack", tmp_path / "x", "--repo", empty, "--yes", code=2).stderr


def test_a_full_disk(packed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive, "pack", fail)
    with pytest.raises(NoPermission) as raised:
        pack_command([str(tmp_path / "new.concord"), "--repo", str(packed[0])], standalone_mode=False)
    assert raised.value.what_to_do == "Free some space, or name a file on another disk"
    assert not list(tmp_path.iterdir())
