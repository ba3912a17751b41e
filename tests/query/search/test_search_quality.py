"""The quality of the search is a golden number: queries with judged answers, on repositories that every machine has.

`bench/judged.py` measures the same on large repositories.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest

import concordance
from tests.support import program
from tests.support.judged import JudgedAnswer, JudgedQuery, measure, ndcg, read_queries
from tests.support.program import concord

_QUERIES = Path(__file__).parent / "judged"
_SAMPLE = Path(__file__).parents[2] / "sample"


def _row(path: str, symbol: str = "") -> dict[str, object]:
    return {"path": path, "symbol": symbol}


def test_a_wanted_answer_counts_by_its_position() -> None:
    query = JudgedQuery("add", (JudgedAnswer(("a.py#add", "b.py"), 3.0), JudgedAnswer(("c.py",), 1.0)))
    assert ndcg(query, [_row("a.py", "Ledger.add"), _row("c.py")]) == 1.0
    assert ndcg(query, [_row("b.py", "other"), _row("c.py")]) == 1.0  # one of several places will do
    assert ndcg(query, [_row("a.py", "other"), _row("d.py")]) == 0.0
    late = ndcg(query, [_row("d.py"), _row("c.py"), _row("a.py", "add")])
    assert 0 < late < ndcg(query, [_row("d.py"), _row("a.py", "add"), _row("c.py")]) < 1


@pytest.mark.parametrize(("name", "least"), [("sample", 0.9), ("click", 0.9)])
def test_results_are_as_good_as_they_were(tmp_path: Path, name: str, least: float) -> None:
    root = tmp_path / name
    origin, target = (_SAMPLE, root) if name == "sample" else (Path(click.__file__).parent, root / "click")
    shutil.copytree(origin, target, ignore=shutil.ignore_patterns("__pycache__"))
    program.git(root, "init", "-q", "-b", "main")
    concord("build", root, "--no-book", env={"CONCORDANCE_CACHE": str(tmp_path / "cache")})
    queries = read_queries(_QUERIES / f"{name}.tsv")
    with concordance.open(root, update=False) as repository:
        scores = measure(repository, queries)
    weak = [f"{score:.2f} {query.text}" for query, score in zip(queries, scores, strict=True) if score < 1]
    assert sum(scores) / len(scores) >= least, weak
