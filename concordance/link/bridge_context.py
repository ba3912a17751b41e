"""The repository as a bridge sees it: the ends stated in files, the linker's targets, and symbols by name.

In: the store that is being written, once all files are linked. Out: `StatedEnd` ends and `LinkedName` targets. Whatever
a bridge reads goes through here and is recorded, so that an update joins it again only if any of that has changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, TypeVar, cast

from concordance.base.model import Bridge, End, ForeignName, Links, Occurrences, Trust, unpack_column
from concordance.facts.codec import unpack_ends
from concordance.facts.links.bridge_rows import BridgeReads
from concordance.facts.read import SymbolPlace
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import WHOLE_TABLE, ReadRecorder, RecordedTable, memoised_in_object
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
        return self.file.ids.id_at(self.end.symbol)

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

    def __init__(self, store: BridgeReads, tree: Tree) -> None:
        self._store, self._tree = store, tree
        self.reads = ReadRecorder()
        self._files = [BridgeFile(*row) for row in store.files()]
        self._names: dict[int, _Names] = {}
        self._ends_by_bridge: dict[str, list[StatedEnd]] = {}
        self._ends_by_file: dict[int, tuple[End, ...]] = {}
        self._symbols_by_name: dict[str, list[SymbolPlace]] = {}
        self._once: dict[Callable[[BridgeContext], object], Callable[[BridgeContext], object]] = {}

    def once(self, make: Callable[[BridgeContext], Value]) -> Value:
        """Return a value computed from all ends, computing it only once for all bridges.

        What `make` reads is recorded for every bridge that asks for the value, so it must read everything at once: what
        the value read later would be recorded only for the bridge that happens to ask first.
        """
        if make not in self._once:
            self._once[make] = memoised_in_object(make)
        return cast(Value, self._once[make](self))

    @property
    def files(self) -> list[BridgeFile]:
        """All files, in path order."""
        self.reads.note(Aspect.PATHS, WHOLE_TABLE)
        return self._files

    @cached_property
    def files_by_path(self) -> dict[str, BridgeFile]:
        """The files by path."""
        return RecordedTable(self.reads, Aspect.PATHS, {row.path: row for row in self._files})

    @cached_property
    def _packed_ends(self) -> dict[int, bytes]:
        return self._store.packed_ends()

    def ends(self, bridge: str, *says: str) -> list[StatedEnd]:
        """Return the ends of a bridge, all or only those of certain kinds; by path, in the order of the text."""
        self.reads.note(Aspect.ENDS, bridge)
        if bridge not in self._ends_by_bridge:
            self._ends_by_bridge[bridge] = list(self._find_ends(bridge))
        return [stated for stated in self._ends_by_bridge[bridge] if not says or stated.end.says in says]

    def _find_ends(self, bridge: str) -> Iterator[StatedEnd]:
        """Yield the ends of a bridge. Ends are decoded only where its name occurs in them: few bridges are joined again
        after an update, and decoding all ends would take longer than that."""
        name = bridge.encode()
        for row in self._files:
            if name in self._packed_ends.get(row.id, b""):
                if row.id not in self._ends_by_file:
                    self._ends_by_file[row.id] = unpack_ends(self._packed_ends[row.id])
                for number, end in enumerate(self._ends_by_file[row.id]):
                    if end.bridge == bridge:
                        yield StatedEnd(row, number, end)

    @cached_property
    def _foreign_names(self) -> dict[str, list[ForeignName]]:
        names_by_file: dict[str, list[ForeignName]] = {}
        rows = self._store.foreign_names()
        for row in self._files:
            for name in rows.get(row.id, ()):
                names_by_file.setdefault(name.name, []).append(name)
        return names_by_file

    @cached_property
    def _foreign_names_by_part(self) -> dict[str, list[str]]:
        paths_by_part: dict[str, list[str]] = {}
        for name in sorted(self._foreign_names):
            for part in dict.fromkeys(name.split(".")):
                paths_by_part.setdefault(part, []).append(name)
        return paths_by_part

    def uses_of_foreign_name(self, name: str) -> list[ForeignName]:
        """Return the symbols that use a dotted Python name that no Python file of the repository defines."""
        self.reads.note(Aspect.FOREIGN_NAMES, name)
        return self._foreign_names.get(name, [])

    def foreign_names_with(self, part: str) -> list[str]:
        """Return the dotted Python names that no Python file defines and that have a certain part: `C` for `a.C.f`."""
        self.reads.note(Aspect.FOREIGN_NAMES, f".{part}")
        return self._foreign_names_by_part.get(part, [])

    def has_foreign_names_in(self, package: str) -> bool:
        """True if there are dotted Python names that no Python file defines and that begin with a package."""
        self.reads.note(Aspect.FOREIGN_NAMES, f"{package}.")
        return any(name.partition(".")[0] == package for name in self._foreign_names_by_part.get(package, ()))

    def symbols_named(self, name: str, languages: Iterable[str] = ()) -> list[SymbolPlace]:
        """Return the symbols of a name, in the given languages or in any; by path, in the order of the text."""
        self.reads.note(Aspect.SYMBOLS_NAMED, name)
        if name not in self._symbols_by_name:
            self._symbols_by_name[name] = self._store.symbols_named(name)
        wanted = frozenset(languages)
        return [place for place in self._symbols_by_name[name] if not wanted or place.language in wanted]

    def symbols(self, file: BridgeFile) -> list[SymbolPlace]:
        """Return the symbols of a file, in order."""
        self.reads.note(Aspect.WORDS, file.path)
        return self._store.symbols_in(file.id)

    def symbol(self, identity: int) -> SymbolPlace | None:
        """Return the symbol of an id; None if it is the id of a file."""
        place = self._store.place(identity)
        if place is not None:
            self.reads.note(Aspect.SYMBOLS_NAMED, place.name)
        return place

    def file_containing(self, identity: int) -> BridgeFile:
        """Return the file that contains an id; not recorded, because an id never moves to another file."""
        return self._by_id[self._owners[identity]]

    @cached_property
    def _owners(self) -> IdOwners[int]:
        return self._store.owners()

    @cached_property
    def _by_id(self) -> dict[int, BridgeFile]:
        return {row.id: row for row in self._files}

    def targets_of(self, stated: StatedEnd) -> list[LinkedName]:
        """Return the linker's targets of the name at the position of an end, best first."""
        return self.targets_at(stated.file, stated.end.line, stated.end.col)

    def targets_at(self, file: BridgeFile, line: int, col: int) -> list[LinkedName]:
        """Return the linker's targets of the name at a position in a file."""
        self.reads.note(Aspect.RESOLVED, file.path)
        names = self._names.get(file.id)
        if names is None:
            names = self._names[file.id] = _Names(self._store.occurrences(file.id), self._store.links(file.id))
        return names.at(line, col)

    def module_of(self, path: str) -> str:
        """Return the dotted name under which others import a Python file; "" if it has none."""
        self.reads.note(Aspect.PATHS, WHOLE_TABLE)
        self.reads.note(Aspect.SETTINGS, "")
        return self._tree.once(ModuleFinder).name_of(path)
