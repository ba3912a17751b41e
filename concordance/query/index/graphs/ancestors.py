"""The classes that a class inherits from, directly or indirectly.

In: an index and the id of a class. Out: its ancestors in the repository, in the order in which members are looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from concordance.extract.registry import language_of
from concordance.facts.updates.delta import Aspect
from concordance.query.index.repository import Index

_MAX_ANCESTORS = 60  # ancestors that are considered: more mean a cycle


class Ancestor(NamedTuple):
    """A class that another inherits from."""

    id: int
    far: int  # number of steps
    path: str
    place: int


def ancestors_of(index: Index, identity: int) -> list[Ancestor]:
    """Return the ancestors of a class, each once.

    They are in method resolution order in Python, else nearest first.
    """
    direct: dict[int, list[int]] = {}
    far = {identity: 0}
    left = [identity]
    while left and len(far) <= _MAX_ANCESTORS:
        now = left.pop(0)
        index.reads.note(Aspect.BASES, index.path_of(now))
        direct[now] = [base for base in index.facts.bases_of(now) if not index.path_of_file(base)]
        for base in direct[now]:
            if base not in far:
                far[base] = far[now] + 1
                left.append(base)
    language = language_of(index.language_of(index.path_of(identity)))
    order = _resolution_order(direct, identity, ()) if language.orders_bases else None
    return [Ancestor(base, far[base], *index.order_of(base)) for base in (order[1:] if order else list(far)[1:])]


def _resolution_order(direct: Mapping[int, list[int]], class_id: int, below: tuple[int, ...]) -> list[int] | None:
    """Return a class and its ancestors in Python's method resolution order; None if there is no such order."""
    if class_id in below:
        return None
    rows = []
    for base in direct.get(class_id, ()):
        row = _resolution_order(direct, base, (*below, class_id))
        if row is None:
            return None
        rows.append(row)
    rows.append(list(direct.get(class_id, ())))
    order = [class_id]
    while rows := [row for row in rows if row]:
        head = next((row[0] for row in rows if not any(row[0] in other[1:] for other in rows)), None)
        if head is None:
            return None
        order.append(head)
        rows = [row[1:] if row[0] == head else row for row in rows]
    return order
