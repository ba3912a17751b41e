"""The operators that tables and registrations define, by name, each with the symbol of its entry.

In: the ends that say `schema`. Out: `TableOperator`s; if several tables define a name, the one in the nearest table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, BridgeFile, StatedEnd
from concordance_torch.extract.operator_schema import Schema, parse_schema

SCHEMA_BRIDGES = ("operators", "registry", "library")  # the bridges with ends that say `schema`


@dataclass(frozen=True)
class TableOperator:
    """An operator that a table defines."""

    name: str  # "aten::add.Tensor"
    entry: int  # the id of its symbol
    end: StatedEnd
    schema: Schema
    more: dict[str, str]

    @property
    def base(self) -> str:
        """The name without its overload."""
        return self.name.partition(".")[0]

    def is_true(self, key: str) -> bool:
        """True if the entry's value for a key is true."""
        return self.more.get(key, "").lower() in ("true", "yes")


class Tables:
    """All operators of a repository that are defined in tables or registrations."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._symbols: dict[int, list[SymbolPlace]] = {}
        self.operators: list[TableOperator] = []  # in the order of paths and of the text
        for bridge in SCHEMA_BRIDGES:
            for stated in context.ends(bridge, "schema"):
                schema = parse_schema(stated.end.text) or _schema_of_name(stated.end.name)
                self.operators.append(
                    TableOperator(stated.end.name, self.entry(stated), stated, schema, dict(stated.end.more))
                )
        self._by_name = _group_by((operator.name, operator) for operator in self.operators)
        self._by_base = _group_by((operator.base, operator) for operator in self.operators)
        self._generated: dict[str, list[StatedEnd]] = {}
        for stated in context.ends("operators", "autogen"):
            self._generated.setdefault(stated.end.name, []).append(stated)

    @cached_property
    def has_several_tables(self) -> bool:
        """True if there are several tables, each at the root of its own tree."""
        return len({operator.end.file.path for operator in self.operators if operator.end.file.language == "yaml"}) > 1

    def named(self, name: str, near: str) -> TableOperator | None:
        """Return the operator of a full name, as defined by the table nearest to a path."""
        entries = self._by_name.get(name, [])
        return operators_of_nearest_table(entries, near)[0] if entries else None

    def overloads(self, base: str, near: str) -> list[TableOperator]:
        """Return the overloads of a name in the nearest table."""
        return operators_of_nearest_table(self._by_base.get(base, []), near)

    def generating_entry(self, name: str, near: str) -> int:
        """Return the id of the entry from which an operator without an entry of its own is generated; 0 if there is
        none."""
        entries = self._generated.get(name, [])
        return (
            self.entry(max(entries, key=lambda stated: shared_folder_count(stated.file.path, near))) if entries else 0
        )

    def entry(self, stated: StatedEnd) -> int:
        """Return the id of the sequence item that an end is in; outside YAML tables, of the symbol around it."""
        if stated.file.language != "yaml":
            return stated.id
        rows = self._rows(stated.file)
        place = stated.end.symbol
        while place >= 0:
            outer = _enclosing_index(rows, place)
            if outer < 0:
                break
            place = outer
        return stated.file.ids.id_at(place)

    def _rows(self, file: BridgeFile) -> list[SymbolPlace]:
        rows = self._symbols.get(file.id)
        if rows is None:
            rows = self._symbols[file.id] = self._context.symbols(file)
        return rows


def _schema_of_name(name: str) -> Schema:
    """Return the schema of an operator that is registered by name only, so that its parameters are not known."""
    space, _, local = name.rpartition("::")
    base, _, overload = local.partition(".")
    return Schema(space, base, overload, (), (), "")


def _enclosing_index(rows: list[SymbolPlace], place: int) -> int:
    """Return the index of the symbol around a symbol, or -1."""
    parent_key = rows[place].parent_key
    while parent_key and place >= 0 and rows[place].key != parent_key:
        place -= 1
    return place if parent_key else -1


def _group_by(rows: Iterable[tuple[str, TableOperator]]) -> dict[str, list[TableOperator]]:
    groups: dict[str, list[TableOperator]] = {}
    for name, operator in rows:
        groups.setdefault(name, []).append(operator)
    return groups


def operators_of_nearest_table(operators: list[TableOperator], near: str) -> list[TableOperator]:
    """Return the operators of the table whose path has the most leading folders in common with another path."""
    tables = {operator.end.file.path for operator in operators}
    if len(tables) < 2:
        return operators
    best = max(sorted(tables), key=lambda path: shared_folder_count(path, near))
    return [operator for operator in operators if operator.end.file.path == best]


def shared_folder_count(path: str, other: str) -> int:
    """Return the number of leading folders that two paths have in common."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
