"""How many files use each definition, by the file that has it.

In: an index and a path. Out: the symbols of the file that other files use, most used first. Uses of a forward
declaration count for the type that it declares.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from concordance.base.model import KINDS, TYPE_KINDS, Kind
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import memoised
from concordance.query.index.repository import Index

NAMED_KINDS = frozenset(
    (Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.ENUM, Kind.FUNCTION, Kind.MACRO, Kind.TYPE, Kind.UNION)
)
_TYPES = frozenset(number for number, kind in enumerate(KINDS) if kind in TYPE_KINDS)


class UsedDefinition(NamedTuple):
    """A symbol that other files use. They sort from the most used to the least, and never by id."""

    negated_times: int  # the number of files that use it, negated so that the most used sorts first
    name: str
    path: str
    place: int  # its position among the symbols of its file
    kind: str
    id: int

    @property
    def times(self) -> int:
        """The number of files that use it."""
        return -self.negated_times


def used_definitions(index: Index, path: str) -> list[UsedDefinition]:
    """Return the symbols of a file that other files use, of any kind."""
    rows = unpack_uses(index, packed_uses(index, path))
    return [
        UsedDefinition(-times, name, path, place, kind, definition) for times, name, place, kind, definition in rows
    ]


def unpack_uses(index: Index, packed: bytes) -> Iterator[tuple[int, str, int, str, int]]:
    """Yield the rows of `packed_uses`: number of files, name, position, kind, id."""
    rows = iter(array("I", packed))
    for times, place, kind, identity in zip(rows, rows, rows, rows, strict=True):
        yield times, index.census.name_of(identity), place, KINDS[kind].value, identity


@memoised(1 << 20)
def packed_uses(index: Index, path: str) -> bytes:
    """Return the symbols of a file that other files use: in a large repository, an object for each takes 400 MB."""
    index.reads.note(Aspect.WORDS, path)
    index.reads.note(Aspect.USED_BY, path)
    census, kinds, uses = index.census, index.kinds, list[tuple[int, str, int, int, int]]()
    has_prototypes = index.language_of(path) in index.prototyped
    for place, identity in enumerate(index.symbol_ids[index.file_id(path)]):
        kind, times = kinds[identity], census.used_by[identity]
        if not times and kind not in _TYPES:
            continue
        if kind in _TYPES and index.keys[identity]:
            if index.declared[identity]:
                times = 0
            elif has_prototypes:
                times = max(times, _uses_of_forward_declarations(index, identity))
        name = census.name_of(identity) if times else ""
        if name and name != "main":  # no file uses another's `main`
            uses.append((-times, name, place, kind, identity))
    rows = ((-negated, place, kind, use) for negated, _, place, kind, use in sorted(uses))
    return array("I", chain.from_iterable(rows)).tobytes()


def _uses_of_forward_declarations(index: Index, identity: int) -> int:
    """Return how many files use the most used forward declaration of a type; 0 if it declares another definition."""
    census, key = index.census, index.keys[identity]
    declared = [other for other in index.namesakes(key, True) if census.kind_of(other) in TYPE_KINDS]
    if not declared:
        return 0
    definition = next(other for other in index.namesakes(key, False) if census.kind_of(other) in TYPE_KINDS)
    for other in declared if definition == identity else ():
        index.reads.note(Aspect.USED_BY, index.path_of(other))
    return max(census.used_by[other] for other in declared) if definition == identity else 0


def most_used(
    definitions: Iterable[UsedDefinition], limit: int, kinds: frozenset[Kind] | None = None
) -> list[UsedDefinition]:
    """Return the most used definitions, of any kind or of certain kinds."""
    return sorted(definition for definition in definitions if kinds is None or definition.kind in kinds)[:limit]
