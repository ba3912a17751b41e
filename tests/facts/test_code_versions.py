"""Versions of the program's code follow its files; a running process keeps the versions of the code that it loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from concordance.facts import code_versions
from tests.support.program import write

CACHED = ("facts/cache.py", "facts/fulltext/file_words.py", "facts/fulltext/words.py")
OWN = ("base/kinds.py", "base/model.py", "workflow/stages/extract.py", "extract/engine.py", *CACHED)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of a few files that stands in for the program's own."""
    write(tmp_path, dict.fromkeys(OWN, "x = 1\n"))
    monkeypatch.setattr(code_versions, "_PACKAGE", str(tmp_path))
    code_versions.readers.cache_clear()
    yield tmp_path
    code_versions.readers.cache_clear()


@pytest.mark.parametrize("path", OWN)
def test_a_version_follows_the_files_but_not_in_a_process_that_runs(package: Path, path: str) -> None:
    before = code_versions.readers()
    write(package, {path: "x = 2\n"})
    assert code_versions.readers() == before, "this process still runs the old code"
    code_versions.readers.cache_clear()  # as in the next process
    assert code_versions.readers() != before
