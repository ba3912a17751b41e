"""Finds the Python names of the modules, classes and method tables that C and C++ code defines.

In: the ends from `extract/cfamily/python_bindings`. Out: for a root of a file (a module that is described there, a
parameter that callers fill, the type that owns a method table), its dotted names in Python, each with its trust. A root
is followed from table to type, from type to the module that it is added to, and from a parameter to the calls that fill
it, until a name is written out; if the trail is lost, there is no name.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Trust
from concordance.link.bridge_context import BridgeContext, BridgeFile, StatedEnd
from concordance.link.python.packages import STUBS_AND_TEMPLATES
from concordance.link.solver import Solver

_MACRO = re.compile(r"\{(\w+)\}")
_ARGUMENT = re.compile(r"\{(@\d+)\}")
_MAX_STEPS = 12  # steps from a table to a module


class PythonName(NamedTuple):
    """A dotted Python name, with its trust."""

    name: str
    trust: Trust


def end_detail(stated: StatedEnd, key: str) -> str:
    """Return an end's value for a key."""
    return next((value for word, value in stated.end.more if word == key), "")


class Modules:
    """The Python names of roots."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self.ends = list(_expand_macros([*context.ends("cpython"), *context.ends("pybind")]))
        self._names: dict[tuple[BridgeFile, str], tuple[PythonName, ...]] = {}
        # A root that leads back to itself gets no name from that.
        self._solver: Solver[tuple[BridgeFile, str], tuple[PythonName, ...]] = Solver(
            lambda key: _best_names(self._find_names(*key)), self._names.__setitem__, (), lambda old, new: old or new
        )
        self._modules: dict[tuple[int, str], StatedEnd] = {}
        self.types: dict[tuple[int, str], StatedEnd] = {}
        self._types_named: dict[str, list[StatedEnd]] = {}
        self._tables: dict[str, set[int]] = {}  # the files that have a table of a name
        self._initialises: dict[int, list[StatedEnd]] = {}
        for stated in self.ends:
            self._index(stated)
        self._returned_tables = {
            stated.file.ids.id_at(int(end_detail(stated, "symbol"))): stated
            for stated in self.ends
            if stated.end.says == "gives"
        }

    def _index(self, stated: StatedEnd) -> None:
        says, root = stated.end.says, end_detail(stated, "in")
        if says == "module":
            self._modules[stated.file.id, root] = stated
        elif says == "type":
            had = self.types.get((stated.file.id, root))
            if had is None or not had.end.name:
                self.types[stated.file.id, root] = stated
            self._types_named.setdefault(root, []).append(stated)
        elif says == "initialises":
            self._initialises.setdefault(stated.file.id, []).append(stated)
        if root.startswith("table:"):
            self._tables.setdefault(root, set()).add(stated.file.id)

    @cached_property
    def _calls_by_parameter(self) -> dict[tuple[int, str], list[tuple[StatedEnd, Trust]]]:
        """The calls that pass something to a function's parameter; a candidate if several functions have the name."""
        calls: dict[tuple[int, str], list[tuple[StatedEnd, Trust]]] = {}
        for stated in self.ends:
            if stated.end.says == "hands":
                targets = self._functions(stated)
                places = [self._context.symbol(target) for target in targets]
                several = sum(place is not None and not place.declaration for place in places) > 1
                for target in targets:
                    trust = Trust.CANDIDATE if several else Trust.EXACT
                    calls.setdefault((target, end_detail(stated, "argument")), []).append((stated, trust))
        return calls

    def _functions(self, stated: StatedEnd) -> list[int]:
        """Return the functions that a name refers to, or the only one in the repository that has the name."""
        targets = [target.target for target in self._context.targets_of(stated) if target.trust > Trust.CANDIDATE]
        if targets:
            return targets
        candidates = [
            p
            for p in self._context.symbols_named(stated.end.name, C_FAMILY)
            if p.kind == "function" and not p.declaration
        ]
        return [candidates[0].id] if len(candidates) == 1 else []

    @cached_property
    def _table_uses(self) -> dict[tuple[int, str], list[StatedEnd]]:
        """The uses of each table, by the table's file and root."""
        uses: dict[tuple[int, str], list[StatedEnd]] = {}
        lost = []
        for stated in self.ends:
            if stated.end.says == "used":
                tables = self._table(stated)
                for key in tables:
                    uses.setdefault(key, []).append(stated)
                if not tables:
                    lost.append(stated)
        free: dict[str, list[StatedEnd]] = {}  # functions that return a table without a known use
        for identity, given in self._returned_tables.items():
            place = self._context.symbol(identity)
            if place is not None and not any(key in uses for key in self._table(given)):
                free.setdefault(place.name, []).append(given)
        names = Counter(stated.end.name.rpartition("::")[2] for stated in lost)
        for stated in lost:
            last = stated.end.name.rpartition("::")[2]
            if names[last] == 1 and len(free.get(last, ())) == 1:  # the only one left over on both sides
                for key in self._table(free[last][0]):
                    uses.setdefault(key, []).append(stated)
        return uses

    def _table(self, stated: StatedEnd, depth: int = 0) -> list[tuple[int, str]]:
        """Return the tables that a name refers to at its place."""
        for root in _roots("table", stated.end.name):
            files = self._tables.get(root, set())
            if stated.file.id in files:
                return [(stated.file.id, root)]
            for target in self._context.targets_of(stated):
                if target.target in self._returned_tables:
                    given = self._returned_tables[target.target]
                    return self._table(given, depth + 1) if depth < _MAX_STEPS else []
                row = self._context.file_containing(target.target)
                if row.id in files:
                    return [(row.id, root)]
            if len(files) == 1:
                return [(next(iter(files)), root)]
        return []

    @cached_property
    def _additions(self) -> dict[tuple[int, str], list[StatedEnd]]:
        """The calls that add a type or module to another, by the file and root of what is added."""
        additions: dict[tuple[int, str], list[StatedEnd]] = {}
        for stated in self.ends:
            if stated.end.says == "adds":
                value = end_detail(stated, "value")
                key = self.type_of(stated) if value.startswith("type:") else (stated.file.id, value) if value else None
                if key is not None:
                    additions.setdefault(key, []).append(stated)
        return additions

    def type_of(self, stated: StatedEnd) -> tuple[int, str] | None:
        """Return the file and root of the type that an end adds."""
        for root in _roots("type", end_detail(stated, "value").partition(":")[2]):
            if (stated.file.id, root) in self.types:
                return stated.file.id, root
            for target in self._context.targets_of(stated):
                row = self._context.file_containing(target.target)
                if (row.id, root) in self.types:
                    return row.id, root
            named = self._types_named.get(root, [])
            if len({other.file.id for other in named}) == 1:
                return named[0].file.id, root
        return None

    def names(self, stated: StatedEnd) -> tuple[PythonName, ...]:
        """Return the full names that an end binds; a name that is passed to a function, once for each call."""
        name = stated.end.name
        if "{@" not in name:
            return append_path(self.of(stated), name)
        kind, _, rest = end_detail(stated, "in").partition(":")
        place, _, argument = rest.partition(":")
        if kind != "parameter":
            return ()
        names: list[PythonName] = []
        for call, trust in self._calls_by_parameter.get((stated.file.ids.id_at(int(place)), argument), ()):
            full = _ARGUMENT.sub(lambda match, call=call: end_detail(call, match[1]) or match[0], name)  # type: ignore[misc]
            if "{" not in full:
                names += _cap_trust(append_path(self._names_from(call), full), trust)
        return _best_names(names)

    def of(self, stated: StatedEnd) -> tuple[PythonName, ...]:
        """Return the names of the object that an end's name belongs to, including the path to it."""
        path = end_detail(stated, "path")
        return append_path(self.root(stated.file, end_detail(stated, "in")), path)

    def root(self, file: BridgeFile, root: str) -> tuple[PythonName, ...]:
        """Return the names of a root of a file."""
        known = self._names.get((file, root))
        return known if known is not None else self._solver.ask((file, root))

    def _find_names(self, file: BridgeFile, root: str) -> Iterable[PythonName]:
        kind, _, name = root.partition(":")
        if kind == "is":
            return [PythonName(name, Trust.EXACT)]
        if kind == "init":
            return self._extension(name, file)
        if kind == "def":
            return self._defined_module(file, root)
        if kind == "type":
            return self._type(file, root)
        if kind == "table":
            return [n for stated in self._table_uses.get((file.id, root), ()) for n in self._names_from(stated)]
        place, _, argument = name.partition(":")
        identity = file.ids.id_at(int(place or -1))
        calls = self._calls_by_parameter.get((identity, argument), ())
        return [named for call, trust in calls for named in _cap_trust(self._names_from(call), trust)]

    def _names_from(self, stated: StatedEnd) -> tuple[PythonName, ...]:
        return append_path(self.root(stated.file, end_detail(stated, "in")), end_detail(stated, "path"))

    def _defined_module(self, file: BridgeFile, root: str) -> Iterable[PythonName]:
        """Return the names of a module that a `PyModuleDef` describes."""
        stated = self._modules.get((file.id, root))
        if stated is None:
            return []
        if "." in stated.end.name:
            return [PythonName(stated.end.name, Trust.EXACT)]
        adding = self._additions.get((file.id, root), ())
        added = [named for other in adding for named in append_path(self._names_from(other), other.end.name)]
        if added:
            return added
        makers = self._initialises.get(file.id, [])
        name = stated.end.name or (makers[0].end.name if len(makers) == 1 else "")
        return self._extension(name, file) if name else []

    def _type(self, file: BridgeFile, root: str) -> Iterable[PythonName]:
        type_end = self.types.get((file.id, root))
        own = type_end.end.name if type_end is not None else ""
        names: list[PythonName] = []
        for other in self._additions.get((file.id, root), ()):
            names += append_path(self._names_from(other), other.end.name or own.rpartition(".")[2])
        if "." in own:
            module, _, name = own.rpartition(".")
            names += (
                append_path(self._extension(module, file), name)
                if self._is_short(module)
                else [PythonName(own, Trust.EXACT)]
            )
        if not names and own:
            names.append(PythonName(own, Trust.UNIQUE_NAME))
        return names

    # --- Extension modules, which are files of their own

    def _extension(self, name: str, file: BridgeFile) -> Iterable[PythonName]:
        """Return the full name of an extension module that only states the last part of its name."""
        if "." in name:
            return [PythonName(name, Trust.EXACT)]
        dotted = self._full_name(name, file)
        if dotted:
            return [PythonName(dotted, Trust.VIA_IMPORT)]
        return [] if name.isupper() else [PythonName(name, Trust.UNIQUE_NAME)]

    def _full_name(self, name: str, file: BridgeFile) -> str:
        """Return the full name according to build files, imports and stubs; "" if they do not tell, or disagree."""
        extensions = self._built_extensions
        sources = {full for full, source in extensions if source == file.path}
        built_name = next(iter(sources)) if len(sources) == 1 else ""
        if "." in built_name:
            return built_name
        name = built_name or name  # CMake only has the last part
        named = {full for full, _ in extensions if full.endswith(f".{name}")}
        stubbed = self._stub_modules.get(name, set())
        names = named | stubbed | self._imported_modules(name)
        if len(names) > 1:
            near = {full: sum(part in file.path.split("/") for part in full.split(".")[:-1]) for full in names}
            most = max(near.values())
            nearest = {full for full in names if near[full] == most}
            names = nearest & named or nearest & stubbed or nearest
        return next(iter(names)) if len(names) == 1 else built_name

    def _is_short(self, module: str) -> bool:
        """True if a module's name is only the last part of one: no package of the repository has that name."""
        return "." not in module and not self._context.has_foreign_names_in(module)

    @cached_property
    def _built_extensions(self) -> list[tuple[str, str]]:
        """The extensions that build files name in full, with each of their sources."""
        extensions: list[tuple[str, str]] = []
        for stated in self._context.ends("extension", "builds"):
            folder = stated.file.path.rpartition("/")[0]
            sources = [value for word, value in stated.end.more if word == "source"]
            paths = [posixpath.normpath(posixpath.join(folder, source)) for source in sources] or [""]
            extensions.extend((stated.end.name, path) for path in paths)
        return extensions

    @cached_property
    def _stub_modules(self) -> dict[str, set[str]]:
        """The modules that have a stub, by their last part."""
        stubs: dict[str, set[str]] = {}
        for row in self._context.files:
            if row.path.endswith(STUBS_AND_TEMPLATES):
                name = self.stub(row)
                stubs.setdefault(name.rpartition(".")[2], set()).add(name)
        return stubs

    def _imported_modules(self, last: str) -> set[str]:
        """Return the modules that Python imports whose name ends in a certain part."""
        modules: set[str] = set()
        for name in self._context.foreign_names_with(last):
            parts = name.split(".")
            for place in range(1, len(parts)):
                if ".".join(parts[:place]) in self._files:
                    break  # a module that is one file has attributes, but no submodules
                if parts[place] == last:
                    modules.add(".".join(parts[: place + 1]))
        return modules

    @cached_property
    def _files(self) -> frozenset[str]:
        """The modules that are a single file, not a package."""
        paths = [row.path for row in self._context.files if row.language == "python"]
        alone = [path for path in paths if not path.rpartition("/")[2].startswith("__init__.")]
        return frozenset(self._context.module_of(path) for path in alone if path.endswith((".py", ".pyi")))

    def stub(self, row: BridgeFile) -> str:
        """Return the module of a stub or of a template of a stub."""
        return self._context.module_of(row.path.removesuffix(".in"))


def absolute_module(own_module: str, path: str, module: str) -> str:
    """Return the absolute name of a module that a file imports; `own_module` is that of the file."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    parts = own_module.split(".")
    up = dots - path.rpartition("/")[2].startswith("__init__.")
    return ".".join(filter(None, [*parts[: len(parts) - up], module[dots:]]))


def _roots(kind: str, name: str) -> tuple[str, ...]:
    """Return the roots for a variable: by its name as written, and by the last part of it."""
    last = name.rpartition("::")[2]
    return (f"{kind}:{name}", f"{kind}:{last}") if last != name else (f"{kind}:{name}",)


def _expand_macros(ends: list[StatedEnd]) -> Iterator[StatedEnd]:
    """Yield ends with macros of other files replaced by their texts, without ends whose text is not known."""
    texts: dict[str, set[str]] = {}
    for stated in ends:
        if stated.end.says == "spells":
            texts.setdefault(stated.end.name, set()).add(stated.end.text)

    def spelled(match: re.Match[str]) -> str:
        known = texts.get(match[1], set())
        return next(iter(known)) if len(known) == 1 else match[0]

    for stated in ends:
        name = _MACRO.sub(spelled, stated.end.name) if "{" in stated.end.name else stated.end.name
        if "{" not in name.replace("{@", ""):
            yield stated._replace(end=stated.end._replace(name=name)) if name != stated.end.name else stated
        elif stated.end.says in ("type", "module"):
            yield stated._replace(end=stated.end._replace(name=""))


def append_path(names: Iterable[PythonName], path: str) -> tuple[PythonName, ...]:
    """Append a path to each name."""
    return tuple(PythonName(f"{name.name}.{path}", name.trust) for name in names) if path else tuple(names)


def _cap_trust(names: Iterable[PythonName], trust: Trust) -> tuple[PythonName, ...]:
    return tuple(PythonName(name.name, min(name.trust, trust)) for name in names)


def _best_names(names: Iterable[PythonName]) -> tuple[PythonName, ...]:
    """Return each name once, most trusted first, then in the order found."""
    trusts: dict[str, Trust] = {}
    for python_name in names:
        trusts[python_name.name] = max(python_name.trust, trusts.get(python_name.name, python_name.trust))
    return tuple(PythonName(name, trust) for name, trust in sorted(trusts.items(), key=lambda item: -item[1]))
