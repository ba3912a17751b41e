"""Which files of the C family see which: what a file includes, and what that includes.

In: where each `#include` leads. Out: for a file a number with one bit for each file of the repository, set for those
whose text is part of it. Only headers' are kept: what a file sees that nobody includes is asked for once.
"""

from __future__ import annotations

from collections.abc import Iterable

from .world import World

_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".ipp", ".tpp", ".tcc", ".inc", ".def")


class Reach:
    """The includes of a repository, followed to their ends."""

    def __init__(self, world: World, numbers: Iterable[int]) -> None:
        self._included: dict[int, list[int]] = {}
        numbers = list(numbers)
        for number in numbers:
            paths = (target.paths[0] for target in world.targets(world.load(number)) if target.paths)
            self._included[number] = [world.number[path] for path in paths if path in world.number]
        self.headers = {other for included in self._included.values() for other in included}
        self.headers.update(number for number in numbers if world.files[number].path.endswith(_HEADERS))
        self._all: dict[int, int] = {}
        for number in self.headers:
            self._follow(number)
        self._lend()

    def _follow(self, first: int) -> None:
        """Adds up what headers include, the included before who includes them; a circle is cut where it closes."""
        done, begun = self._all, set()
        waiting = [first]
        while waiting:
            number = waiting[-1]
            if number in done or number in begun:
                waiting.pop()
                if number not in done:
                    done[number] = self._sum(number)
            else:
                begun.add(number)
                waiting += [n for n in self._included.get(number, ()) if n not in done and n not in begun]

    def _lend(self) -> None:
        """Lets a file that only one other includes see what that one does: it is a part of it."""
        includers: dict[int, list[int]] = {}
        for number, included in self._included.items():
            for other in included:
                includers.setdefault(other, []).append(number)
        for number, others in includers.items():
            if len(others) == 1:
                self._all[number] = self._all.get(number, 1 << number) | self.seen(others[0])

    def _sum(self, number: int) -> int:
        bits = 1 << number
        for other in self._included.get(number, ()):
            bits |= self._all.get(other, 1 << other)
        return bits

    def seen(self, number: int) -> int:
        """A bit for each file whose text is part of this one, itself included."""
        return self._all[number] if number in self._all else self._sum(number)
