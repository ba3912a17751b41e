"""Which of a file's definitions hang on what it asks others for.

In: a file, and what its names meant. Out: `Weave`: of some names, symbols or imports, the symbols and variables of the
file that may be worth something else when those do. It follows expressions through all variables of the file, from
what others can ask for down to what it is made of, and is asked the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from concordance.base.model import TYPES, Given, Op, unpacked
from concordance.link.interface_digest import ANY, C_FAMILY, Reader, is_unnamed, owned
from concordance.link.world import Loaded


class Weave:
    """One file. A point is an expression, or behind all of them a symbol, or behind all of those a variable."""

    def __init__(self, file: Loaded, links: Mapping[int, Sequence[int]]) -> None:
        """`links` are the targets of expressions when the file was linked last; empty where that was another text."""
        self.file, self.links = file, links
        self._symbols = len(file.op)
        self._variables = self._symbols + len(file.symbol_kind)
        self._reader = Reader(file, ())
        self._into: dict[int, list[int]] = {}  # whom a point is a part of
        self._by_name: dict[str, list[int]] = {}
        self._by_import: dict[int, list[int]] = {}
        self._by_own: dict[tuple[str, str], list[int]] = {}
        self._follow()

    def _follow(self) -> None:
        file, reader = self.file, self._reader
        open_ = [v for v in range(file.flow.whole) if not file.variable_symbol[v] and reader.is_open(v)]
        waiting = [*range(self._symbols, self._variables), *(self._variables + v for v in open_)]
        seen = set(waiting)
        while waiting:
            point = waiting.pop()
            for part in self._parts(point):
                self._into.setdefault(part, []).append(point)
                if part not in seen:
                    seen.add(part)
                    waiting.append(part)

    def _parts(self, point: int) -> list[int]:
        file = self.file
        if point >= self._variables:
            return file.values[point - self._variables]
        if point >= self._symbols:
            return list(self._of_symbol(point - self._symbols))
        op, left, right = file.op[point], file.left[point], file.right[point]
        if op == Op.NAME:
            symbol = file.variable_symbol[left]
            return [*file.values[left], *([self._symbols + symbol - 1] if symbol else [])]
        parts = self._reader.said(point)[1] if op not in (Op.LOOKUP, Op.IMPORT, Op.PACKAGE, Op.PARAMETER) else []
        if op == Op.MEMBER:
            self._by_name.setdefault(file.names[right], []).append(point)
        elif op == Op.LOOKUP:
            self._by_name.setdefault(file.names[left], []).append(point)
        elif op in (Op.IMPORT, Op.PACKAGE):
            self._by_name.setdefault(file.flow.imports[left].name, []).append(point)
            self._by_import.setdefault(left, []).append(point)
        elif op in (Op.SYMBOL, Op.SUPER):
            symbol = left - (op == Op.SUPER)
            parts = [self._symbols + symbol] if symbol >= 0 else []
        elif op == Op.PARAMETER:
            parts = self._of_parameter(point, left, right)
        own = range(file.base + 1, file.base + 1 + len(file.symbol_kind))
        return [*parts, *(self._symbols + one - own.start for one in self.links.get(point, ()) if one in own)]

    def _of_parameter(self, point: int, function: int, place: int) -> list[int]:
        file = self.file
        for value in file.said(function, Given.ASKS):
            self._by_name.setdefault(file.names[file.left[value]], []).append(point)
        owner = file.symbol_parent[function] - 1
        return [self._symbols + owner] if not place and owner >= 0 and file.kind(owner) in TYPES else []

    def _of_symbol(self, symbol: int) -> Iterator[int]:
        """What a symbol is worth: what is said of it, what is bound to it, of a class what is asked of it unnamed."""
        file = self.file
        for what in Given:
            yield from file.said(symbol, what) if what not in (Given.ASKS, Given.OFFERS, Given.HANDS) else ()
        parent = file.symbol_parent[symbol] - 1
        scope = file.opened.get(parent, 0) if parent >= 0 else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        if variable is not None and file.variable_symbol[variable] == symbol + 1:
            yield from file.values[variable]
        if file.kind(symbol) in TYPES:
            for name, members in file.members.get(symbol, {}).items():
                yield from (self._symbols + one for one in members) if is_unnamed(file.names[name]) else ()
        if file.language in C_FAMILY:
            self._by_own.setdefault((ANY, file.names[file.symbol_name[symbol]]), []).append(self._symbols + symbol)
            for pair in owned(file, symbol):
                self._by_own.setdefault(pair, []).append(self._symbols + symbol)
        within = unpacked(file.flow.symbol_within)
        for part in file.names[within[symbol] - 1].split("::") if within and within[symbol] else ():
            self._by_name.setdefault(part, []).append(self._symbols + symbol)

    def touched(
        self, names: Iterable[str] = (), ids: Iterable[int] = (), imports: Iterable[int] = (),
        own: Iterable[tuple[str, str]] = (),
    ) -> tuple[set[int], set[str]]:  # fmt: skip
        """The symbols, and the names of other variables, that hang on some names, symbols (by their ids, or in the C
        family by their owners and names) or imports."""
        hit = [point for name in names for point in self._by_name.get(name, ())]
        hit += [point for place in imports for point in self._by_import.get(place, ())]
        hit += [point for pair in own for point in self._by_own.get(pair, ())]
        wanted = frozenset(ids)
        if wanted:
            hit += [use for use, targets in self.links.items() if not wanted.isdisjoint(targets)]
            first = self.file.base + 1
            hit += [self._symbols + one - first for one in wanted if 0 <= one - first < len(self.file.symbol_kind)]
        found = set(hit)
        while hit:
            for point in self._into.get(hit.pop(), ()):
                if point not in found:
                    found.add(point)
                    hit.append(point)
        symbols = {point - self._symbols for point in found if self._symbols <= point < self._variables}
        file = self.file
        others = {
            file.names[file.variable_name[point - self._variables]] for point in found if point >= self._variables
        }
        return symbols, others
