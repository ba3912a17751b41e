"""How central each file is: what much of the repository leads to, directly or through others.

In: the files with their categories, and who uses whom how much. Out: a number from 0 to 1 for each file. A reader who
opens a file at random, follows a use at random, and now and then starts anew, is in a file so often; files for
people are where readers start, so what only tests, examples or borrowed code use counts for less. The numbers differ
by powers of ten, so their logarithms are given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from concordance.base.model import Category

_FOLLOWS = 0.85
_ROUNDS = 20
_STARTS = {
    Category.SOURCE: 1.0, Category.BUILD: 0.3, Category.CONFIGURATION: 0.3, Category.EXAMPLE: 0.2,
    Category.BENCHMARK: 0.2, Category.TEST: 0.2, Category.DOCUMENTATION: 0.2, Category.DATA: 0.1,
    Category.GENERATED: 0.1, Category.VENDORED: 0.1,
}  # fmt: skip


def ranks(categories: Sequence[str], pairs: Sequence[tuple[int, int, int]]) -> list[float]:
    """The rank of each file by its number, given the files' categories; a pair is who uses, who is used, how much."""
    starts = [_STARTS[Category(category)] for category in categories]
    total = sum(starts) or 1.0
    starts = [start / total for start in starts]
    users, targets, shares = _edges(len(starts), pairs)
    rank = starts
    for _ in range(_ROUNDS):
        following = [0.0] * len(rank)
        for user, target, share in zip(users, targets, shares, strict=True):
            following[target] += rank[user] * share
        lost = 1 - _FOLLOWS * sum(following)  # who starts anew, and who is in a file that leads nowhere
        rank = [_FOLLOWS * one + lost * start for one, start in zip(following, starts, strict=True)]
    return _scaled(rank)


def _edges(count: int, pairs: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[int], list[float]]:
    """The pairs in columns, with the share of a user's readers that go each way. What is used twice as much counts one
    more, so that a use more or less seldom changes a rank."""
    users = [pair[0] for pair in pairs]
    weights = [pair[2].bit_length() for pair in pairs]
    out = [0.0] * count
    for user, weight in zip(users, weights, strict=True):
        out[user] += weight
    return users, [pair[1] for pair in pairs], [w / out[u] for u, w in zip(users, weights, strict=True)]


def _scaled(rank: list[float]) -> list[float]:
    """From 0 to 1, by logarithm, to a thousandth: so most stay as they are when little changes somewhere else."""
    if not rank:
        return []
    low, high = math.log(min(rank)), math.log(max(rank))
    return [round((math.log(one) - low) / (high - low), 3) if high > low else 1.0 for one in rank]
