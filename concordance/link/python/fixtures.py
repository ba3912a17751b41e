"""Finds the pytest fixture that fills a parameter of a test.

In: a test or fixture. Out: the fixtures that it requests: of its class or an ancestor, of its file (including imported
ones), or of the nearest `conftest.py` on the way up to the repository's root; the order in which pytest searches.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import SymbolRelation
from concordance.link.interface_digest import AUTOUSE
from concordance.link.python.classes import ClassTable
from concordance.link.world import LoadedFlow

_CONFTEST = "conftest.py"

Function = tuple[LoadedFlow, int]  # a file, and a symbol in it


class Fixtures:
    """Finds fixtures; those of a file are collected once."""

    def __init__(self, classes: ClassTable) -> None:
        self.classes, self.world = classes, classes.world
        self._fixtures: dict[int, dict[tuple[int, str], list[int]]] = {}

    def of_parameter(self, file: LoadedFlow, function: int, place: int) -> Function | None:
        """Return the fixture that fills a parameter."""
        names = self.names(file, function)
        return self.find(file, function, names[place]) if place < len(names) else None

    def names(self, file: LoadedFlow, function: int) -> list[str]:
        """Return the names that a test or fixture requests."""
        return [
            file.names[file.left[expression]] for expression in file.related_expressions(function, SymbolRelation.ASKS)
        ]

    def requested(self, file: LoadedFlow, function: int) -> Iterator[Function]:
        """Yield the fixtures that a test or another fixture requests."""
        for name in self.names(file, function):
            fixture = self.find(file, function, name)
            if fixture is not None:
                yield fixture

    def find(self, file: LoadedFlow, function: int, name: str) -> Function | None:
        """Return the fixture of a name as a function sees it.

        A fixture that requests its own name gets the next one further out.
        """
        for owner, symbol in self._nearest_first(file, function, name):
            if owner.number != file.number or symbol != function:
                return owner, symbol
        return None

    def inherited(self, identity: int, file: LoadedFlow, function: int) -> Iterator[Function]:
        """Yield the fixtures of a class that its test gets, itself or through other fixtures, from another class.

        A subclass may replace a fixture that a fixture of its base requests.
        """
        pending, seen = [(file, function)], set[tuple[int, int]]()
        while pending:
            asking, asker = pending.pop()
            own_class = asking.number, asking.symbol_parent[asker] - 1
            for name in self.names(asking, asker):
                for above, place, symbol in self._nearest_in_classes(identity, name):
                    if (above.number, symbol) not in seen:
                        seen.add((above.number, symbol))
                        pending.append((above, symbol))
                        if (above.number, place) != own_class:
                            yield above, symbol

    def _nearest_in_classes(self, identity: int, name: str) -> Iterator[tuple[LoadedFlow, int, int]]:
        """Yield the fixtures of a name in the first that has any, of a class and its bases: file, class, fixture."""
        for above, place in self.classes.order(identity):
            fixtures = self._fixtures_of(above).get((place, name), ())
            if fixtures:
                yield from ((above, place, symbol) for symbol in fixtures)
                return

    def autouse(self, file: LoadedFlow, function: int) -> Iterator[Function]:
        """Yield the autouse fixtures of a function."""
        for owner, symbol in self._nearest_first(file, function, AUTOUSE):
            if owner.number != file.number or symbol != function:
                yield owner, symbol

    def _nearest_first(self, file: LoadedFlow, function: int, name: str) -> Iterator[Function]:
        """Yield the fixtures of a name, nearest first."""
        owner = file.symbol_parent[function] - 1
        if owner >= 0:
            for above, place in self.classes.order(file.id(owner)):
                for symbol in self._fixtures_of(above).get((place, name), ()):
                    yield above, symbol
        for symbol in self._fixtures_of(file).get((-1, name), ()):
            yield file, symbol
        imported = self.classes.reexports.exported(file, name) if name != AUTOUSE else None
        if imported is not None and not isinstance(imported, str) and imported[0].number != file.number:
            yield from [imported] if imported[0].related_expressions(imported[1], SymbolRelation.OFFERS) else []
        folder = file.path
        while folder:
            folder = folder.rpartition("/")[0]
            number = self.world.number.get(f"{folder}/{_CONFTEST}" if folder else _CONFTEST)
            if number is not None and number != file.number:
                conftest = self.world.load(number)
                for symbol in self._fixtures_of(conftest).get((-1, name), ()):
                    yield conftest, symbol

    def _fixtures_of(self, file: LoadedFlow) -> dict[tuple[int, str], list[int]]:
        """Return a file's fixtures, by the class around them and the name under which they are requested."""
        if file.number not in self._fixtures:
            fixtures = self._fixtures.setdefault(file.number, {})
            for (symbol, what), values in file.relations.items():
                for value in values if what == SymbolRelation.OFFERS else ():
                    key = file.symbol_parent[symbol] - 1, file.names[file.left[value]]
                    fixtures.setdefault(key, []).append(symbol)
        return self._fixtures[file.number]
