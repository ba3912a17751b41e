"""How central each file is to the repository: PageRank over uses.

In: the files' categories, and which file uses which how often. Out: a number from 0 to 1 for each file. The rank is how
often a reader is in a file who opens one at random, follows uses at random, and now and then starts over. Source files
are the most likely starting points, so a file that only tests, examples or vendored code use counts for less. Ranks
differ by powers of ten, so their logarithms are returned.
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


def compute_ranks(categories: Sequence[str], pairs: Sequence[tuple[int, int, int]]) -> list[float]:
    """Return the rank of each file, by number; a pair is the using file, the used file, and the number of uses."""
    starts = [_STARTS[Category(category)] for category in categories]
    total = sum(starts) or 1.0
    starts = [start / total for start in starts]
    users, targets, shares = _edges(len(starts), pairs)
    rank = starts
    for _ in range(_ROUNDS):
        following = [0.0] * len(rank)
        for user, target, share in zip(users, targets, shares, strict=True):
            following[target] += rank[user] * share
        lost = 1 - _FOLLOWS * sum(following)  # readers who start over, and readers in a file without outgoing uses
        rank = [_FOLLOWS * score + lost * start for score, start in zip(following, starts, strict=True)]
    return _scaled(rank)


def _edges(count: int, pairs: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[int], list[float]]:
    """Return the pairs as columns, with the share of a user's readers that follows each.

    Doubling the number of uses adds only one to the weight, so that a single use more or less rarely changes a rank.
    """
    users = [pair[0] for pair in pairs]
    weights = [pair[2].bit_length() for pair in pairs]
    out = [0.0] * count
    for user, weight in zip(users, weights, strict=True):
        out[user] += weight
    return users, [pair[1] for pair in pairs], [w / out[u] for u, w in zip(users, weights, strict=True)]


def _scaled(rank: list[float]) -> list[float]:
    """Scale to 0 to 1, by logarithm, rounded to a thousandth, so that small changes elsewhere leave most ranks as they
    are."""
    if not rank:
        return []
    low, high = math.log(min(rank)), math.log(max(rank))
    return [round((math.log(one) - low) / (high - low), 3) if high > low else 1.0 for one in rank]
