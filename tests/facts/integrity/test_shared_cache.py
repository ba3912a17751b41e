"""The cache that several machines share: what one has read, no other parses again; nothing in it is trusted, and nothing depends on it.

With a folder as the storage; `test_shared_cache_s3.py` has a server.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard

from concordance.facts.integrity.shared_cache import _MAGIC, _ROW, CachedBlock, SharedCache, SharedCacheFailed, _seal
from tests.support.program import concord
from tests.support.shared_facts import build, write_repository
from tests.support.stored import dump


def test_a_second_machine_parses_nothing(tmp_path: Path) -> None:
    shared = f"file://{tmp_path}/bucket"
    first, second = (write_repository(tmp_path / name, range(80)) for name in ("first", "second"))
    summary, warning = build(first, tmp_path / "1", shared)
    assert summary["cached"] == 0
    # An empty mount point looks the same: a colleague's facts would be missed without a word.
    assert f"the folder of the shared cache, {tmp_path}/bucket, does not exist and is created now" in warning
    found, errors = build(second, tmp_path / "2", shared)
    assert (found["read"], found["cached"], errors) == (80, 80, "")
    assert dump(first) == dump(second)


def test_four_builders_at_once_lose_nothing(tmp_path: Path) -> None:
    shared = f"file://{tmp_path}/bucket"
    repos = [write_repository(tmp_path / f"repo{n}", range(70 * n, 70 * n + 90)) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda repo: build(repo, tmp_path / f"cache-{repo.name}", shared), repos))
    found, _ = build(write_repository(tmp_path / "all", range(300)), tmp_path / "last", shared)
    assert (found["read"], found["cached"]) == (300, 300)


def test_none_of_200_corrupted_entries_is_believed(tmp_path: Path) -> None:
    """Bytes are changed, cut off, exchanged and appended, in segments and in indexes."""
    rng = random.Random(1)
    facts = {bytes([n]) * 32: rng.randbytes(2_000) for n in range(50)}
    for number in range(200):
        cache = SharedCache(f"file://{tmp_path}/{number}", "v")
        cache.write((key, key, value) for key, value in facts.items())
        target = rng.choice(sorted((tmp_path / str(number) / "v").rglob("*/*")))
        data = bytearray(target.read_bytes())
        at = rng.randrange(len(data))
        change = number % 4
        if change == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at:]
        elif change == 2:
            data[at : at + 64] = rng.randbytes(64)
        else:
            data[:at] = rng.randbytes(at)
        target.write_bytes(data)
        blocks = {block for rows in cache.read_index().values() for _, block in rows}
        assert all(facts[key] == value for key, value in cache.read_blocks(sorted(blocks))[0])


def test_hostile_objects_are_ignored(tmp_path: Path) -> None:
    """With correct seals: rows that claim too much, a bomb, a path in place of a name, the facts of another key."""
    cache = SharedCache(f"file://{tmp_path}", "v")
    cache.write([(b"d" * 32, b"k" * 32, b"facts")])
    [index] = (tmp_path / "v" / "index").iterdir()
    huge = [_ROW.pack(b"d" * 32, b"k" * 32, 0, 1 << 31, 10), _ROW.pack(b"d" * 32, b"k" * 32, 0, 10, 1 << 31)]
    for number, rows in enumerate([*huge, bytes(1 << 28), b"odd"]):
        name = f"{number:032x}"
        packed = zstandard.compress(rows)
        (index.parent / name).write_bytes(_MAGIC + _seal(name, packed) + packed)
    (index.parent / "..passwd").write_bytes(index.read_bytes())
    (index.parent / ("f" * 32)).write_bytes(index.read_bytes())  # the index of another segment
    [(key, block)] = cache.read_index()[b"d" * 32]
    assert cache.read_blocks([block]) == ([(key, b"facts")], 0)
    bomb = zstandard.compress(bytes(100 << 20))
    (tmp_path / "v" / "segment" / block.segment).write_bytes(bomb)
    assert cache.read_blocks([CachedBlock(block.segment, 0, len(bomb), 1000), block, CachedBlock("0" * 32, 0, 9, 9)]) == ([], 3)


def test_a_build_does_without_a_broken_cache(tmp_path: Path) -> None:
    repo = write_repository(tmp_path / "repo", range(80))
    (tmp_path / "file").write_text("")
    found, errors = build(repo, tmp_path / "1", f"{tmp_path}/file/bucket")
    assert found["read"] == 80 and errors.count("goes on without it") == 1
    found, errors = build(write_repository(tmp_path / "other", range(80)), tmp_path / "2", "nonsense://key:secret@host/x")
    assert found["read"] == 80 and "the shared cache nonsense://host/x cannot be opened: fsspec knows no such kind of storage" in errors and "secret" not in errors


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = SharedCache(f"file://{tmp_path}", "v")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device", "/secret")

    monkeypatch.setattr(cache._storage, "pipe_file", full)
    with pytest.raises(SharedCacheFailed, match=r"cannot be written: No space left on device$"):
        cache.write([(b"d" * 32, b"k" * 32, b"facts")])


def test_facts_come_back_even_without_a_local_cache(tmp_path: Path) -> None:
    shared = f"file://{tmp_path}/bucket"
    build(write_repository(tmp_path / "first", range(80)), tmp_path / "1", shared)
    (tmp_path / "no").write_text("a file in place of the folder")
    found, _ = build(write_repository(tmp_path / "second", range(80)), tmp_path / "no" / "cache", shared)
    assert found["cached"] == 80


def test_a_repository_cannot_name_a_cache(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    for key in ("shared_cache", "cache", "address"):
        (tmp_path / "concordance.toml").write_text(f'{key} = "s3://bucket/prefix"\n')
        assert f"unknown key `{key}`" in concord("build", tmp_path, code=2).stderr
