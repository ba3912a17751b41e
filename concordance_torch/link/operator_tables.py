"""The operators that tables and registrations define, by name, with the symbol of each entry.

In: the ends that say `schema`. Out: `TableOperator`s, and of a name that several tables define, the one that lies
nearest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from concordance.facts.read import Place
from concordance.link.bridge_context import BridgeContext, BridgeFile, StatedEnd
from concordance_torch.extract.operator_schema import Schema, parsed

_STATING = ("operators", "registry", "library")  # the bridges whose ends say `schema`


@dataclass(frozen=True)
class TableOperator:
    """An operator that a table defines."""

    name: str  # "aten::add.Tensor"
    entry: int  # the id of its symbol
    stated: StatedEnd
    schema: Schema
    more: dict[str, str]

    @property
    def base(self) -> str:
        """The name without its overload."""
        return self.name.partition(".")[0]

    def is_true(self, key: str) -> bool:
        """Whether the entry says yes to a key."""
        return self.more.get(key, "").lower() in ("true", "yes")


class Tables:
    """All operators of a repository that stand in tables."""

    def __init__(self, crossing: BridgeContext) -> None:
        self._crossing = crossing
        self._symbols: dict[int, list[Place]] = {}

    @cached_property
    def operators(self) -> list[TableOperator]:
        """In the order of paths and of the text."""
        found = []
        for bridge in _STATING:
            for one in self._crossing.ends(bridge, "schema"):
                schema = parsed(one.end.text) or _bare(one.end.name)
                found.append(TableOperator(one.end.name, self.entry(one), one, schema, dict(one.end.more)))
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[TableOperator]]:
        return _grouped((one.name, one) for one in self.operators)

    @cached_property
    def _by_base(self) -> dict[str, list[TableOperator]]:
        return _grouped((one.base, one) for one in self.operators)

    @cached_property
    def is_twin(self) -> bool:
        """Whether there are several tables, of which each has its own tree around it."""
        return len({one.stated.file.path for one in self.operators if one.stated.file.language == "yaml"}) > 1

    def named(self, name: str, near: str) -> TableOperator | None:
        """The operator of a full name, as the table that lies nearest to a path defines it."""
        found = self._by_name.get(name, [])
        return nearest(found, near)[0] if found else None

    def overloads(self, base: str, near: str) -> list[TableOperator]:
        """The operators of a name without overload, of the nearest table."""
        return nearest(self._by_base.get(base, []), near)

    @cached_property
    def _made(self) -> dict[str, list[StatedEnd]]:
        found: dict[str, list[StatedEnd]] = {}
        for one in self._crossing.ends("operators", "autogen"):
            found.setdefault(one.end.name, []).append(one)
        return found

    def made(self, name: str, near: str) -> int:
        """The id of the entry of which an operator without one of its own is made; 0 for none."""
        found = self._made.get(name, [])
        return self.entry(max(found, key=lambda one: shared(one.file.path, near))) if found else 0

    def entry(self, one: StatedEnd) -> int:
        """The id of the item of a sequence in which an end stands; outside of tables, of the symbol around it."""
        if one.file.language != "yaml":
            return one.id
        rows = self._rows(one.file)
        place = one.end.symbol
        while place >= 0:
            outer = _outer(rows, place)
            if outer < 0:
                break
            place = outer
        return one.file.base + 1 + place

    def _rows(self, file: BridgeFile) -> list[Place]:
        rows = self._symbols.get(file.id)
        if rows is None:
            rows = self._symbols[file.id] = self._crossing.symbols(file)
        return rows


def _bare(name: str) -> Schema:
    """The schema of an operator that is registered by its name alone: what it takes is not written."""
    space, _, local = name.rpartition("::")
    base, _, overload = local.partition(".")
    return Schema(space, base, overload, (), (), "")


def _outer(rows: list[Place], place: int) -> int:
    """The place of the symbol around one, -1 for none."""
    home = rows[place].home
    while home and place >= 0 and rows[place].key != home:
        place -= 1
    return place if home else -1


def _grouped(rows: Iterable[tuple[str, TableOperator]]) -> dict[str, list[TableOperator]]:
    found: dict[str, list[TableOperator]] = {}
    for name, one in rows:
        found.setdefault(name, []).append(one)
    return found


def nearest(found: list[TableOperator], near: str) -> list[TableOperator]:
    """Those of the table whose path has most folders in common with another."""
    tables = {one.stated.file.path for one in found}
    if len(tables) < 2:
        return found
    best = max(sorted(tables), key=lambda path: shared(path, near))
    return [one for one in found if one.stated.file.path == best]


def shared(path: str, other: str) -> int:
    """How many folders two paths begin with in common."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
