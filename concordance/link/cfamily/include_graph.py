"""Which files of the C family see which: what a file includes, directly and indirectly.

In: the targets of each `#include`. Out: for each file, an integer with one bit for each file of the repository, set for
those whose text is part of it. Only those of headers are stored: a file that is never included is needed only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from concordance.base.model import Target
from concordance.link.world import LinkWorld

_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".cuh", ".inl", ".ipp", ".tpp", ".tcc", ".inc", ".def")


def included_files(targets: Iterable[Target], number: Mapping[str, int]) -> list[int]:
    """Return the numbers of the files that the given includes resolve to."""
    paths = (target.paths[0] for target in targets if target.paths)
    return [number[path] for path in paths if path in number]


def is_header(path: str) -> bool:
    """True if a file is meant to be included."""
    return path.endswith(_HEADERS)


class IncludeGraph:
    """The transitive includes of a repository."""

    def __init__(self, included: dict[int, list[int]], headers: Iterable[int]) -> None:
        """`included` maps each file to those it includes; `headers` are further files that may be included."""
        self.included = included
        self.headers = {other for others in included.values() for other in others}
        self.headers.update(headers)
        self._visible: dict[int, int] = {}
        for number in sorted(self.headers):
            self._follow(number)
        self._extend_parts()

    @classmethod
    def of(cls, world: LinkWorld, numbers: Iterable[int]) -> IncludeGraph:
        """Build the graph of the given files."""
        numbers = list(numbers)
        included = {
            number: world.included[number] if number in world.included
            else included_files(world.targets_of(number), world.number)
            for number in numbers
        }  # fmt: skip
        return cls(included, (number for number in numbers if is_header(world.files[number].path)))

    def _follow(self, first: int) -> None:
        """Compute what headers include, included files before their includers; a cycle is cut where it closes."""
        done, begun = self._visible, set()
        waiting = [first]
        while waiting:
            number = waiting[-1]
            if number in done or number in begun:
                waiting.pop()
                if number not in done:
                    done[number] = self._union(number)
            else:
                begun.add(number)
                waiting += [n for n in self.included.get(number, ()) if n not in done and n not in begun]

    def _extend_parts(self) -> None:
        """Let a file that only one other includes see everything the other sees, because it is a part of it."""
        includers: dict[int, list[int]] = {}
        for number, included in self.included.items():
            for other in included:
                includers.setdefault(other, []).append(number)
        for number, others in includers.items():
            if len(others) == 1:
                self._visible[number] = self._visible.get(number, 1 << number) | self.visible_files(others[0])

    def _union(self, number: int) -> int:
        bits = 1 << number
        for other in self.included.get(number, ()):
            bits |= self._visible.get(other, 1 << other)
        return bits

    def visible_files(self, number: int) -> int:
        """Return a bit for each file whose text is part of this one, including itself."""
        return self._visible[number] if number in self._visible else self._union(number)
