"""The names of Python that no Python of the repository defines: a compiled module may, and a bridge knows it.

In: a file's expressions, and what the linker found of them. Out: `Ask`s under full dotted names. What the standard
library and other projects define is asked of nobody.
"""

from __future__ import annotations

from concordance.model import Ask, Op, unpacked

from .pythonown import MODULE, OUTER
from .pythonroots import PythonModules
from .pythonvalues import Evaluator
from .world import Found, Loaded

_STUB = ".pyi"


class Asks:
    """Finds what files ask for."""

    def __init__(self, values: Evaluator) -> None:
        self._values, self._world = values, values.world
        self._modules = self._world.tree.once(PythonModules)

    def of(self, file: Loaded, found: list[Found]) -> list[Ask]:
        """What a file asks for, each name once for each who asks."""
        known: dict[int, int] = {}
        for row in found:
            known.setdefault(row.use, row.target)
        names: dict[int, str] = {}
        asks: dict[tuple[str, int], tuple[int, int]] = {}
        flow = file.flow
        columns = (flow.user, flow.used, flow.roles, flow.times)
        for user, used, roles, times in zip(*map(unpacked, columns), strict=True):
            if used not in names:
                names[used] = self._declared(known[used]) if used in known else self._name(file, used)
            if names[used]:
                key = (names[used], file.base + user)
                had = asks.get(key, (0, 0))
                asks[key] = (had[0] | roles, had[1] + times)
        return [Ask(name, user, roles, times) for (name, user), (roles, times) in sorted(asks.items())]

    def _declared(self, target: int) -> str:
        """The name of what is only declared: a symbol of a stub."""
        base = self._world.base(target)
        row = self._world.files[self._world.number_of_base(base)]
        if target == base or not row.path.endswith(_STUB):
            return ""
        owner, symbol = self._world.owner(target)
        parts = []
        while symbol >= 0:
            parts.append(owner.names[owner.symbol_name[symbol]])
            symbol = owner.symbol_parent[symbol] - 1
        return ".".join([self._modules.name_of(owner.path), *reversed(parts)])

    def _name(self, file: Loaded, use: int) -> str:
        """The full name of what an expression means, where the repository should have it, and its Python has not."""
        op, offers = file.op[use], self._values.classes.offers
        found = ""
        if op == Op.MEMBER:
            found = self._member(file, use)
        elif op in (Op.NAME, Op.IMPORT, Op.PACKAGE):
            left, right = file.left[use], file.right[use]
            place = (
                offers.of_variable(file, left) if op == Op.NAME
                else offers.imported(file, left) if op == Op.IMPORT
                else offers.package(file, left, right)
            )  # fmt: skip
            found = place if isinstance(place, str) else ""
        head, _, rest = found.partition(".")
        return found if rest and self._modules.locate(file.path, head) is not None else ""

    def _member(self, file: Loaded, use: int) -> str:
        name = file.names[file.right[use]]
        values = self._values.ask(file, file.left[use])
        if len(values) != 1:
            return ""
        value = values[0]
        if value.tag == OUTER:
            return f"{value.id}.{name}"
        if value.tag == MODULE and isinstance(value.id, int):
            return f"{self._modules.name_of(self._world.files[value.id].path)}.{name}"
        return ""
