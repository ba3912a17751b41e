"""Which function makes what pytest hands to a test under a parameter's name.

In: a test or fixture. Out: the fixtures that it asks for: of its class or one above, of its file (also one that it
imports), or of the nearest `conftest.py` on the way up to the repository's root, as pytest looks for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Given
from concordance.link.python.classes import ClassTable
from concordance.link.world import LoadedFlow

UNASKED = "*"
_CONFTEST = "conftest.py"

Function = tuple[LoadedFlow, int]  # a file, and a symbol of it


class Fixtures:
    """Finds fixtures; those of a file are looked for once."""

    def __init__(self, classes: ClassTable) -> None:
        self.classes, self.world = classes, classes.world
        self._offered: dict[int, dict[tuple[int, str], list[int]]] = {}

    def of_parameter(self, file: LoadedFlow, function: int, place: int) -> Function | None:
        """The fixture that a parameter is filled from."""
        names = self.names(file, function)
        return self.find(file, function, names[place]) if place < len(names) else None

    def names(self, file: LoadedFlow, function: int) -> list[str]:
        """The names that a test or fixture asks for."""
        return [file.names[file.left[one]] for one in file.said(function, Given.ASKS)]

    def asked(self, file: LoadedFlow, function: int) -> Iterator[Function]:
        """The fixtures of a test or of another fixture."""
        for name in self.names(file, function):
            found = self.find(file, function, name)
            if found is not None:
                yield found

    def find(self, file: LoadedFlow, function: int, name: str) -> Function | None:
        """The fixture of a name as a function sees it; one that asks for its own name means the next further away."""
        for home, symbol in self._near(file, function, name):
            if home.number != file.number or symbol != function:
                return home, symbol
        return None

    def inherited(self, identity: int, file: LoadedFlow, function: int) -> Iterator[Function]:
        """The fixtures of a class that a test which it inherits gets in place of those of its own."""
        for name in self.names(file, function):
            for above, place in self.classes.order(identity):
                if (above.number, place) == (file.number, file.symbol_parent[function] - 1):
                    break
                yield from ((above, symbol) for symbol in self._offers(above).get((place, name), ()))

    def unasked(self, file: LoadedFlow, function: int) -> Iterator[Function]:
        """The fixtures that every test around which they stand gets."""
        for home, symbol in self._near(file, function, UNASKED):
            if home.number != file.number or symbol != function:
                yield home, symbol

    def _near(self, file: LoadedFlow, function: int, name: str) -> Iterator[Function]:
        """The fixtures of a name, nearest first."""
        owner = file.symbol_parent[function] - 1
        if owner >= 0:
            for above, place in self.classes.order(file.id(owner)):
                for symbol in self._offers(above).get((place, name), ()):
                    yield above, symbol
        for symbol in self._offers(file).get((-1, name), ()):
            yield file, symbol
        imported = self.classes.offers.offered(file, name) if name != UNASKED else None
        if imported is not None and not isinstance(imported, str) and imported[0].number != file.number:
            yield from [imported] if imported[0].said(imported[1], Given.OFFERS) else []
        folder = file.path
        while folder:
            folder = folder.rpartition("/")[0]
            number = self.world.number.get(f"{folder}/{_CONFTEST}" if folder else _CONFTEST)
            if number is not None and number != file.number:
                home = self.world.load(number)
                for symbol in self._offers(home).get((-1, name), ()):
                    yield home, symbol

    def _offers(self, file: LoadedFlow) -> dict[tuple[int, str], list[int]]:
        """A file's fixtures by the class around them and the name that they are asked for by."""
        if file.number not in self._offered:
            offered = self._offered.setdefault(file.number, {})
            for (symbol, what), values in file.given.items():
                for value in values if what == Given.OFFERS else ():
                    key = file.symbol_parent[symbol] - 1, file.names[file.left[value]]
                    offered.setdefault(key, []).append(symbol)
        return self._offered[file.number]
