"""The laws of `Delta`: no change is no delta, two updates record what one would, and equal results are not passed on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from concordance.facts.updates.delta import Aspect, Delta
from tests.support.madeup import Repository
from tests.support.relinked import Book

KINDS = [("python",), ("c",), ("ecma",), ("bound", "table", "asking"), ("go", "rust", "java"), ("python", "shell")]


def _is_empty(delta: Delta) -> bool:
    return not any(vars(delta).values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind))
def test_no_change_is_an_empty_delta(tmp_path: Path, kind: tuple[str, ...]) -> None:
    made = Repository(11, kind)
    book = Book(tmp_path, made.text())
    book.edit(made.text())
    assert _is_empty(book.delta)
    assert not book.differences()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind))
def test_the_same_text_read_again_is_passed_on_by_no_stage(tmp_path: Path, kind: tuple[str, ...]) -> None:
    made = Repository(12, kind)
    book = Book(tmp_path, made.text())
    book.files.clear()  # every file counts as changed
    book.edit(made.text())
    assert book.delta.previous.keys() == made.text().keys()
    book.delta.previous.clear()
    assert _is_empty(book.delta)


@pytest.mark.parametrize("seed", range(12))
def test_two_updates_and_one(tmp_path: Path, seed: int) -> None:
    """One update from the first to the last state records nothing that the two updates between them did not record."""
    made = Repository(500 + seed, KINDS[seed % len(KINDS)])
    first = made.text()
    made.edit()
    between = made.text()
    made.edit()
    last = made.text()
    by_two, by_one = Book(tmp_path / "two", first), Book(tmp_path / "one", first)
    aspects: set[tuple[str, str]] = set()
    for text in (between, last):
        by_two.edit(text)
        aspects |= by_two.delta.aspects
    by_one.edit(last)
    assert by_one.delta.aspects <= aspects
    assert not by_one.differences()
    assert not by_two.differences()


@pytest.mark.parametrize("seed", range(6))
def test_an_edit_and_its_undoing_record_the_same(tmp_path: Path, seed: int) -> None:
    made = Repository(900 + seed, KINDS[seed % len(KINDS)])
    first = made.text()
    made.edit()
    book = Book(tmp_path, first)
    book.edit(made.text())
    there = book.delta.aspects
    book.edit(first)
    assert book.delta.aspects == there


@pytest.mark.parametrize(
    ("new", "passed_on"),
    [
        ("# a remark\ndef grow():\n    return 1\n", {Aspect.TEXT}),
        ("def grow():\n    return 2\n", {Aspect.TEXT}),
        ("def grow():\n    return 1\n\n\ndef fall():\n    return 1\n", {Aspect.TEXT, Aspect.WORDS, Aspect.SYMBOLS_NAMED}),
    ],
)
def test_a_change_ends_where_it_has_no_effect(tmp_path: Path, new: str, passed_on: set[Aspect]) -> None:
    files = {"one.py": "def grow():\n    return 1\n", "two.py": "from one import grow\n\n\ndef use():\n    return grow()\n"}
    book = Book(tmp_path, files)
    book.edit({**files, "one.py": new})
    changed = {aspect for aspect, _ in book.delta.aspects}
    assert Aspect.TEXT in changed
    assert not changed & {Aspect.USED_BY, Aspect.USES, Aspect.BRIDGES, Aspect.PATHS, Aspect.DISPLAY_NAMES}
    assert changed >= passed_on - {Aspect.WORDS}
    assert not book.delta.links
