"""An update equals a clean build: after any edits, book and store are byte for byte those of a first build."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.support import edits

SEQUENCES = 40
# What once differed, as `python -m bench edits` prints it.
FOUND = ("drop 635318037, kept 3, become 1012010639, docs 0, kept 0", "become 384543635, docs 0")


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], edits.Bench]]:
    """The small repositories that the sequences edit, with their books; each is made once."""
    home = str(tmp_path_factory.mktemp("edits"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", f"{home}/cache")
        yield partial(edits.bench_of, home)


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_an_update_is_a_clean_build(benches: Callable[[int], edits.Bench], seed: int) -> None:
    steps = edits.sequence(seed)
    told = edits.failure(benches(seed), steps, always=False)
    assert not told, f"{steps}\n{told}\npython -m bench edits --seed {seed} finds the steps that matter"


@pytest.mark.parametrize("steps", FOUND)
def test_what_once_differed(benches: Callable[[int], edits.Bench], steps: str) -> None:
    taken = [edits.Step(what, int(seed)) for what, seed in map(str.split, steps.split(", "))]
    assert not edits.failure(benches(0), taken, always=True)
