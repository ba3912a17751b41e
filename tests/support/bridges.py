"""The bridges of a repository, in the form in which literate cases write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from concordance.base.config import Config
from concordance.base.model import Trust
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.read import Facts
from concordance.workflow.pipeline import Build
from concordance.workflow.store_location import FOLDER


def joined(root: Path) -> list[str]:
    """Return the bridges of a repository as the cases write them."""
    summary = Build(str(root), Config(jobs=1)).run()
    assert not summary.failed
    facts = Facts(str(root / FOLDER))
    try:
        return sorted(_rows(facts))
    finally:
        facts.close()


def _rows(facts: Facts) -> Iterator[str]:
    ends: dict[str, list[int]] = {}
    for row in unpack_bridges(facts.analysis_result("bridges")):
        source = facts.place(row.source)
        assert source is not None
        if source.path not in ends:
            ends[source.path] = [end.line for end in facts.ends(source.path)]
        line = f":{ends[source.path][row.end]}" if row.end >= 0 else ""
        at = f"{source.path}#{source.key}" if source.key else source.path
        target = facts.place(row.target) if row.target else None
        to = "nothing" if target is None else f"{target.path}#{target.key}" if target.key else target.path
        yield f"{row.bridge} {row.says} {row.name}: {at}{line} -> {to} {Trust(row.trust).name.lower()}"
