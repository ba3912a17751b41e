"""How high each file stands: over what it needs, and under what needs it.

In: the components of the graph of needs, in the order in which they can be built, and its edges. Out: for each file the
longest chain of needs below it and above it. Files of a cycle stand on one height. Who is above counts only where it
counts as a user: a test makes no file a part of something larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class LayerRow(NamedTuple):
    """Where a file stands."""

    height: int  # files in the longest chain of what it needs; 0 where it needs nothing of the repository
    depth: int  # files in the longest chain of who needs it; 0 where nobody does


def standings(
    components: Sequence[Sequence[int]], edges: Iterable[tuple[int, int]], counts: Sequence[bool]
) -> list[LayerRow]:
    """The standing of each file; `counts` says of each whether it counts as a user."""
    owner = [0] * len(counts)
    for number, members in enumerate(components):
        for member in members:
            owner[member] = number
    above: list[set[int]] = [set() for _ in components]  # needed by, among those that count
    below: list[set[int]] = [set() for _ in components]
    for user, target in edges:
        if owner[user] != owner[target]:
            below[owner[user]].add(owner[target])
            if counts[user]:
                above[owner[target]].add(owner[user])
    height, depth = [0] * len(components), [0] * len(components)
    for number in range(len(components)):
        height[number] = max((height[one] + 1 for one in below[number]), default=0)
    for number in range(len(components) - 1, -1, -1):
        depth[number] = max((depth[one] + 1 for one in above[number]), default=0)
    return [LayerRow(height[one], depth[one]) for one in owner]
