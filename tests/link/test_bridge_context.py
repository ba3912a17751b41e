"""The reads recorded for a bridge do not depend on which bridges were joined before it, so an update joins it again
when it must.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from concordance.base import plugins
from concordance.base.model import Bridge
from concordance.facts.write import StoreWriter
from concordance.link.bridge_context import BridgeContext
from concordance.link.paths.tree import Tree
from concordance.workflow import store_update
from concordance.workflow.stages import bridges
from tests.support import books, editrepo
from tests.support.program import write


class Joined(NamedTuple):
    """The rows of a bridge, and the slots that were read for them."""

    rows: list[Bridge] | None
    slots: set[int]


def _joined(writer: StoreWriter, tree: Tree, order: list[str]) -> dict[str, Joined]:
    """Join all bridges in the given order."""
    failed: list[str] = []
    context = BridgeContext(writer.bridge_queries, tree)
    found = {}
    for name in order:
        with context.reads.recording() as slots:
            rows = bridges._join_one(name, context, lambda what, why: failed.append(f"{what}: {why}"))
        found[name] = Joined(rows, slots)
    assert not failed
    return found


@pytest.mark.parametrize("files", [editrepo.FILES, editrepo.OTHERS, None], ids=["pear", "others", "sample"])
def test_a_bridge_records_what_it_reads_in_any_order(
    files: Mapping[str, str | bytes] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = books.copied(tmp_path) if files is None else tmp_path / "repo"
    write(root, files or {})
    seen: list[tuple[StoreWriter, Tree]] = []

    def run(writer: StoreWriter, tree: Tree, failed: bridges.Failed) -> set[int]:
        names = list(plugins.names(bridges.BRIDGES))
        alone = {name: _joined(writer, tree, [name])[name] for name in names}
        assert any(one.rows for one in alone.values())
        for order in (names, names[::-1], random.Random(1).sample(names, len(names))):
            together = _joined(writer, tree, order)
            assert [name for name in names if together[name].rows != alone[name].rows] == []
            assert [name for name in names if together[name].slots != alone[name].slots] == []
        seen.append((writer, tree))
        return plain(writer, tree, failed)

    plain = bridges.run
    monkeypatch.setattr(bridges, "run", run)
    store_update.build(str(root), 1)
    assert seen
