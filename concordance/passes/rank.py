"""How central each file is: what much of the repository leads to, directly or through others.

In: the files with their categories, and who uses whom how much. Out: a number from 0 to 1 for each file. A reader who
opens a file at random, follows a use at random, and now and then starts anew, is in a file so often; files for
people are where readers start, so what only tests, examples or borrowed code use counts for less. The numbers differ
by powers of ten, so their logarithms are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from concordance.model import Category

_FOLLOWS = 0.85
_ROUNDS = 20
_STARTS = {
    Category.SOURCE: 1.0, Category.BUILD: 0.3, Category.CONFIGURATION: 0.3, Category.EXAMPLE: 0.2,
    Category.BENCHMARK: 0.2, Category.TEST: 0.2, Category.DOCUMENTATION: 0.2, Category.DATA: 0.1,
    Category.GENERATED: 0.1, Category.VENDORED: 0.1,
}  # fmt: skip


def ranks(files: Mapping[int, str], pairs: Sequence[tuple[int, int, int]]) -> dict[int, float]:
    """The rank of each file by its id; `files` gives its category, a pair is who uses, who is used, and how much."""
    number = {identity: place for place, identity in enumerate(files)}
    starts = [_STARTS[Category(category)] for category in files.values()]
    total = sum(starts) or 1.0
    starts = [start / total for start in starts]
    users, targets, shares = _edges(number, pairs)
    rank = starts
    for _ in range(_ROUNDS):
        following = [0.0] * len(rank)
        for user, target, share in zip(users, targets, shares, strict=True):
            following[target] += rank[user] * share
        lost = 1 - _FOLLOWS * sum(following)  # who starts anew, and who is in a file that leads nowhere
        rank = [_FOLLOWS * one + lost * start for one, start in zip(following, starts, strict=True)]
    return dict(zip(files, _scaled(rank), strict=True))


def _edges(
    number: Mapping[int, int], pairs: Sequence[tuple[int, int, int]]
) -> tuple[list[int], list[int], list[float]]:
    """The pairs in columns, with the share of a user's readers that go each way. A use more counts less and less."""
    users = [number[pair[0]] for pair in pairs]
    weights = [1 + math.log2(pair[2]) for pair in pairs]
    out = [0.0] * len(number)
    for user, weight in zip(users, weights, strict=True):
        out[user] += weight
    return users, [number[pair[1]] for pair in pairs], [w / out[u] for u, w in zip(users, weights, strict=True)]


def _scaled(rank: list[float]) -> list[float]:
    """From 0 to 1, by logarithm."""
    if not rank:
        return []
    low, high = math.log(min(rank)), math.log(max(rank))
    return [(math.log(one) - low) / (high - low) if high > low else 1.0 for one in rank]
