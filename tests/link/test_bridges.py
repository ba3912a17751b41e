"""Literate cases of bridges (`tests/cases/bridges/<bridge>/*.md`): multi-file, with all that is joined in a list.

A row of the list is `BRIDGE SAYS NAME: path#key:LINE -> path#key TRUST`, and `-> nothing` where the other side is not in
the repository. The line is that of the end; of a name of Python that asks there is none. Rows of other bridges than
those that the list names are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from concordance.base.config import Config
from concordance.base.model import Trust
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.read import Facts
from concordance.workflow.pipeline import Build
from concordance.workflow.store_location import FOLDER
from tests.support.cases import examples

CASES = sorted((Path(__file__).parents[1] / "cases" / "bridges").rglob("*.md"))


def joined(root: Path) -> list[str]:
    """The bridges of a repository, as the cases write them."""
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_bridges(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repository"
    files = examples(case)
    for one in files:
        (root / one.name).parent.mkdir(parents=True, exist_ok=True)
        (root / one.name).write_text(one.text)
    expected = sorted(row for one in files for row in one.lists.get("bridges", []))
    assert expected, "the case expects nothing"
    named = {row.split(" ", 1)[0] for row in expected}
    found = [row for row in joined(root) if row.split(" ", 1)[0] in named]
    assert found == expected, "\n".join(["found:", *found])
