"""Python names that no Python file of the repository defines, but a compiled module may.

In: a file's expressions and their targets. Out: `ForeignName`s with full dotted names, which bridges answer. Names from
the standard library and from other projects are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import ForeignName, Op, Origin, Role, SymbolRelation, Trust, role_bit, unpack_column
from concordance.link.python.builtin_types import CLASS, EXTERNAL, INSTANCE, MODULE, SUPER
from concordance.link.python.inference import Evaluator
from concordance.link.python.module_finder import ModuleFinder
from concordance.link.python.packages import STUBS
from concordance.link.solver import Solver
from concordance.link.world import LoadedFlow, NameTarget

_MAX_REEXPORTS = 20  # modules through which a compiled name is re-exported
_CALL = role_bit(Role.CALL)
# Functions that return their first argument, or something that calls it.
_TRANSPARENT_WRAPPERS = frozenset(
    ("add_docstr", "_add_docstr", "partial", "staticmethod", "classmethod", "lru_cache", "cache")
)


class UnresolvedNames:
    """Finds the names that files request from other languages."""

    def __init__(self, values: Evaluator) -> None:
        self._values, self._world = values, values.world
        self._modules = self._world.tree.once(ModuleFinder)
        self._bases: dict[int, str] = {}
        self._solver: Solver[int, str] = Solver(
            self._find_compiled_base, self._bases.__setitem__, "", lambda old, new: old or new
        )
        self._depth = 0  # depth of the search for the class of a value (`_class_of_instance`)

    def of(self, file: LoadedFlow, targets: list[NameTarget]) -> list[ForeignName]:
        """Return the requests of a file: each name once for each symbol that uses it."""
        resolved: dict[int, int] = {}
        for row in targets:
            if row.trust > Trust.UNIQUE_NAME:  # a name matched by guess does not count as resolved
                resolved.setdefault(row.use, row.target)
        names: dict[int, str] = {}
        foreign: dict[tuple[str, int], tuple[int, int]] = {}
        flow = file.flow
        columns = (flow.user, flow.used, flow.roles, flow.times)
        for user, used, roles, times in zip(*map(unpack_column, columns), strict=True):
            if used not in names:
                names[used] = (
                    self._name_in_stub(resolved[used]) if used in resolved else self._name(file, used, resolved)
                )
            if names[used]:
                key = (names[used], file.id(user - 1))
                had = foreign.get(key, (0, 0))
                foreign[key] = (had[0] | roles, had[1] + times)
        for symbol, used in self._aliases(file):
            name = self._name_in_stub(resolved[used]) if used in resolved else self._name(file, used, resolved)
            if name:
                key = (name, file.id(symbol - 1))
                foreign[key] = (foreign.get(key, (0, 0))[0] | _CALL, foreign.get(key, (0, 1))[1])
        return [ForeignName(name, user, roles, times) for (name, user), (roles, times) in sorted(foreign.items())]

    def _aliases(self, file: LoadedFlow) -> Iterator[tuple[int, int]]:
        """Yield the symbols (plus one) that are aliases of an expression, with that expression."""
        for variable, symbol in enumerate(file.variable_symbol):
            for value in file.values[variable] if symbol else ():
                if file.op[value] == Op.CALL and file.right[value]:
                    callee = file.left[value]
                    name = file.free_name(callee) or self._variable_name(file, callee)
                    value = file.right[value] - 1 if name in _TRANSPARENT_WRAPPERS else -1  # noqa: PLW2901
                if value >= 0 and file.op[value] in (Op.MEMBER, Op.NAME, Op.IMPORT):
                    yield symbol, value

    @staticmethod
    def _variable_name(file: LoadedFlow, expression: int) -> str:
        """Return the name of a variable if the expression is one, else ""."""
        op = file.op[expression]
        return file.names[file.variable_name[file.left[expression]]] if op == Op.NAME else ""

    def _name_in_stub(self, target: int) -> str:
        """Return the full name of a target that is only declared: a symbol of a stub; else ""."""
        row = self._world.files[self._world.file_number(target)]
        if target == row.id or not row.path.endswith(STUBS):
            return ""
        owner, symbol = self._world.owner(target)
        parts = []
        while symbol >= 0:
            parts.append(owner.names[owner.symbol_name[symbol]])
            symbol = owner.symbol_parent[symbol] - 1
        return ".".join([self._modules.name_of(owner.path), *reversed(parts)])

    def _name(self, file: LoadedFlow, use: int, resolved: dict[int, int]) -> str:
        """Return the full name of an expression's target if the repository should define it and its Python does not."""
        dotted = self._dotted_name(file, use, resolved)
        head, _, rest = dotted.partition(".")
        return dotted if rest and self._is_in_repository(file, head) else ""

    def _is_in_repository(self, file: LoadedFlow, head: str) -> bool:
        """True if a package belongs to the repository, or is a module that its build generates."""
        if self._modules.repository_target(file.path, head) is not None:
            return True
        return self._modules.import_target(file.path, head).origin == Origin.GENERATED

    def _dotted_name(self, file: LoadedFlow, use: int, resolved: dict[int, int]) -> str:
        """Return the dotted name of an expression, by imports."""
        op, reexports = file.op[use], self._values.classes.reexports
        if op == Op.MEMBER:
            return self._member(file, use, resolved)
        left, right = file.left[use], file.right[use]
        if op == Op.NAME:
            bound = [value for value in file.values[left] if file.op[value] in (Op.IMPORT, Op.PACKAGE)]
            place = reexports.of_variable(file, left) if bound else (file, -1)  # most names are not imports
            if place is not None:
                return place if isinstance(place, str) else ""
            packages = [value for value in bound if file.op[value] == Op.PACKAGE]
            imports = [file.left[value] for value in bound if file.op[value] == Op.IMPORT]
            return self._missing_import(file, imports) or (
                self._dotted_name(file, packages[0], resolved) if packages else ""
            )
        if op == Op.IMPORT:
            place = reexports.import_target(file, left)
            return place if isinstance(place, str) else self._missing_import(file, [left]) if place is None else ""
        if op == Op.PACKAGE:
            place = reexports.package(file, left, right)
            module = file.flow.imports[left].module
            whole = not module.startswith(".") and right >= module.count(".") + 1
            return place if isinstance(place, str) else module if place is None and whole else ""
        return ""

    def _missing_import(self, file: LoadedFlow, imports: list[int], depth: int = 0) -> str:
        """Return the full name of an import from a module that lacks the name or is not in the tree."""
        for place in imports:
            row = file.flow.imports[place]
            dots = len(row.module) - len(row.module.lstrip("."))
            parts = [row.module[dots:], row.name]
            if dots:
                module = self._modules.name_of(file.path).split(".")
                up = dots - file.path.rpartition("/")[2].startswith("__init__.")
                if up > len(module):
                    continue
                parts = [*module[: len(module) - up], *parts]
            if row.name != "*":
                return self._reexported_from_compiled(file, place, depth) or ".".join(filter(None, parts))
        return ""

    def _reexported_from_compiled(self, file: LoadedFlow, place: int, depth: int) -> str:
        """Return the full name of an import that the imported module itself imports from a compiled one."""
        name = file.flow.imports[place].name
        for path in self._world.targets(file)[place].paths if name and depth < _MAX_REEXPORTS else ():
            number = self._world.number.get(path)
            if number is not None and number != file.number:
                dotted = self._undefined_import(self._world.load(number), name, depth + 1)
                if dotted:
                    return dotted
        return ""

    def _undefined_import(self, module: LoadedFlow, name: str, depth: int = 0) -> str:
        """Return the full name of what a module imports under a name and no Python file defines."""
        word = module.name_index.get(name)
        variable = module.variables.get((0, word)) if word is not None else None
        values = module.values[variable] if variable is not None else []
        imports = [module.left[value] for value in values if module.op[value] == Op.IMPORT]
        reexports = self._values.classes.reexports
        if not imports or any(reexports.import_target(module, imported) is not None for imported in imports):
            return ""
        return self._missing_import(module, imports, depth)

    def _optional_import(self, file: LoadedFlow, use: int) -> str:
        """Return the imported name of a variable that has another value if the import fails (`except ImportError`)."""
        values = file.values[file.left[use]] if file.op[use] == Op.NAME else []
        if not values or any(file.op[value] != Op.IMPORT for value in values):
            return ""
        imports, reexports = [file.left[value] for value in values], self._values.classes.reexports
        return (
            self._missing_import(file, imports)
            if all(reexports.import_target(file, imported) is None for imported in imports)
            else ""
        )

    def _class_of_instance(self, file: LoadedFlow, use: int, resolved: dict[int, int]) -> str:
        """Return the class that no Python file defines and of which a name holds an instance: `x` after `x =
        m.Index()`.

        A callee that looks like a function is ignored, because its result has another type.
        """
        if file.op[use] != Op.NAME or self._depth > 2:  # limits x = x.Next()
            return ""
        values = file.values[file.left[use]]
        callees = {file.left[value] if file.op[value] == Op.CALL else -1 for value in values}
        if len(callees) != 1 or -1 in callees or not resolved.keys().isdisjoint(callees):
            return ""
        self._depth += 1
        try:
            dotted = self._dotted_name(file, callees.pop(), resolved)
        finally:
            self._depth -= 1
        return dotted if dotted.rpartition(".")[2].lstrip("_")[:1].isupper() else ""

    def _member(self, file: LoadedFlow, use: int, resolved: dict[int, int]) -> str:
        name, left = file.names[file.right[use]], file.left[use]
        owner = self._optional_import(file, left)
        if owner:
            return f"{owner}.{name}"
        values = self._values.value(file, left)
        if not values:
            owner = (
                self._dotted_name(file, left, resolved) if left not in resolved else ""
            ) or self._class_of_instance(file, left, resolved)
            return f"{owner}.{name}" if owner else ""
        if len(values) != 1:
            return ""
        value = values[0]
        if value.tag == EXTERNAL:
            return f"{value.id}.{name}"
        if value.tag == MODULE and isinstance(value.id, int):
            dotted = self._undefined_import(self._world.load(value.id), name)
            return dotted or f"{self._modules.name_of(self._world.files[value.id].path)}.{name}"
        if value.tag in (CLASS, INSTANCE, SUPER) and isinstance(value.id, int):
            owner = self._compiled_base(value.id) if self._values.find_member(value, name) is None else ""
            return f"{owner}.{name}" if owner else ""
        return ""

    def _compiled_base(self, identity: int) -> str:
        """Return the compiled class that a class extends, directly or indirectly; "" if there is none, or several."""
        base = self._bases.get(identity)
        return base if base is not None else self._solver.ask(identity)

    def _find_compiled_base(self, identity: int) -> str:
        depth, self._depth = self._depth, 0  # the cached answer must not depend on how deep the question was asked
        try:
            bases = {
                self._dotted_name(file, value, {})
                for file, symbol in self._values.classes.order(identity)
                for value in file.related_expressions(symbol, SymbolRelation.BASE)
                if file.op[value] in (Op.MEMBER, Op.NAME, Op.IMPORT) and not self._is_class(file, value)
            } - {""}
        finally:
            self._depth = depth
        return bases.pop() if len(bases) == 1 else ""

    def _is_class(self, file: LoadedFlow, expression: int) -> bool:
        """True if a base is a class defined in the repository's own Python."""
        return any(value.tag == CLASS for value in self._values.value(file, expression))
