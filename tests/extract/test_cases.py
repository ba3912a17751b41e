"""Runs every literate case under `tests/cases/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import cases

CASES = sorted(p for p in cases.HOME.rglob("*.md") if p.name != "README.md" and not {"bridges", "link", "markup", "pages", "patterns", "public", "rules"} & set(p.parts))


@pytest.mark.parametrize("case", CASES, ids=lambda p: str(p.relative_to(cases.HOME)))
def test_case(case: Path) -> None:
    found = cases.examples(case)
    assert found, f"{case} holds no example"
    assert any(e.pointed or e.lists for e in found), f"{case} expects nothing"
    assert not [problem for example in found for problem in cases.problems(example)]
