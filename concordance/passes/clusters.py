"""Groups files into clusters that use one another more than chance would suggest (the Louvain method).

In: the number of files, and which uses which how often. Out: the clusters, largest first, each with its key file. Each
file moves to the cluster it is most strongly tied to; then clusters are moved in the same way, until nothing moves.
Files are processed in the given order, so that the same repository always gives the same clusters. A file that
everything uses says little about what belongs together, so uses of it weigh less.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

_MIN_GAIN = 1e-9  # smaller gains are rounding errors
# from this many files on, clusters become finer; otherwise a large repository would be split into a few huge ones
_FINE = 100

Weights = list[dict[int, float]]  # for each node, the weights of its neighbours


class Cluster(NamedTuple):
    """Files that belong together."""

    key: int  # the file that many of the others use, and few outside the cluster
    members: list[int]  # in ascending order


def find_clusters(count: int, pairs: Sequence[tuple[int, int, int]]) -> list[Cluster]:
    """Return the clusters of two files or more; a pair is the using file, the used file, and the number of uses."""
    users = Counter(target for _, target, _ in pairs)
    weights: Weights = [{} for _ in range(count)]
    for user, target, times in pairs:
        weight = times.bit_length() / math.sqrt(users[target])
        weights[user][target] = weights[user].get(target, 0.0) + weight
        weights[target][user] = weights[target].get(user, 0.0) + weight
    inside = [0.0] * count
    place = list(range(count))
    fineness = 1 + max(0.0, math.log2(count / _FINE)) / 2 if count else 1.0
    while True:
        group = _move_nodes(weights, inside, fineness)
        merged, inside, names = _merge_clusters(weights, inside, group)
        place = [names[group[one]] for one in place]
        if len(merged) == len(weights):
            break
        weights = merged
    members: dict[int, list[int]] = {}
    for file, label in enumerate(place):
        members.setdefault(label, []).append(file)
    keys = _keys(place, pairs, users)
    clusters = [Cluster(keys.get(label, files[0]), files) for label, files in members.items() if len(files) > 1]
    return sorted(clusters, key=lambda cluster: (-len(cluster.members), cluster.members[0]))


def _move_nodes(near: Weights, inside: Sequence[float], fineness: float) -> list[int]:
    """Return the cluster of each node, after each has moved where it gains most.

    When a node moves, its neighbours in other clusters are examined again.
    """
    total = [sum(row.values()) + own for row, own in zip(near, inside, strict=True)]
    share = fineness / (sum(total) or 1.0)
    group, weight = list(range(len(near))), list(total)
    waiting, waits = deque(range(len(near))), bytearray(b"\1") * len(near)
    while waiting:
        point = waiting.popleft()
        waits[point] = 0
        toward: dict[int, float] = {}
        for other, value in near[point].items():
            there = group[other]
            toward[there] = toward.get(there, 0.0) + value
        here, own = group[point], total[point] * share
        weight[here] -= total[point]
        best, gain = here, toward.get(here, 0.0) - weight[here] * own + _MIN_GAIN
        for there, value in toward.items():
            if value - weight[there] * own > gain:
                best, gain = there, value - weight[there] * own
        weight[best] += total[point]
        if best != here:
            group[point] = best
            for other in near[point]:
                if not waits[other] and group[other] != best:
                    waits[other] = 1
                    waiting.append(other)
    return group


def _merge_clusters(
    near: Weights, inside: Sequence[float], group: Sequence[int]
) -> tuple[Weights, list[float], dict[int, int]]:
    """Return clusters as nodes: their neighbours, the weight inside each, and the number of each."""
    names: dict[int, int] = {}
    for cluster in group:
        names.setdefault(cluster, len(names))
    merged: Weights = [{} for _ in names]
    within = [0.0] * len(names)
    for point, row in enumerate(near):
        here = names[group[point]]
        within[here] += inside[point]
        for other, value in row.items():
            there = names[group[other]]
            if here == there:
                within[here] += value
            else:
                merged[here][there] = merged[here].get(there, 0.0) + value
    return merged, within, names


def _keys(place: Sequence[int], pairs: Sequence[tuple[int, int, int]], users: Counter[int]) -> dict[int, int]:
    """Return the key file of each cluster: used by many of its files, and by few others."""
    inner_uses = Counter(target for user, target, _ in pairs if place[user] == place[target])
    best: dict[int, tuple[float, int]] = {}
    for file, count in inner_uses.items():
        score = (count * count / users[file], -file)
        if place[file] not in best or best[place[file]] < score:
            best[place[file]] = score
    return {cluster: -score[1] for cluster, score in best.items()}
