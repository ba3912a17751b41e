"""The repository as a bridge sees it: the ends stated in files, the linker's targets, and symbols by name.

In: the store that is being written, once all files are linked. Out: `StatedEnd` ends and `LinkedName` targets. All of a
bridge's queries by name go through here, so that the dependencies of its result are known.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, TypeVar, cast

from concordance.base.model import Bridge, End, ForeignName, Links, Occurrences, Trust, unpack_column
from concordance.facts.links.bridge_rows import BridgeReads
from concordance.facts.read import SymbolPlace
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.link.paths.tree import Tree
from concordance.link.python.module_finder import ModuleFinder

Value = TypeVar("Value")


class BridgeFile(NamedTuple):
    """A file of the repository."""

    id: int
    ids: SymbolIds
    path: str
    language: str
    category: str


class StatedEnd(NamedTuple):
    """An end, and the file that states it."""

    file: BridgeFile
    number: int  # index among its file's ends
    end: End

    @property
    def id(self) -> int:
        """The id of the symbol around it, or of its file."""
        return self.file.ids.of(self.end.symbol)

    def to(
        self, target: int, trust: Trust, by: str, name: str = "", role: str = "", more: tuple[tuple[str, str], ...] = ()
    ) -> Bridge:
        """Return a row that joins this end with a target (0 if the target is not in the repository)."""
        end = self.end
        return Bridge(end.bridge, end.says, name or end.name, self.id, self.number, target, trust, by, role, more)


class LinkedName(NamedTuple):
    """One target that the linker found for a name."""

    target: int
    trust: Trust
    by: str


class _Names:
    """The names of one file by position. Only a few are looked up, so links are unpacked one at a time."""

    def __init__(self, occurrences: Occurrences, links: Links) -> None:
        self._starts = [0, *accumulate(unpack_column(occurrences.lengths))]
        self._offsets = list(accumulate(unpack_column(occurrences.step)))
        self._uses, self._links = unpack_column(occurrences.use), links
        self._linked_uses, self._targets = unpack_column(links.use), unpack_column(links.target)

    def at(self, line: int, col: int) -> list[LinkedName]:
        """Return the linker's targets of the name at a position, best first."""
        if not 0 < line < len(self._starts) or not self._uses:
            return []
        offset = self._starts[line - 1] + col - 1
        place = bisect_left(self._offsets, offset)
        if place == len(self._offsets) or self._offsets[place] != offset or not self._uses[place]:
            return []
        use, links = self._uses[place] - 1, self._links
        rows = range(bisect_left(self._linked_uses, use), bisect_right(self._linked_uses, use))
        return [LinkedName(self._targets[row], Trust(links.trust[row]), links.resolvers[links.by[row]]) for row in rows]


class BridgeContext:
    """What bridges can query when they are joined."""

    def __init__(self, reads: BridgeReads, tree: Tree) -> None:
        self._reads, self._tree = reads, tree
        self.files = [BridgeFile(*row) for row in reads.files()]
        self._names: dict[int, _Names] = {}
        self._values: dict[Callable[[BridgeContext], object], object] = {}

    def once(self, make: Callable[[BridgeContext], Value]) -> Value:
        """Return a value computed from all ends, computing it only once for all bridges."""
        if make not in self._values:
            self._values[make] = make(self)
        return cast(Value, self._values[make])

    @cached_property
    def file_of(self) -> dict[str, BridgeFile]:
        """The files by path."""
        return {row.path: row for row in self.files}

    @cached_property
    def _ends_by_bridge(self) -> dict[str, list[StatedEnd]]:
        ends, found = self._reads.ends(), dict[str, list[StatedEnd]]()
        for row in self.files:
            for number, end in enumerate(ends.get(row.id, ())):
                found.setdefault(end.bridge, []).append(StatedEnd(row, number, end))
        return found

    def ends(self, bridge: str, *says: str) -> list[StatedEnd]:
        """Return the ends of a bridge, all or only those of certain kinds; by path, in the order of the text."""
        return [one for one in self._ends_by_bridge.get(bridge, ()) if not says or one.end.says in says]

    @cached_property
    def foreign_names(self) -> dict[str, list[ForeignName]]:
        """The dotted Python names that no Python file of the repository defines, with the symbols that request each."""
        found: dict[str, list[ForeignName]] = {}
        rows = self._reads.asks()
        for row in self.files:
            for one in rows.get(row.id, ()):
                found.setdefault(one.name, []).append(one)
        return found

    def symbols_named(self, name: str, languages: Iterable[str] = ()) -> list[SymbolPlace]:
        """Return the symbols of a name, in the given languages or in any; by path, in the order of the text."""
        wanted = frozenset(languages)
        return [one for one in self._reads.symbols_named(name) if not wanted or one.language in wanted]

    def symbols(self, file: BridgeFile) -> list[SymbolPlace]:
        """Return the symbols of a file, in order."""
        return self._reads.symbols_in(file.id)

    def symbol(self, identity: int) -> SymbolPlace | None:
        """Return the symbol of an id; None if it is the id of a file."""
        return self._reads.place(identity)

    def users(self, target: int) -> list[tuple[int, int, int]]:
        """Return the users of a symbol: the id of the using symbol or file, its roles as bits, and the best trust."""
        return self._reads.users(target)

    def file_containing(self, identity: int) -> BridgeFile:
        """Return the file that contains an id."""
        return self._by_id[self._owners[identity]]

    @cached_property
    def _owners(self) -> IdOwners[int]:
        return self._reads.owners()

    @cached_property
    def _by_id(self) -> dict[int, BridgeFile]:
        return {row.id: row for row in self.files}

    def targets_of(self, one: StatedEnd) -> list[LinkedName]:
        """Return the linker's targets of the name at the position of an end, best first."""
        return self.targets_at(one.file, one.end.line, one.end.col)

    def targets_at(self, file: BridgeFile, line: int, col: int) -> list[LinkedName]:
        """Return the linker's targets of the name at a position in a file."""
        names = self._names.get(file.id)
        if names is None:
            names = self._names[file.id] = _Names(self._reads.occurrences(file.id), self._reads.links(file.id))
        return names.at(line, col)

    def module_of(self, path: str) -> str:
        """Return the dotted name under which others import a Python file; "" if it has none."""
        return self._tree.once(ModuleFinder).name_of(path)
