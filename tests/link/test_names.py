"""Literate cases of linking names (`tests/cases/link/names`): several files, with the expectation under the code.

Under a line, `^^^ -> path#key TRUST` says what the name above refers to, best first; `-> nothing` that it refers to
nothing known; `-> not path#key` that it does not refer to that; `overrides path#key` what a method overrides.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from concordance.link import world
from tests.support.cases import examples
from tests.support.linked import Repository

CASES = sorted((Path(__file__).parents[1] / "cases" / "link" / "names").rglob("*.md"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_names(case: Path, tmp_path: Path) -> None:
    files = examples(case)
    repository = Repository(tmp_path, {one.name: (one.language, one.text) for one in files})
    wrong = []
    for one in files:
        for line, column, expected in one.pointed:
            found = repository.at(one.name, line, column)
            if expected.startswith("overrides "):
                there = [s for s in repository.facts[one.name].symbols if s.line == line and s.col <= column]
                symbol = max(there, key=lambda s: s.col)
                seen = (f"{one.name}#{symbol.key}", expected.removeprefix("overrides ")) in repository.overrides()
                found = sorted(repository.overrides())  # type: ignore[assignment]
            elif expected == "-> nothing":
                seen = not found
            elif expected.startswith("-> not "):
                seen = not any(answer.startswith(expected.removeprefix("-> not ")) for answer in found)
            else:
                seen = bool(found) and f"-> {found[0]}".startswith(expected)
            if not seen:
                wrong.append(f"{one.name}:{line}:{column} expected `{expected}`, found {found}")
    assert not wrong, "\n".join(wrong)


def test_there_are_cases() -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_the_answer_does_not_depend_on_the_order(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on which files are still unpacked: with a cache of size zero, each is forgotten at once."""
    files = {one.name: (one.language, one.text) for one in examples(case)}
    first = Repository(tmp_path, files)
    monkeypatch.setattr(world, "_MAX_UNPACKED_BYTES", 0)
    second = Repository(tmp_path, files, backwards=True)
    assert {path: row.links for path, row in first.links.items()} == {p: row.links for p, row in second.links.items()}
