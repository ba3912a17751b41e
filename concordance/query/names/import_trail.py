"""Traces the imports and aliases between a name and its definition.

In: a file and one of its expressions, or a name that a module exports. Out: the hops in between, each a path and a line
to look at. The links decide what a name resolves to; a trail that ends elsewhere is dropped.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from concordance.base.model import Op, unpack_column
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index

Hop = tuple[str, int]  # path and line
_MAX_HOPS = 24  # hops; a longer trail is circular


class ImportTrail(NamedTuple):
    """The target of a name, and the hops to it."""

    target: int  # id of a symbol or file
    hops: tuple[Hop, ...] = ()


class TrailFinder:
    """Finds one trail; `goal` is the id at which it must end, or 0 for any."""

    def __init__(self, index: Index, goal: int = 0) -> None:
        self.index, self.goal = index, goal
        self._visited: set[tuple[str, str]] = set()

    def of_expression(self, file: OpenFile, expression: int, depth: int = 0) -> ImportTrail | None:
        """Return the trail of an expression of a file."""
        flow = file.flow
        if depth > _MAX_HOPS or not 0 <= expression < len(flow.op):
            return None
        op = flow.op[expression]
        left, right = unpack_column(flow.left)[expression], unpack_column(flow.right)[expression]
        if op == Op.NAME:
            return self._of_variable(file, left, depth + 1)
        if op == Op.CALL and not depth:  # in some languages, a name and its call are one expression
            return self.of_expression(file, left, 1)
        if op == Op.MEMBER:
            return self._of_member(file, left, flow.names[right], depth + 1)
        if op == Op.IMPORT:
            return self._follow_import(file, left, depth + 1)
        if op == Op.PACKAGE:
            claims = file.linked_targets(expression)
            return self._arrived(claims[0].target if claims else 0, ((file.path, flow.imports[left].line),))
        if op == Op.SYMBOL:
            return self._arrived(file.ids.id_at(left))
        if op == Op.LOOKUP:
            return self._stars(file, flow.names[left], depth + 1)
        return None

    def of_name(self, path: str, name: str, depth: int = 0) -> ImportTrail | None:
        """Return the trail of a name that a module exports."""
        if depth > _MAX_HOPS or (path, name) in self._visited:
            return None
        self._visited.add((path, name))
        file = self.index.open_file(path)
        flow = file.flow
        if name in flow.names:
            word = flow.names.index(name)
            rows = zip(
                unpack_column(flow.variable_scope)[: flow.whole], unpack_column(flow.variable_name), strict=False
            )
            for variable, row in enumerate(rows):
                if row == (0, word):
                    trail = self._of_variable(file, variable, depth)
                    if trail:
                        return trail
        return self._stars(file, name, depth)

    def _arrived(self, target: int, hops: tuple[Hop, ...] = ()) -> ImportTrail | None:
        return ImportTrail(target, hops) if target and self.goal in (0, target) else None

    def _of_variable(self, file: OpenFile, variable: int, depth: int) -> ImportTrail | None:
        """Follow a variable: it is a symbol itself, or another name for a value bound to it."""
        flow = file.flow
        symbol = unpack_column(flow.variable_symbol)[variable]
        trail = self._arrived(file.ids.id_at(symbol - 1)) if symbol else None
        if trail:
            return trail
        alias = self._line(file, symbol - 1) if symbol else ()
        values = unpack_column(flow.bound_value)
        for row in _rows_of(unpack_column(flow.bound_variable), variable):
            trail = self.of_expression(file, values[row], depth)
            if trail:
                return ImportTrail(trail.target, alias + trail.hops)
        return None

    def _line(self, file: OpenFile, symbol: int) -> tuple[Hop, ...]:
        place = self.index.facts.place(file.ids.id_at(symbol))
        return ((file.path, place.line),) if place is not None else ()

    def _of_member(self, file: OpenFile, left: int, name: str, depth: int) -> ImportTrail | None:
        """Follow a member: one of a module is what the module exports, one of a class has the trail of the class."""
        claims = file.linked_targets(left)
        if not claims:
            return self._arrived(self.goal)
        before = TrailFinder(self.index, claims[0].target).of_expression(file, left, depth)
        hops = before.hops if before else ()
        owner = self.index.facts.place(claims[0].target)
        if owner is None or owner.place >= 0:
            return self._arrived(self.goal, hops)
        trail = self.of_name(owner.path, name, depth)
        return ImportTrail(trail.target, hops + trail.hops) if trail else None

    def _follow_import(self, file: OpenFile, number: int, depth: int) -> ImportTrail | None:
        """Follow an import."""
        row, target, named = file.imports[number]
        hop = ((file.path, row.line),)
        for path in target.paths if target is not None else ():
            if row.name:
                trail = self.of_name(path, row.name, depth)
                if trail:
                    return ImportTrail(trail.target, hop + trail.hops)
            else:
                return self._arrived(self.index.facts.id(path), hop)
        return self._arrived(named, hop)

    def _stars(self, file: OpenFile, name: str, depth: int) -> ImportTrail | None:
        """Follow `import *` to a name."""
        for row, target in file.import_targets:
            if row.name == "*" and target is not None:
                for path in target.paths:
                    trail = self.of_name(path, name, depth + 1)
                    if trail:
                        return ImportTrail(trail.target, ((file.path, row.line), *trail.hops))
        return None


def _rows_of(column: array[int], value: int) -> list[int]:
    return [row for row, number in enumerate(column) if number == value]
