"""Where a Python name leads: through imports and re-exports to a definition, and up a class's bases.

In: a file and a name. Out: a `Place`: a symbol of a file, a file itself, or the dotted name of what is
not the repository's. Classes are searched in the order that Python searches them (C3).
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.model import Given, Kind, Op, Origin

from .pythonown import CLASS, MODULE, Values
from .pythonroots import PythonModules
from .world import Loaded, World

# A symbol of a file (-1: the file itself), or a dotted name from outside.
Place = tuple[Loaded, int] | str

_NONE_MET = 1 << 30
_FARTHEST = 40  # hops of one name through files
_MOST_ABOVE = 200


class Classes:
    """Follows names, each once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.modules = world.tree.once(PythonModules)
        self.evaluate: Callable[[Loaded, int], Values] = lambda file, expression: ()
        self._offered: dict[tuple[int, str], Place | None] = {}
        self._imported: dict[tuple[int, int], Place | None] = {}
        self._above: set[int] = set()  # classes whose bases are being asked for
        self._ordering: set[int] = set()
        # How often something was met that is itself being worked out: what was found meanwhile holds for whoever asked
        # first only, and is not kept.
        self.cut = 0
        self._asking: dict[tuple[int, str], int] = {}  # what is being asked for, and how deep in
        self._met = _NONE_MET  # the least deep of these that was met again
        self._orders: dict[int, list[tuple[Loaded, int]]] = {}
        self._bases: dict[int, list[int]] = {}
        self._members: dict[tuple[int, str, int], Place | None] = {}

    # --- through files -----------------------------------------------------------------------

    def offered(self, file: Loaded, name: str, hops: int = 0) -> Place | None:
        """What a module offers under a name."""
        key = (file.number, name)
        if key in self._offered:
            return self._offered[key]
        if hops > _FARTHEST:
            return None
        if key in self._asking:  # a circle of imports offers nothing
            self._met = min(self._met, self._asking[key])
            self.cut += 1
            return None
        depth, around = len(self._asking), self._met
        self._asking[key], self._met = depth, _NONE_MET
        found = self._find_offered(file, name, hops)
        del self._asking[key]
        if self._met >= depth:
            self._offered[key], self._met = found, around
        else:  # found in the middle of a circle: who begins to ask elsewhere may find more, so it is not kept
            self._met = min(self._met, around)
        return found

    def _find_offered(self, file: Loaded, name: str, hops: int) -> Place | None:
        word = file.word.get(name)
        variable = file.variables.get((0, word)) if word is not None else None
        if variable is not None:
            found = self.of_variable(file, variable, hops)
            if found is not None:
                return found
        found = self.starred(file, name, hops)
        if found is not None:
            return found
        path = self.modules.submodule(file.path, name)
        number = self.world.number.get(path) if path is not None else None
        return (self.world.load(number), -1) if number is not None else None

    def of_variable(self, file: Loaded, variable: int, hops: int = 0) -> Place | None:
        """What a variable of a file is: its symbol, or what an import binds to it. A value that stands in for an
        import that failed (`except ImportError: x = None`) is not what is meant."""
        symbol = file.variable_symbol[variable] - 1
        if symbol >= 0 and file.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT):
            return file, symbol
        outside: Place | None = None
        for value in file.values[variable]:
            if file.op[value] == Op.IMPORT:
                found = self.imported(file, file.left[value], hops)
            elif file.op[value] == Op.PACKAGE:
                found = self.package(file, file.left[value], file.right[value])
            else:
                continue
            if found is not None and not isinstance(found, str):
                return found
            outside = outside or found
        return (file, symbol) if symbol >= 0 else outside

    def imported(self, file: Loaded, place: int, hops: int = 0) -> Place | None:
        """What an import brings in."""
        key = (file.number, place)
        if key in self._imported:
            return self._imported[key]
        around, self._met = self._met, _NONE_MET
        found = self._find_imported(file, place, hops)
        if self._met == _NONE_MET:
            self._imported[key] = found
        self._met = min(self._met, around)
        return found

    def _find_imported(self, file: Loaded, place: int, hops: int) -> Place | None:
        row = file.flow.imports[place]
        target = self.world.targets(file)[place]
        for path in target.paths:
            number = self.world.number.get(path)
            if number is None:
                continue
            module = self.world.load(number)
            if not row.name:
                return module, -1
            if module.number == file.number and self.modules.submodule(path, row.name) is not None:
                found: Place | None = None  # `from . import b` in a package's own file is its module
            else:
                found = self.offered(module, row.name, hops + 1)
            if found is not None:
                return found
            inner = self.modules.submodule(path, row.name)
            if inner is not None and inner in self.world.number:
                return self.world.load(self.world.number[inner]), -1
            if len(target.paths) == 1 and self._is_module(path, row.module, row.name):
                return module, -1  # the path is the submodule itself
        if target.origin in (Origin.STANDARD, Origin.THIRD_PARTY):
            module_name = row.module.lstrip(".")
            return f"{module_name}.{row.name}" if row.name else module_name
        return None

    def _is_module(self, path: str, module: str, name: str) -> bool:
        folder, _, last = path.rpartition("/")
        stem = last.partition(".")[0]
        named = name == (folder.rpartition("/")[2] if stem == "__init__" else stem)
        return named and not f".{module}".endswith(f".{name}")

    def package(self, file: Loaded, place: int, parts: int) -> Place | None:
        """The module of the first parts of an import's dotted name."""
        module = file.flow.imports[place].module
        dots = len(module) - len(module.lstrip("."))
        pieces = module[dots:].split(".")
        if parts >= len(pieces):
            target = self.world.targets(file)[place]
            paths = target.paths
            if target.origin in (Origin.STANDARD, Origin.THIRD_PARTY):
                return module[dots:]
        else:
            dotted = module[:dots] + ".".join(pieces[:parts])
            found = self.modules.target(file.path, dotted)
            paths = found.paths
            if found.origin in (Origin.STANDARD, Origin.THIRD_PARTY):
                return dotted
        numbers = [self.world.number[path] for path in paths if path in self.world.number]
        return (self.world.load(numbers[0]), -1) if numbers else None

    def starred(self, file: Loaded, name: str, hops: int = 0) -> Place | None:
        """What `from m import *` brings in under a name."""
        if hops > _FARTHEST:
            return None
        for place, row in enumerate(file.flow.imports):
            if row.name != "*":
                continue
            for path in self.world.targets(file)[place].paths:
                number = self.world.number.get(path)
                if number is None or number == file.number:
                    continue
                module = self.world.load(number)
                exports = module.flow.exports
                if name.startswith("_") if exports is None else (
                    name not in exports and not any(e.startswith("*") for e in exports)
                ):  # fmt: skip
                    continue
                found = self.offered(module, name, hops + 1)
                if found is not None:
                    return found
        return None

    # --- names of expressions ------------------------------------------------------------------

    def last_name(self, file: Loaded, expression: int) -> str:
        """The last name of an expression, as it was written where it was defined: `List` of `typing.List[int]`."""
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.MEMBER:
            return file.names[right]
        if op == Op.LOOKUP:
            return file.names[left]
        if op in (Op.CALL, Op.ITEM):
            return self.last_name(file, left)
        if op == Op.NAME:
            for value in file.values[left]:
                if file.op[value] == Op.IMPORT:
                    row = file.flow.imports[file.left[value]]
                    return row.name or row.module.rpartition(".")[2]
            return file.names[file.variable_name[left]]
        return ""

    def alias(self, file: Loaded, expression: int) -> tuple[Loaded, list[int]] | None:
        """What an expression stands for that names another type's name: the file and the values bound to it."""
        place: Place | None = None
        if file.op[expression] == Op.NAME:
            place = self.of_variable(file, file.left[expression])
        elif file.op[expression] == Op.MEMBER:
            for value in self.evaluate(file, file.left[expression]):
                if value.tag == MODULE and isinstance(value.id, int):
                    place = self.offered(self.world.load(value.id), file.names[file.right[expression]])
        if place is None or isinstance(place, str) or place[1] < 0:
            return None
        owner, symbol = place
        if owner.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT, Kind.TYPE) or owner.symbol_parent[symbol]:
            return None
        variable = owner.variables.get((0, owner.symbol_name[symbol]))
        if variable is None:
            return None
        return owner, [value for value in owner.values[variable] if owner.op[value] != Op.SYMBOL]

    # --- classes -----------------------------------------------------------------------------

    def bases(self, file: Loaded, symbol: int) -> list[int]:
        """The ids of a class's bases that are in the repository."""
        identity = file.id(symbol)
        if identity in self._bases:
            return self._bases[identity]
        if identity in self._above:
            self.cut += 1
            return []
        self._above.add(identity)
        before, found = self.cut, list[int]()
        for value in file.said(symbol, Given.BASE):
            classes = [v.id for v in self.evaluate(file, value) if v.tag == CLASS and isinstance(v.id, int)]
            found += [base for base in classes if base != identity][:1]
        self._above.discard(identity)
        if self.cut == before:
            self._bases[identity] = found
        return found

    def order(self, identity: int) -> list[tuple[Loaded, int]]:
        """A class and those above it, in the order in which Python looks for a member."""
        if identity in self._orders:
            return self._orders[identity]
        owner = self.world.owner(identity)
        if identity in self._ordering:  # a class that is above itself
            self.cut += 1
            return [owner]
        self._ordering.add(identity)
        before = self.cut
        bases = self.bases(*owner)
        lists = [list(self.order(base)) for base in bases]
        lists.append([self.world.owner(base) for base in bases])
        found = [owner, *_merged(lists)]
        self._ordering.discard(identity)
        if self.cut == before:
            self._orders[identity] = found
        return found

    def member(self, identity: int, name: str, skip: int = 0) -> Place | None:
        """Where a class's member is defined."""
        key = (identity, name, skip)
        if key in self._members:
            return self._members[key]
        before = self.cut
        found = self._find_member(identity, name, skip)
        if self.cut == before:
            self._members[key] = found
        return found

    def _find_member(self, identity: int, name: str, skip: int) -> Place | None:
        for file, symbol in self.order(identity)[skip:]:
            word = file.word.get(name)
            found = file.members.get(symbol, {}).get(word) if word is not None else None
            if found:
                return file, found[0]
            scope = file.opened.get(symbol)
            variable = file.variables.get((scope, word)) if word is not None and scope is not None else None
            if variable is not None and not file.variable_symbol[variable]:
                place = self.of_variable(file, variable)
                if place is not None:
                    return place
        return None


def _merged(lists: list[list[tuple[Loaded, int]]]) -> list[tuple[Loaded, int]]:
    """C3: the first head that is in no other's rest; where there is none, as Python would refuse, the first head."""
    result: list[tuple[Loaded, int]] = []
    lists = [one for one in lists if one]
    while lists and len(result) < _MOST_ABOVE:
        tails = [{(f.number, s) for f, s in one[1:]} for one in lists]
        heads = (one[0] for one in lists)
        head = next((h for h in heads if not any((h[0].number, h[1]) in tail for tail in tails)), lists[0][0])
        result.append(head)
        lists = [[c for c in one if c != head] for one in lists]
        lists = [one for one in lists if one]
    return result
