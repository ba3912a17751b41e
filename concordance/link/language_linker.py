"""The base class of the linkers of languages: what each has to resolve, and the hooks that only some need.

In: a `LinkWorld`, and one file at a time. Out: the targets of the file's expressions, and what `Linker` stores besides:
bases, overridden methods, code that runs implicitly. A language without a linker of its own uses this class as it is:
of its files, only imports are linked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concordance.base.model import TYPE_KINDS, ForeignName, Kind, Trust
from concordance.facts.links.graph import EdgeKind
from concordance.link.world import LinkWorld, LoadedFlow, NameTarget

Edge = tuple[int, int, EdgeKind]  # target, user, kind of edge
_METHODS = frozenset((Kind.METHOD, Kind.PROPERTY, Kind.FUNCTION))
_MAX_ANCESTORS = 64  # ancestors of a class; a longer chain is a mistake in the linked code


class LanguageLinker:
    """Links the names of one language or family of languages."""

    # True if a name that only stands before a dot is passed to what follows it, not read for itself.
    PASSES_RECEIVERS = False

    def __init__(self, world: LinkWorld) -> None:
        self.world = world

    def prepare(self) -> None:
        """Build the tables that every file needs, before worker processes are forked."""

    def resolve_file(self, file: LoadedFlow) -> list[NameTarget]:
        """Return the targets of a file's expressions; several targets of one expression come best first."""
        return []

    def bases(self, file: LoadedFlow, symbol: int) -> Sequence[int]:
        """Return the ids of a class's bases that are defined in the repository."""
        return ()

    def overrides(self, file: LoadedFlow) -> Iterator[tuple[int, int, int]]:
        """Yield the methods of a file's classes that override one of a base: its id, that of the other, the trust."""
        for symbol in range(len(file.symbol_kind)):
            if file.kind(symbol) not in TYPE_KINDS or symbol not in file.members:
                continue
            above = self._ancestors(file, symbol)
            for name, members in file.members[symbol].items() if above else ():
                for member in members:
                    if file.kind(member) in _METHODS:
                        target = _member(above, file.names[name])
                        if target is not None:
                            yield file.id(member), target, int(Trust.EXACT)

    def runs(self, file: LoadedFlow, called: set[tuple[int, int]]) -> Iterator[Edge]:
        """Yield the edges for code that runs although no name refers to it; `called` are pairs of callee and caller."""
        return iter(())

    def needed(self, file: LoadedFlow, targets: set[int]) -> set[int]:
        """Return those targets of a file's names without whose files the file could not be compiled or run."""
        return targets

    def foreign_names(self, file: LoadedFlow, targets: list[NameTarget]) -> list[ForeignName]:
        """Return the names without a target that another language may define."""
        return []

    def included(self, number: int) -> list[int] | None:
        """Return the numbers of the files that one includes, in order; None if the language has no includes."""
        return None

    def release(self, file: LoadedFlow) -> None:
        """Drop what is rarely needed once a file is linked."""

    def _ancestors(self, file: LoadedFlow, symbol: int) -> list[tuple[LoadedFlow, int]]:
        """Return the ancestors of a class, nearest first."""
        ancestors: list[tuple[LoadedFlow, int]] = []
        seen = {(file.number, symbol)}
        waiting = [(file, symbol)]
        while waiting and len(ancestors) < _MAX_ANCESTORS:
            below = waiting.pop(0)
            for identity in self.bases(*below):
                above, place = self.world.owner(identity)
                if (above.number, place) not in seen and place >= 0:
                    seen.add((above.number, place))
                    ancestors.append((above, place))
                    waiting.append((above, place))
        return ancestors


def _member(classes: list[tuple[LoadedFlow, int]], name: str) -> int | None:
    """Return the method of a name in the nearest class that has one."""
    for file, symbol in classes:
        place = file.name_index.get(name)
        for member in file.members.get(symbol, {}).get(place, ()) if place is not None else ():
            if file.kind(member) in _METHODS:
                return file.id(member)
    return None
