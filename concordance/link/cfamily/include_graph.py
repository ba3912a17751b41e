"""Which files of the C family see which: what a file includes, and what that includes.

In: where each `#include` leads. Out: for a file a number with one bit for each file of the repository, set for those
whose text is part of it. Only headers' are kept: what a file sees that nobody includes is asked for once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from concordance.base.model import Target
from concordance.link.world import LinkWorld

_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".ipp", ".tpp", ".tcc", ".inc", ".def")


def included_by(targets: Iterable[Target], number: Mapping[str, int]) -> list[int]:
    """The numbers of the files that some includes lead to."""
    paths = (target.paths[0] for target in targets if target.paths)
    return [number[path] for path in paths if path in number]


def is_header(path: str) -> bool:
    """Whether a file is meant to be included."""
    return path.endswith(_HEADERS)


class IncludeGraph:
    """The includes of a repository, followed to their ends."""

    def __init__(self, included: dict[int, list[int]], headers: Iterable[int]) -> None:
        """`included` has by file those that it includes; `headers` are some of those that others may include."""
        self.included = included
        self.headers = {other for others in included.values() for other in others}
        self.headers.update(headers)
        self._all: dict[int, int] = {}
        for number in sorted(self.headers):
            self._follow(number)
        self._lend()

    @classmethod
    def of(cls, world: LinkWorld, numbers: Iterable[int]) -> IncludeGraph:
        """That of some files."""
        numbers = list(numbers)
        included = {
            number: world.included[number] if number in world.included
            else included_by(world.targets_of(number), world.number)
            for number in numbers
        }  # fmt: skip
        return cls(included, (number for number in numbers if is_header(world.files[number].path)))

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
                waiting += [n for n in self.included.get(number, ()) if n not in done and n not in begun]

    def _lend(self) -> None:
        """Lets a file that only one other includes see what that one does: it is a part of it."""
        includers: dict[int, list[int]] = {}
        for number, included in self.included.items():
            for other in included:
                includers.setdefault(other, []).append(number)
        for number, others in includers.items():
            if len(others) == 1:
                self._all[number] = self._all.get(number, 1 << number) | self.seen(others[0])

    def _sum(self, number: int) -> int:
        bits = 1 << number
        for other in self.included.get(number, ()):
            bits |= self._all.get(other, 1 << other)
        return bits

    def seen(self, number: int) -> int:
        """A bit for each file whose text is part of this one, itself included."""
        return self._all[number] if number in self._all else self._sum(number)
