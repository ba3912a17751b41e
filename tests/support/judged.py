"""Judged searches: queries with the answers that people look for, and how well a list of results has them (NDCG@10).

In: a file with a query in each line, the answers wanted, and those that help, separated by tabs; ` ; ` separates
answers, ` | ` places of which any will do. A place is a file or folder, or `path#name`: a definition or an operator in
that file. Out: a number from 0 to 1 for each query. An answer counts where it comes first among the results, with 3
points if it is wanted and 1 if it helps, divided by the logarithm of its position. NDCG is this sum over the first ten
results divided by the best possible sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from concordance.api import Repository

_CUT = 10
_WANTED, _HELPS = 3.0, 1.0


class JudgedAnswer(NamedTuple):
    """One answer: places of which any will do, and its points."""

    places: tuple[str, ...]
    points: float

    def is_at(self, row: dict[str, Any]) -> bool:
        """True if a result is one of the places."""
        name = re.split(r"::|\.", str(row["symbol"]))[-1]
        return any(place in (row["path"], f"{row['path']}#{name}") for place in self.places)


class JudgedQuery(NamedTuple):
    """What somebody types, and what they look for."""

    text: str
    answers: tuple[JudgedAnswer, ...]


def read_queries(path: Path) -> list[JudgedQuery]:
    """Read a file of queries: the text, the answers wanted, and those that help, separated by tabs."""
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            text, *columns = line.split("\t")
            answers = [
                JudgedAnswer(tuple(answer.split(" | ")), points)
                for column, points in zip(columns, (_WANTED, _HELPS), strict=False)
                for answer in column.split(" ; ")
            ]
            found.append(JudgedQuery(text, tuple(answers)))
    return found


def ndcg(query: JudgedQuery, rows: Iterable[dict[str, Any]]) -> float:
    """Return the quality of one list of results, from 0 to 1."""
    left = list(query.answers)
    gained = 0.0
    for place, row in enumerate(list(rows)[:_CUT], 2):
        met = next((answer for answer in left if answer.is_at(row)), None)
        if met is not None:
            left.remove(met)
            gained += met.points / math.log2(place)
    best = sum(answer.points / math.log2(place) for place, answer in enumerate(query.answers[:_CUT], 2))
    return gained / best


def measure(repository: Repository, queries: list[JudgedQuery]) -> list[float]:
    """Return the quality of each query's results."""
    return [ndcg(query, repository.search(query.text, number=_CUT)) for query in queries]
