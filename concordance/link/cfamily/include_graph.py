"""Which files of the C family see which: what a file includes, directly and indirectly.

In: the targets of each `#include`. Out: for each file, an integer with one bit for each file that others can see, set
for those whose text is part of it. Most files are seen by no other and have no bit: a bit for every file would make the
integers of a large repository three times as long. Only those of headers are stored, for a file that is never included
is needed only once.
"""

from __future__ import annotations

from array import array
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

    def __init__(
        self, included: dict[int, list[int]], headers: Iterable[int], files: int, numbered: Iterable[int] = ()
    ) -> None:
        """`included` maps each file to those it includes; `headers` are further files that may be included; `files` is
        the number of all files. `numbered` are files that get a bit although no other file may see them."""
        self.included = included
        self.headers = {other for others in included.values() for other in others}
        self.headers.update(headers)
        self._parts = self._files_with_one_includer()
        self._numbered = array("I", sorted({*self.headers, *self._parts.values(), *numbered}))
        self.no_bit = len(self._numbered)
        self.bit_of = array("I", [self.no_bit]) * files  # by file: the place of its bit, or one that is never set
        for bit, number in enumerate(self._numbered):
            self.bit_of[number] = bit
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
        headers = (number for number in numbers if is_header(world.files[number].path))
        return cls(included, headers, len(world.files))

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

    def _files_with_one_includer(self) -> dict[int, int]:
        """Return the files that are included once, each with the file that does so."""
        includers: dict[int, list[int]] = {}
        for number, included in self.included.items():
            for other in included:
                includers.setdefault(other, []).append(number)
        return {number: others[0] for number, others in includers.items() if len(others) == 1}

    def _extend_parts(self) -> None:
        """Let a file that only one other includes see everything the other sees, because it is a part of it."""
        for number, other in self._parts.items():
            self._visible[number] = self._visible.get(number, self._bit(number)) | self.visible_files(other)

    def _bit(self, number: int) -> int:
        bit = self.bit_of[number]
        return 1 << bit if bit != self.no_bit else 0

    def _union(self, number: int) -> int:
        bits = self._bit(number)
        for other in self.included.get(number, ()):
            bits |= self._visible.get(other, 0) or self._bit(other)
        return bits

    def visible_files(self, number: int) -> int:
        """Return a bit for each file whose text is part of this one; its own is set if it has one."""
        return self._visible[number] if number in self._visible else self._union(number)

    def first_of(self, bits: int) -> int:
        """Return the lowest number of the files whose bits are set."""
        return self._numbered[(bits & -bits).bit_length() - 1]

    def bits_of(self, numbers: Iterable[int]) -> int:
        """Return the bits of some files, as far as they have one."""
        bits = 0
        for number in numbers:
            bits |= self._bit(number)
        return bits
