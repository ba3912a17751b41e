"""Follows a Python name through files, by imports, re-exports and star imports, to its definition.

In: a file and a name, a variable or an import. Out: a `Place`. The exports of modules may depend on one another; in
such a cycle of imports (see `solver`), each module gets the definition that it reaches through the fewest others.
"""

from __future__ import annotations

from concordance.base.model import Kind, Op, Origin
from concordance.link.python.module_finder import ModuleFinder
from concordance.link.solver import Solver
from concordance.link.world import LinkWorld, LoadedFlow

# A symbol of a file (-1: the file itself), or the dotted name of something external.
Place = tuple[LoadedFlow, int] | str
Question = tuple[LoadedFlow, str]  # a module and a name


class ReexportResolver:
    """Follows names, each once."""

    def __init__(self, world: LinkWorld) -> None:
        self.world = world
        self.modules = world.tree.once(ModuleFinder)
        self._exported: dict[Question, Place | None] = {}
        self._solver: Solver[Question, Place | None] = Solver(
            self._find_exported, self._exported.__setitem__, None, lambda old, new: old if old is not None else new
        )
        self._import_targets: dict[tuple[int, int], Place | None] = {}
        self._star_modules: dict[int, list[tuple[LoadedFlow, tuple[str, ...] | None]]] = {}

    def exported(self, file: LoadedFlow, name: str) -> Place | None:
        """Return what a module exports under a name."""
        key = (file, name)
        return self._exported[key] if key in self._exported else self._solver.ask(key)

    def of_variable(self, file: LoadedFlow, variable: int) -> Place | None:
        """Return the target of a variable of a file: its symbol, or what an import binds to it.

        What replaces a failed import (`except ImportError: x = None`, or a function of its name) is not the target.
        """
        symbol = file.variable_symbol[variable] - 1
        replaces = symbol >= 0 and file.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT)
        outside: Place | None = None
        for value in file.values[variable]:
            if replaces and (file.op[value] != Op.IMPORT or file.flow.imports[file.left[value]].condition != "try"):
                continue
            if file.op[value] == Op.IMPORT:
                place = self.import_target(file, file.left[value])
            elif file.op[value] == Op.PACKAGE:
                place = self.package(file, file.left[value], file.right[value])
            else:
                continue
            if place is not None and not isinstance(place, str):
                return place
            outside = outside or place
        return (file, symbol) if symbol >= 0 else outside

    def import_target(self, file: LoadedFlow, place: int) -> Place | None:
        """Return the target of an import."""
        key = (file.number, place)
        if key in self._import_targets:
            return self._import_targets[key]
        before = self._solver.provisional
        target = self._of_import(file, place)
        if self._solver.provisional == before:
            self._import_targets[key] = target
        return target

    def star_import_target(self, file: LoadedFlow, name: str) -> Place | None:
        """Return what the file's star imports bind to a name."""
        for module, exports in self._star_imports(file):
            if name.startswith("_") if exports is None else (
                name not in exports and not any(e.startswith("*") for e in exports)
            ):  # fmt: skip
                continue
            place = self.exported(module, name)
            if place is not None:
                return place
        return None

    def _find_exported(self, question: Question) -> Place | None:
        file, name = question
        word = file.name_index.get(name)
        variable = file.variables.get((0, word)) if word is not None else None
        place = self.of_variable(file, variable) if variable is not None else None
        if place is None:
            place = self.star_import_target(file, name)
        if place is not None:
            return place
        path = self.modules.submodule(file.path, name)
        number = self.world.number.get(path) if path is not None else None
        return (self.world.load(number), -1) if number is not None else None

    def _of_import(self, file: LoadedFlow, place: int) -> Place | None:
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
                resolved: Place | None = None  # `from . import b` in a package's own file imports its submodule
            else:
                resolved = self.exported(module, row.name)
            if resolved is not None:
                return resolved
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

    def package(self, file: LoadedFlow, place: int, parts: int) -> Place | None:
        """Return the module that the first `parts` components of an import's dotted name refer to."""
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
            resolved = self.modules.import_target(file.path, dotted)
            paths = resolved.paths
            if resolved.origin in (Origin.STANDARD, Origin.THIRD_PARTY):
                return dotted
        numbers = [self.world.number[path] for path in paths if path in self.world.number]
        return (self.world.load(numbers[0]), -1) if numbers else None

    def _star_imports(self, file: LoadedFlow) -> list[tuple[LoadedFlow, tuple[str, ...] | None]]:
        """Return the modules of a file's star imports, each with its `__all__`, if it has one."""
        starred = self._star_modules.get(file.number)
        if starred is None:
            rows = zip(file.flow.imports, self.world.targets(file), strict=False)
            paths = [path for row, target in rows if row.name == "*" for path in target.paths]
            numbers = [self.world.number[path] for path in paths if path in self.world.number]
            modules = [self.world.load(number) for number in numbers if number != file.number]
            starred = self._star_modules[file.number] = [(module, module.flow.exports) for module in modules]
        return starred
