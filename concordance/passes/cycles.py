"""Finds cyclic dependencies: the strongly connected components of a graph.

In: the number of nodes, and edges between them (user, target). Out: the components, each after all that it depends on;
a component of several nodes is a cycle. Tarjan's algorithm, in time linear in the edges, written without recursion
because a chain of files can be longer than Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterable


def strongly_connected_components(count: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the components, each sorted; a component comes after those it depends on."""
    needs: list[list[int]] = [[] for _ in range(count)]
    for user, target in edges:
        needs[user].append(target)
    components: list[list[int]] = []
    order, low = [0] * count, [0] * count  # when a node was met, and the earliest open node it leads to; 0: not yet
    done = bytearray(count)
    open_: list[int] = []
    met = 0
    for root in range(count):
        way = [] if order[root] else [(root, 0)]
        while way:
            point, at = way.pop()
            if not at:
                met += 1
                order[point] = low[point] = met
                open_.append(point)
            following = needs[point]
            while at < len(following) and order[following[at]]:
                if not done[following[at]]:
                    low[point] = min(low[point], order[following[at]])
                at += 1
            if at < len(following):
                way += ((point, at + 1), (following[at], 0))
                continue
            if low[point] == order[point]:
                components.append(_pop_component(open_, point, done))
            if way:
                low[way[-1][0]] = min(low[way[-1][0]], low[point])
    return components


def _pop_component(open_: list[int], point: int, done: bytearray) -> list[int]:
    """Remove and return the nodes that were opened since a node, including itself."""
    begin = len(open_) - 1
    while open_[begin] != point:
        begin -= 1
    component = sorted(open_[begin:])
    del open_[begin:]
    for number in component:
        done[number] = 1
    return component
