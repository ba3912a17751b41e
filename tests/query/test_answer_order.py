"""Answers do not depend on the order in which files were read, nor on whether the store was updated or built anew."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from concordance.base import plugins
from concordance.base.errors import ConcordanceError
from concordance.base.model import Kind
from concordance.facts.read import Facts
from concordance.query.commands import COMMANDS, ask
from concordance.query.index.repository import Index
from concordance.workflow import pipeline, store_update
from tests.support import books, editrepo
from tests.support.program import write

_NAMED = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.STRUCT))


def _questions(root: Path) -> list[tuple[str, str]]:
    """Return questions for every command, about files and definitions; commands that need git or a difference answer
    with an error."""
    with Facts(str(root / ".concordance")) as facts:
        files = [file.path for file in facts.files()]
        symbols = [one for path in files for one in facts.symbols_in(path) if one.kind in _NAMED]
    chance = random.Random(3)
    asked = [*chance.sample(files, min(6, len(files))), *(f"{one.path}#{one.key}" for one in chance.sample(symbols, 14))]
    asked += sorted({one.name for one in chance.sample(symbols, 8)})
    pairs = [f"{one} {other}" for one, other in pairwise(asked[6:20])]
    return [(command, one) for command in plugins.names(COMMANDS) for one in (pairs if command == "path" else asked)]


def _answers(root: Path, questions: list[tuple[str, str]]) -> Iterator[object]:
    with Facts(str(root / ".concordance")) as facts:
        index = Index(facts, str(root))
        for command, asked in questions:
            try:
                answer = ask(index, command, asked, 1000, "")
                yield command, asked, answer.rows, answer.total, answer.note
            except ConcordanceError as error:
                yield command, asked, str(error).replace(str(root), "")


@pytest.mark.parametrize("which", ["sample", "mixed"])
def test_answers_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    expected: list[object] = []
    questions: list[tuple[str, str]] = []
    plain = pipeline._batches
    for seed in range(4):
        root = tmp_path / str(seed)
        if which == "sample":
            root = books.copied(root)
        else:
            write(root, editrepo.OTHERS)

        def shuffled(entries: list, size: int, seed: int = seed) -> Iterator[list]:
            every = [entry for batch in plain(entries, size) for entry in batch]
            random.Random(seed).shuffle(every)
            return iter([every[at : at + 3] for at in range(0, len(every), 3)])

        monkeypatch.setattr(pipeline, "_batches", shuffled)
        store_update.build(str(root), 1)
        if seed == 3:  # every file gains a definition and loses it again, so that ids are listed one by one
            texts = {path: path.read_text() for path in sorted(root.rglob("*.py")) if ".concordance" not in path.parts}
            for more in ("\n\ndef quite_fresh():\n    return 1\n", ""):
                for path, text in texts.items():
                    path.write_text(text.replace("\n\n\n", f"\n\n{more}\n\n", 1) if more else text)
                store_update.build(str(root), 1)
        questions = questions or _questions(root)
        found = list(_answers(root, questions))
        expected = expected or found
        for (command, asked), ours, theirs in zip(questions, found, expected, strict=True):
            if command not in ("search", "locate") or seed < 3:  # the full-text index counts replaced texts until it is tidied up
                assert ours == theirs, f"build {seed}: {command} {asked}"
