"""In which order Python looks for a member in a class and those above it.

In: a class, and who says which are its bases. Out: the class and those above it: merged as Python merges them (C3), or,
where one of them is above itself, which Python would refuse, the nearest first. What holds for one class is worked out
from what holds for its bases, from the top down and without recursion: a chain of classes can be longer than Python's
stack, and whoever asks first leaves behind what all others above would ask for.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable

from concordance.link.world import Loaded, World

Order = list[tuple[Loaded, int]]
_MOST_ABOVE = 200  # classes: who has more is no person's work


class Orders:
    """Knows the orders of classes, by their ids."""

    def __init__(self, world: World, bases: Callable[[Loaded, int], Iterable[int]], doubts: Callable[[], int]) -> None:
        """`bases` gives those of a class; `doubts` counts how often it gave what holds for now only."""
        self.world, self._bases, self._doubts = world, bases, doubts
        self._kept: dict[int, Order] = {}
        self._round: set[int] = set()  # classes that are above themselves, or below such a one

    def of(self, identity: int) -> Order:
        """A class's order; its own place is the first."""
        found = self._kept.get(identity)
        return found if found is not None else self._found(identity)

    def _found(self, identity: int) -> Order:
        above, doubted = self._gathered(identity)
        waits = {one: sum(base in above for base in bases) for one, bases in above.items()}
        below: dict[int, list[int]] = {}
        for one, bases in above.items():
            for base in bases:
                below.setdefault(base, []).append(one)
        ready = [one for one, count in waits.items() if not count]
        orders: dict[int, Order] = {}
        for one in ready:  # which grows meanwhile
            bases = above[one]
            if not self._round.isdisjoint(bases):
                self._round.add(one)
            if not doubted.isdisjoint(bases):
                doubted.add(one)
            orders[one] = self._nearest(one, above) if one in self._round else self._merged(one, bases, orders)
            for other in below.get(one, ()):
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        circle = above.keys() - orders.keys()  # what is left waits for itself
        orders.update((one, self._nearest(one, above)) for one in circle)
        if doubted:  # whose circle this is, if it is one, may be known better later
            doubted |= circle
            self._round -= doubted
        else:
            self._round |= circle
        self._kept.update((one, order) for one, order in orders.items() if one not in doubted)
        return orders[identity]

    def _gathered(self, identity: int) -> tuple[dict[int, list[int]], set[int]]:
        """The classes above one of which the order is not known yet, each with its bases; and those whose bases are
        doubtful."""
        above: dict[int, list[int]] = {}
        doubted = set[int]()
        waiting = [identity]
        while waiting:
            one = waiting.pop()
            if one not in above and one not in self._kept:
                before = self._doubts()
                above[one] = list(dict.fromkeys(self._bases(*self.world.owner(one))))
                if self._doubts() != before:
                    doubted.add(one)
                waiting += above[one]
        return above, doubted

    def _merged(self, identity: int, bases: list[int], orders: dict[int, Order]) -> Order:
        lists = [orders[base] if base in orders else self._kept[base] for base in bases]
        owner = self.world.owner(identity)
        if len(lists) == 1:
            return [owner, *lists[0][:_MOST_ABOVE]]
        return [owner, *_merged([*lists, [self.world.owner(base) for base in bases]])]

    def _nearest(self, identity: int, above: dict[int, list[int]]) -> Order:
        """A class and those above it, each once, the nearest first."""
        found = {identity: self.world.owner(identity)}
        waiting = deque([identity])
        while waiting:
            one = waiting.popleft()
            for base in above[one] if one in above else self._bases(*found[one]):
                if base not in found and len(found) <= _MOST_ABOVE:
                    found[base] = self.world.owner(base)
                    waiting.append(base)
        return list(found.values())


def _merged(lists: list[Order]) -> Order:
    """C3: the first head that is in no other's rest; where there is none, as Python would refuse, the first head."""
    rests = Counter(one for order in lists for one in order[1:])
    heads = [0] * len(lists)
    found: dict[tuple[Loaded, int], None] = {}
    while len(found) < _MOST_ABOVE:
        open_ = [order[head] for order, head in zip(lists, heads, strict=True) if head < len(order)]
        if not open_:
            break
        found[next((one for one in open_ if not rests[one]), open_[0])] = None
        for place, order in enumerate(lists):
            while heads[place] < len(order) and order[heads[place]] in found:
                heads[place] += 1
                if heads[place] < len(order):
                    rests[order[heads[place]]] -= 1
    return list(found)
