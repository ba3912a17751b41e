"""Literate cases of bridges (`tests/cases/bridges/<bridge>/*.md`): several files, with a list of all joined rows.

A row of the list is `BRIDGE SAYS NAME: path#key:LINE -> path#key TRUST`, or `-> nothing` if the other end is not in the
repository. The line is that of the end; a Python name that asks for a target has none. Rows of bridges that the list
does not name are left out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bridges import joined
from tests.support.cases import examples

CASES = sorted((Path(__file__).parents[1] / "cases" / "bridges").rglob("*.md"))


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
