"""Runs the literate cases of patterns in `tests/cases/patterns/`.

A block `patterns` under a file lists all of its patterns, one a line: `NAME: WHAT (WORDS) LINE, …`.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

from concordance.base.model import PatternPlace
from concordance.extract.engine import extract
from concordance.extract.patterns import patterns_of_language
from tests.support import cases

CASES = sorted((cases.HOME / "patterns").glob("*.md"))
_FENCE = re.compile(r"^(`{3,})[ \t]*(\S*)[ \t]*(\S*)[ \t]*\n(.*?)^\1[ \t]*$", re.M | re.S)


def _examples() -> list[tuple[str, str, str, list[str]]]:
    """Return the files of all cases: language, name, text and expectation."""
    found: list[tuple[str, str, str, list[str]]] = []
    for case in CASES:
        for _, info, name, body in _FENCE.findall(case.read_text()):
            if info == "patterns":
                found[-1][3].extend(body.splitlines())
            else:
                found.append((info, name, body, []))
    return found


def _place_text(row: PatternPlace, names: list[str]) -> str:
    name = names[row.symbol] if row.symbol >= 0 else row.subject
    return f"{name}{f' ({row.detail})' if row.detail else ''} {row.line}"


@pytest.mark.parametrize(("language", "name", "text", "expected"), _examples(), ids=lambda one: one if isinstance(one, str) and len(one) < 30 else "")
def test_patterns(language: str, name: str, text: str, expected: list[str]) -> None:
    facts = extract(text, language)
    names = [cases.qualified(symbol) for symbol in facts.symbols]
    rows = groupby(facts.patterns, key=lambda row: row.pattern)
    found = [f"{pattern}: {', '.join(_place_text(row, names) for row in some)}" for pattern, some in rows]
    assert sorted(found) == sorted(expected)


def test_each_language_has_patterns_of_different_names() -> None:
    for language in ("python", "cpp", "c", "cuda", "cmake", "make", "dockerfile", "yaml", "shell", "go", "rust", "java"):
        names = [name for name, _ in patterns_of_language(language)]
        assert names
        assert len(names) == len(set(names))


def test_there_are_cases() -> None:
    assert {Path(case).stem for case in CASES} == {"cpp", "others", "python"}
