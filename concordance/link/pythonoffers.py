"""Where a Python name leads through files: by imports, re-exports and `import *` to a definition.

In: a file and a name, a variable or an import. Out: a `Place`. What a module offers may hang on what others offer, and
these on the first: a circle of imports offers nothing where it closes. A question is a generator that yields what it
must know of other modules, and all that are open lie in one list: a chain of files can be longer than Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from concordance.model import Kind, Op, Origin

from .pythonroots import PythonModules
from .world import Loaded, World

# A symbol of a file (-1: the file itself), or a dotted name from outside.
Place = tuple[Loaded, int] | str
Asked = Generator[tuple[Loaded, str], Place | None, Place | None]  # yields a module and a name, is sent what that is
Key = tuple[int, str]  # a module's number, and a name


class _Open(NamedTuple):
    """A question that waits for the answer to another."""

    key: Key
    work: Asked
    begun: int  # how many answers were held for now when it was asked


class Offers:
    """Follows names, each once."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.modules = world.tree.once(PythonModules)
        self._known: dict[Key, Place | None] = {}
        self._imported: dict[tuple[int, int], Place | None] = {}
        self._starred: dict[int, list[tuple[Loaded, tuple[str, ...] | None]]] = {}

    def offered(self, file: Loaded, name: str) -> Place | None:
        """What a module offers under a name."""
        key = (file.number, name)
        return self._known[key] if key in self._known else _Search(self._known, self._offered).answer(file, name)

    def of_variable(self, file: Loaded, variable: int) -> Place | None:
        """What a variable of a file is: its symbol, or what an import binds to it. A value that stands in for an
        import that failed (`except ImportError: x = None`) is not what is meant."""
        symbol = file.variable_symbol[variable] - 1
        if symbol >= 0 and file.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT):
            return file, symbol
        return self._answered(self._of_variable(file, variable))

    def imported(self, file: Loaded, place: int) -> Place | None:
        """What an import brings in."""
        key = (file.number, place)
        if key not in self._imported:
            self._imported[key] = self._answered(self._of_import(file, place))
        return self._imported[key]

    def starred(self, file: Loaded, name: str) -> Place | None:
        """What `from m import *` brings in under a name."""
        return self._answered(self._of_stars(file, name)) if self._stars(file) else None

    def _answered(self, work: Asked) -> Place | None:
        """The end of a question that nobody else asks."""
        try:
            wanted = next(work)
            while True:
                wanted = work.send(self.offered(*wanted))
        except StopIteration as end:
            found: Place | None = end.value
            return found

    # --- questions ---------------------------------------------------------------------------

    def _offered(self, file: Loaded, name: str) -> Asked:
        word = file.word.get(name)
        variable = file.variables.get((0, word)) if word is not None else None
        if variable is not None:
            found = yield from self._of_variable(file, variable)
            if found is not None:
                return found
        found = yield from self._of_stars(file, name)
        if found is not None:
            return found
        path = self.modules.submodule(file.path, name)
        number = self.world.number.get(path) if path is not None else None
        return (self.world.load(number), -1) if number is not None else None

    def _of_variable(self, file: Loaded, variable: int) -> Asked:
        symbol = file.variable_symbol[variable] - 1
        if symbol >= 0 and file.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT):
            return file, symbol
        outside: Place | None = None
        for value in file.values[variable]:
            if file.op[value] == Op.IMPORT:
                found = yield from self._of_import(file, file.left[value])
            elif file.op[value] == Op.PACKAGE:
                found = self.package(file, file.left[value], file.right[value])
            else:
                continue
            if found is not None and not isinstance(found, str):
                return found
            outside = outside or found
        return (file, symbol) if symbol >= 0 else outside

    def _of_import(self, file: Loaded, place: int) -> Asked:
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
                found = yield module, row.name
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

    def _of_stars(self, file: Loaded, name: str) -> Asked:
        for module, exports in self._stars(file):
            if name.startswith("_") if exports is None else (
                name not in exports and not any(e.startswith("*") for e in exports)
            ):  # fmt: skip
                continue
            found = yield module, name
            if found is not None:
                return found
        return None

    def _stars(self, file: Loaded) -> list[tuple[Loaded, tuple[str, ...] | None]]:
        """The modules of which a file takes all, each with what it exports, where it says so."""
        found = self._starred.get(file.number)
        if found is None:
            rows = zip(file.flow.imports, self.world.targets(file), strict=False)
            paths = [path for row, target in rows if row.name == "*" for path in target.paths]
            numbers = [self.world.number[path] for path in paths if path in self.world.number]
            modules = [self.world.load(number) for number in numbers if number != file.number]
            found = self._starred[file.number] = [(module, module.flow.exports) for module in modules]
        return found


class _Search:
    """One question from outside, and all that it asks in turn.

    What was found inside of a circle holds for whoever asked first. It is held for now, until the question that the
    circle goes back to is answered: where that finds nothing, nothing in the circle leads anywhere, whoever asks; else
    the others are asked for their own sake, when somebody wants to know.
    """

    def __init__(self, known: dict[Key, Place | None], ask: Callable[[Loaded, str], Asked]) -> None:
        self._known, self._ask = known, ask
        self._for_now: dict[Key, tuple[Place | None, int]] = {}  # with the depth that its circle goes back to
        self._depth: dict[Key, int] = {}  # of the questions that are open
        self._open: list[_Open] = []
        self._met: list[int] = []  # of each open question, the least deep that was met again; its own depth: none was

    def answer(self, file: Loaded, name: str) -> Place | None:
        """What a module offers under a name."""
        self._begin(file, name)
        found: Place | None = None
        while self._open:
            try:
                wanted = self._open[-1].work.send(found)
                key = (wanted[0].number, wanted[1])
                while self._is_met(key):
                    wanted = self._open[-1].work.send(self._now(key))
                    key = (wanted[0].number, wanted[1])
            except StopIteration as end:
                found = end.value
                self._end(found)
            else:
                self._begin(*wanted)
                found = None  # what a generator is sent first
        return found

    def _is_met(self, key: Key) -> bool:
        return key in self._known or key in self._for_now or key in self._depth

    def _now(self, key: Key) -> Place | None:
        """What is known of a question, or what it counts as for the one on top."""
        if key in self._known:
            return self._known[key]
        found, depth = self._for_now[key] if key in self._for_now else (None, self._depth[key])
        self._met[-1] = min(self._met[-1], depth)
        return found

    def _begin(self, file: Loaded, name: str) -> None:
        key = (file.number, name)
        self._depth[key] = len(self._open)
        self._met.append(len(self._open))
        self._open.append(_Open(key, self._ask(file, name), len(self._for_now)))

    def _end(self, found: Place | None) -> None:
        """Takes the question on top away: it is answered."""
        key, _, begun = self._open.pop()
        depth, met = self._depth.pop(key), self._met.pop()
        if met < depth:
            self._for_now[key] = (found, met)
            self._met[-1] = min(self._met[-1], met)
            return
        self._known[key] = found
        while len(self._for_now) > begun:  # which are in the order in which they came
            inside, _ = self._for_now.popitem()
            if found is None:
                self._known[inside] = None
