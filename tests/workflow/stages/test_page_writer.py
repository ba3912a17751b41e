"""What is computed in workers beside the pages reaches the log of the book, whatever happens to the workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book
from concordance.facts.read import Facts
from concordance.facts.updates.page_reads import Digests, PageReadLog
from concordance.query.index.repository import Index
from concordance.query.index.updates import stale_pages, tables
from concordance.workflow.stages import page_writer
from tests.support import books


def _logged(root: Path) -> Mapping[str, Digests]:
    log = PageReadLog(str(root / ".concordance"), str(root / "book"))
    assert log.meta()
    return log.shared()


@pytest.mark.parametrize("jobs", [0, 2])
def test_digests_of_tables_are_computed_beside_the_pages(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(*given: Any) -> dict[str, Digests]:
        raise AssertionError("no worker has computed them")

    root = books.copied(tmp_path)
    monkeypatch.setattr(stale_pages, "table_digests", compute)
    books.write(root, root / "book", jobs)
    with Facts(str(root / ".concordance")) as facts:
        assert _logged(root) == tables.table_digests(Index(facts, str(root), Book()), {}, None)


def test_digests_that_workers_cannot_compute_are_computed_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(*given: Any) -> dict[str, Digests]:
        raise MemoryError

    root = books.copied(tmp_path)
    monkeypatch.setattr(page_writer, "table_digests", compute)
    books.write(root, root / "book", 2)
    with Facts(str(root / ".concordance")) as facts:
        assert _logged(root) == tables.table_digests(Index(facts, str(root), Book()), {}, None)
