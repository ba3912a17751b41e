"""The layer of each file: above everything it depends on, and below everything that depends on it.

In: the components of the dependency graph, in build order, and its edges. Out: for each file, the length of the longest
chain of dependencies and of dependents. The files of a cycle share one layer. A dependent counts only if it is marked
as a user: a test does not make a file part of something larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class LayerRow(NamedTuple):
    """The position of a file."""

    height: int  # files in the longest chain of dependencies; 0 if it depends on nothing in the repository
    depth: int  # files in the longest chain of dependents; 0 if there are none


def compute_layers(
    components: Sequence[Sequence[int]], edges: Iterable[tuple[int, int]], counts: Sequence[bool]
) -> list[LayerRow]:
    """Return the position of each file; `counts` says for each file whether it counts as a user."""
    owner = [0] * len(counts)
    for number, members in enumerate(components):
        for member in members:
            owner[member] = number
    above: list[set[int]] = [set() for _ in components]  # dependents, among those that count
    below: list[set[int]] = [set() for _ in components]
    for user, target in edges:
        if owner[user] != owner[target]:
            below[owner[user]].add(owner[target])
            if counts[user]:
                above[owner[target]].add(owner[user])
    height, depth = [0] * len(components), [0] * len(components)
    for number in range(len(components)):
        height[number] = max((height[other] + 1 for other in below[number]), default=0)
    for number in range(len(components) - 1, -1, -1):
        depth[number] = max((depth[other] + 1 for other in above[number]), default=0)
    return [LayerRow(height[number], depth[number]) for number in owner]
