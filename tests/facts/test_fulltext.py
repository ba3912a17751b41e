"""The full-text index is merged before an update has to wait for it, and returns the same results afterwards."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from concordance.facts.fulltext import index as fulltext
from concordance.facts.fulltext.index import FieldQuery
from concordance.workflow import store_update
from tests.support.program import write


def _segments(root: Path) -> int:
    meta = root / ".concordance/text/source/files/meta.json"
    return len(msgspec.json.decode(meta.read_bytes())["segments"])


def _found(root: Path) -> list[tuple[str, float]]:
    shard = fulltext.open_shards(str(root / ".concordance"))[0]
    hits = shard.files([FieldQuery("body", ("pear",), 1.0)], "", 100)
    return sorted((shard.path(hit), hit.size) for hit in hits)


def test_segments_are_merged_in_advance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    files = {f"a{number}.py": f"pear = {number}\n" for number in range(20)}
    write(root, files)
    store_update.build(str(root), 1)
    store = str(root / ".concordance")
    for number in range(2, 8):
        write(root, {f"a{number}.py": f"pear = {10**number}\n"})
        store_update.build(str(root), 1)
        assert _segments(root) == number
        before = _found(root)
        fulltext.merge_in_advance(store)
        assert _segments(root) == (number if number < 7 else 1)
        assert _found(root) == before
        assert not fulltext.damaged_index_files(store)
    assert [path for path, _ in _found(root)] == sorted(files)
    write(root, {"a0.py": "pear = apple\n"})
    store_update.build(str(root), 1)
    assert _segments(root) == 2
