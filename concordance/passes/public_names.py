"""The name under which users import a Python definition: `torch.nn.Module`, not `torch.nn.modules.module.Module`.

In: the exports of each module (`ExportedNames`), by path, and the names that documents document. Out: by path,
the public names of a module's top-level definitions. Every exported name is followed to its definition, which gives all
dotted names of the definition. The documented one is taken, else the one with the best reason: defined there or
re-exported on purpose (`__all__`, a package's own `__init__`, `import x as x`) before merely used there; then the
shortest. A name with a private part does not count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from concordance.base.model import KINDS, Flow, Import, Kind, Op, Role, Target, role_bit, unpack_column
from concordance.facts.codec import PublicName, SymbolHead
from concordance.link.paths.tree import enclosing_folders

_MAX_REEXPORTS = 40  # modules through which a name is re-exported; a longer chain is a cycle
_ENDINGS = (".py", ".pyi", ".pyx")
DocumentedEntry = tuple[str, str, str]  # a document, the current module at that place, and a name
DefinitionPlace = tuple[str, str]  # a path, and a name defined there; "" for the module itself
# Why a definition may be called by a dotted name, best first.
_ON_PURPOSE, _EXPORTED, _UNLISTED, _REEXPORTED, _INCIDENTAL = range(5)
SELF_ALIAS, UNUSED = 1, 2  # flags of `ReexportedName`: `import x as x`; not used in the module itself
_VARIABLE_KINDS = frozenset((KINDS.index(Kind.VARIABLE), KINDS.index(Kind.CONSTANT)))
_CLASS = KINDS.index(Kind.CLASS)
_NOT_A_USE = role_bit(Role.IMPORT) | role_bit(Role.MENTION) | role_bit(Role.DECLARE)
_WRITE = role_bit(Role.WRITE)
_DOCUMENTED_KINDS = frozenset((Kind.CLASS, Kind.FUNCTION, Kind.VARIABLE, Kind.TYPE, Kind.CONSTANT))
_MODULE_DIRECTIVES = frozenset(("currentmodule", "module", "automodule"))
_NAME_DIRECTIVES = frozenset(("autoclass", "autofunction", "autodata", "autoexception", "autosummary", "autodecorator",
                     "automethod", "autoattribute", "autoproperty"))  # fmt: skip


class ReexportedName(NamedTuple):
    """A name that a module imports from another."""

    name: str
    paths: tuple[str, ...]  # the files of the other module
    of: str  # its name there; "" for the module itself
    flags: int = 0


class ExportedNames(NamedTuple):
    """What one module has at its top level."""

    own: tuple[str, ...] = ()  # classes, functions and the like
    variables: tuple[str, ...] = ()  # variables; an import of the same name takes precedence
    classes: tuple[str, ...] = ()  # including nested ones, by qualified name
    reexported: tuple[ReexportedName, ...] = ()
    stars: tuple[tuple[str, ...], ...] = ()  # the files of the modules of its star imports
    aliases: tuple[tuple[str, str], ...] = ()  # variables that are bound to another of its names
    exports: tuple[str, ...] | None = None


class ModuleExports(NamedTuple):
    """The exports of all modules and documents, by path."""

    modules: dict[str, ExportedNames]
    documents: dict[str, tuple[tuple[str, str], ...]]  # names, each with the current module at that place
    not_importable: list[str]  # modules whose definitions are not meant to be imported
    roots: list[str]  # folders that modules are imported from, whatever surrounds them


class _Key(NamedTuple):
    """The sort key that decides which of several dotted names is shown; the smallest wins."""

    private: int
    reason: int
    parts: int
    unlisted: bool
    renamed: bool
    apart: int  # minus the number of parts in common with the defining module's name
    length: int
    dotted: str
    by: str  # the module that exports it under this name, or the document that has it


def module_of(path: str, packages: frozenset[str], roots: frozenset[str]) -> str:
    """Return the dotted name of a Python file, or "" if it has none.

    A file has one if it is in a package, directly in a root, or anywhere below a root called `src`.
    """
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    parts = [] if stem == "__init__" else [stem]
    inner: list[str] = []
    below = (
        ancestor
        for ancestor in enclosing_folders(folder)
        if ancestor in roots and (ancestor == folder or f"/{ancestor}".endswith("/src"))
    )
    outside = next(below, None)
    is_outside = outside is not None
    while folder and folder != outside:
        outer, _, last = folder.rpartition("/")
        if folder in packages:
            is_outside = True
        elif is_outside and outside is None:
            break
        inner.append(last)
        folder = outer
    whole = [*reversed(inner), *parts]
    return ".".join(whole) if is_outside and whole and all(part.isidentifier() for part in whole) else ""


def is_private(part: str) -> bool:
    """True if a part of a dotted name is private."""
    return part.startswith("_") and not (part.startswith("__") and part.endswith("__"))


def public_names(
    modules: Mapping[str, ExportedNames],
    documented: Iterable[DocumentedEntry],
    not_importable: frozenset[str],
    roots: frozenset[str],
) -> dict[str, dict[str, PublicName]]:
    """Return the public names of each module's definitions.

    For modules in `not_importable`, only re-exports by other modules count. `roots` are folders from which modules and
    packages are imported, whatever surrounds them.
    """
    return _Search(modules, not_importable, roots).names(documented)


class _Search:
    def __init__(
        self, modules: Mapping[str, ExportedNames], not_importable: frozenset[str], roots: frozenset[str]
    ) -> None:
        # Sorted, so that a cycle is always cut at the same place.
        self.modules, self.not_importable = dict(sorted(modules.items())), not_importable
        names = (path.rpartition("/") for path in modules)
        packages = frozenset(folder for folder, _, name in names if name.partition(".")[0] == "__init__")
        self.dotted = {path: module_of(path, packages, roots) for path in self.modules}
        self.by_dotted: dict[str, str] = {}
        for path, dotted in self.dotted.items():  # a source before its stub
            if dotted:
                self.by_dotted.setdefault(dotted, path)
        self.reexported = {path: _by_name(exports.reexported) for path, exports in modules.items()}
        self.exports = {path: self._exports(path) for path in modules}
        self.reexporting_package: dict[str, str] = {}  # by private module: the package that re-exports it
        self._resolved: dict[DefinitionPlace, DefinitionPlace | None] = {}

    # --- What modules export

    def _exports(self, path: str) -> frozenset[str] | None:
        """Return the names in a module's `__all__`; `*m` is replaced by those of its submodule `m`."""
        listed = self.modules[path].exports
        if listed is None:
            return None
        names: set[str] = set()
        for name in listed:
            if not name.startswith("*"):
                names.add(name)
                continue
            inner = self._submodule(path, name[1:].rpartition(".")[2])
            names.update(self.modules[inner].exports or () if inner else ())
        return frozenset(names)

    def _submodule(self, path: str, name: str) -> str:
        """Return the file of a submodule, given the package's own file; "" if there is none."""
        folder, _, last = path.rpartition("/")
        if last.partition(".")[0] != "__init__":
            return ""
        beside = f"{folder}/{name}" if folder else name
        tried = [f"{beside}{slash}{ending}" for slash in ("/__init__", "") for ending in _ENDINGS]
        return next((module for module in tried if module in self.modules), "")

    def resolve(self, path: str, name: str, far: int = 0) -> DefinitionPlace | None:
        """Return where a name that a module exports is defined."""
        key = (path, name)
        if key in self._resolved:
            return self._resolved[key]
        if far > _MAX_REEXPORTS:
            return None
        self._resolved[key] = None  # a cycle gives nothing where it closes
        self._resolved[key] = place = self._resolve(path, name, far + 1)
        return place

    def _resolve(self, path: str, name: str, far: int) -> DefinitionPlace | None:
        module = self.modules[path]
        if name in module.own:
            return path, name
        for reexported in self.reexported[path].get(name, ()):
            there = self._resolve_reexport(reexported, far)
            if there is not None:
                return there
        if name in module.variables:
            return path, name
        for stars in module.stars:
            for other in stars:
                if other in self.modules and self._is_starred(other, name):
                    there = self.resolve(other, name, far)
                    if there is not None:
                        return there
        inner = self._submodule(path, name)
        return (inner, "") if inner else None

    def _resolve_reexport(self, reexport: ReexportedName, far: int) -> DefinitionPlace | None:
        for path in reexport.paths:
            if path in self.modules:
                if not reexport.of:
                    return path, ""
                there = self.resolve(path, reexport.of, far)
                if there is not None:
                    return there
        return None

    def _is_starred(self, path: str, name: str) -> bool:
        exports = self.exports[path]
        return name in exports if exports is not None else not name.startswith("_")

    def _names(self) -> dict[str, set[str]]:
        """Return all names that each module exports."""
        names = {
            path: {*exports.own, *exports.variables, *self.reexported[path]} for path, exports in self.modules.items()
        }  # fmt: skip
        into: dict[str, list[str]] = {}
        for path, module in self.modules.items():
            for stars in module.stars:
                for other in stars:
                    if other in self.modules and other != path:
                        into.setdefault(other, []).append(path)
        left = sorted(into)
        while left:
            path = left.pop()
            given = {name for name in names[path] if self._is_starred(path, name)}
            for taker in into.get(path, ()):
                if not given <= names[taker]:
                    names[taker] |= given
                    left.append(taker)
        return names

    # --- Choosing among dotted names

    def names(self, documented: Iterable[DocumentedEntry]) -> dict[str, dict[str, PublicName]]:
        """Return the public names of each module's definitions."""
        called = self._module_names()
        best, documented_as = _least(self._exported_names(called)), _least(self._documented(documented, called))
        names: dict[str, dict[str, PublicName]] = {}
        for (path, name), key in sorted({**best, **documented_as}.items()):
            if not key.private or (path, name) in documented_as:
                names.setdefault(path, {})[name] = PublicName(key.dotted, key.by if key.by != path else "")
        for path in self.modules:
            self._as_source(path, names)
        return names

    def _exported_names(self, module_names: Mapping[str, str]) -> Iterator[tuple[DefinitionPlace, _Key]]:
        """Yield the dotted names under which modules export something, each with its definition."""
        for path, names in self._names().items():
            dotted = module_names.get(path, "")
            if not dotted or path in self.not_importable:
                continue
            for name in sorted(names - {"__all__"}):
                there = self.resolve(path, name)
                reason = self._reason(path, name, there) if there is not None and there[1] else None
                if there is not None and reason is not None:
                    yield there, self._key(path, dotted, name, there, reason)
            for name, other in self.modules[path].aliases:
                there = self.resolve(path, other)
                # such a variable's name is seldom the intended name of what is bound to it
                if there is not None and there[1]:
                    yield there, self._key(path, dotted, name, there, _INCIDENTAL)

    def _module_names(self) -> dict[str, str]:
        """Return the name of each module; of a private one, the name under which a package re-exports it."""
        names = dict(self.dotted)
        hidden = {path for path, dotted in names.items() if any(map(is_private, dotted.split(".")))}
        for path in sorted(self.modules, key=lambda module: (self.dotted[module].count("."), module)):
            dotted = self.dotted[path]
            if not dotted or path in hidden or path in self.not_importable:
                continue
            for name in self.reexported[path]:
                there = self.resolve(path, name)
                if there is None or there[1] or there[0] not in hidden or is_private(name):
                    continue
                if self._reason(path, name, there) is not None and names[there[0]] == self.dotted[there[0]]:
                    names[there[0]] = f"{dotted}.{name}"
                    self.reexporting_package[there[0]] = path
        return names

    def _key(self, path: str, dotted: str, name: str, definition: DefinitionPlace, reason: int) -> _Key:
        """Return the sort key of a dotted name."""
        whole = f"{dotted}.{name}"
        parts = whole.split(".")
        unlisted = name not in (self.exports[path] or ())
        renamed = bool(definition[1]) and name != definition[1]
        by = self.reexporting_package.get(path, path)
        negated_common = -len({*parts} & {part.strip("_") for part in self.dotted[definition[0]].split(".")})
        return _Key(
            sum(map(is_private, parts)), reason, len(parts), unlisted, renamed, negated_common, len(whole), whole, by
        )

    def _reason(self, path: str, name: str, definition: DefinitionPlace) -> int | None:
        """Return why a definition may be called by a module's name for it; None if the module only uses it."""
        exports = self.exports[path]
        listed = exports is not None and name in exports
        if definition[0] == path:
            return _ON_PURPOSE if listed or exports is None else _UNLISTED
        folder, _, last = path.rpartition("/")
        package = last.partition(".")[0] == "__init__"
        inside = package and (definition[0].startswith(f"{folder}/") or not folder)
        flags = 0
        for reexport in self.reexported[path].get(name, ()):
            flags |= reexport.flags
        starred = name not in self.reexported[path]
        if inside and (listed or starred or flags & (SELF_ALIAS | UNUSED)):
            return _ON_PURPOSE
        if listed:
            return _EXPORTED
        if inside and exports is None:
            return _UNLISTED
        if flags & SELF_ALIAS or (package and (flags & UNUSED or starred)):
            return _REEXPORTED
        return _INCIDENTAL if starred or (flags & UNUSED and exports is None) else None

    def _documented(
        self, documented: Iterable[DocumentedEntry], module_names: Mapping[str, str]
    ) -> Iterator[tuple[DefinitionPlace, _Key]]:
        """Yield the dotted names in documents, each with its definition."""
        by_name = {**{dotted: path for path, dotted in module_names.items() if dotted}, **self.by_dotted}
        for by, module, name in documented:
            for dotted in [f"{module}.{name}", name] if module else [name]:
                split = self._resolve_dotted(dotted.split("."), by_name)
                if split is not None:
                    there, whole = split
                    parts = whole.split(".")
                    hidden, renamed = sum(map(is_private, parts)), parts[-1] != there[1]
                    yield there, _Key(hidden, _ON_PURPOSE, len(parts), False, renamed, 0, len(whole), whole, by)
                    break

    def _resolve_dotted(self, parts: Sequence[str], by_name: Mapping[str, str]) -> tuple[DefinitionPlace, str] | None:
        """Resolve the first part of a dotted name that is not a module; return its definition and dotted name."""
        for count in range(len(parts) - 1, 0, -1):
            path = by_name.get(".".join(parts[:count]))
            if path is not None:
                there = self.resolve(path, parts[count])
                return (there, ".".join(parts[: count + 1])) if there is not None and there[1] else None
        return None

    def _as_source(self, path: str, names: dict[str, dict[str, PublicName]]) -> None:
        """Give a stub's declarations the names of its source's definitions."""
        source = f"{path.removesuffix('.pyi')}.py"
        if path.endswith(".pyi") and source in self.modules:
            known, exports = names.get(source, {}), self.modules[path]
            same = {name: known[name] for name in (*exports.own, *exports.variables) if name in known}
            names.setdefault(path, {}).update(same)


def _least(rows: Iterable[tuple[DefinitionPlace, _Key]]) -> dict[DefinitionPlace, _Key]:
    """Return the smallest key of each definition."""
    least: dict[DefinitionPlace, _Key] = {}
    for there, key in rows:
        if there not in least or key < least[there]:
            least[there] = key
    return least


def _by_name(rows: Iterable[ReexportedName]) -> dict[str, list[ReexportedName]]:
    reexports: dict[str, list[ReexportedName]] = {}
    for reexport in rows:
        reexports.setdefault(reexport.name, []).append(reexport)
    return reexports


# --- What a module exports, and what a document documents. Both depend only on the file and on paths, never on ids, so
# they stay valid until the file is linked again.


def pack_exports(exports: ModuleExports) -> bytes:
    """Encode the exports of all files."""
    modules, documents = dict(sorted(exports.modules.items())), dict(sorted(exports.documents.items()))
    return msgspec.msgpack.encode(ModuleExports(modules, documents, exports.not_importable, exports.roots))


def unpack_exports(data: bytes) -> ModuleExports:
    """Decode the exports of all files."""
    return msgspec.msgpack.decode(data, type=ModuleExports) if data else ModuleExports({}, {}, [], [])


def is_encodable(path: str) -> bool:
    """True if a path can be encoded; for one that cannot, nothing is stored."""
    return not any("\ud800" <= sign <= "\udfff" for sign in path)


def read_exports(flow: Flow, targets: Sequence[Target]) -> ExportedNames:
    """Return what a module has at its top level."""
    own: dict[str, None] = {}
    variables: dict[str, None] = {}
    classes: dict[int, str] = {}
    parents, words = unpack_column(flow.symbol_parent), unpack_column(flow.symbol_name)
    for place, (kind, parent, word) in enumerate(zip(flow.symbol_kind, parents, words, strict=True)):
        name = flow.names[word]
        if not parent:
            (variables if kind in _VARIABLE_KINDS else own)[name] = None
        if kind == _CLASS and (not parent or parent - 1 in classes):
            classes[place] = f"{classes[parent - 1]}.{name}" if parent else name
    used, written = _used_names(flow)
    reexported, stars = [], []
    for row, target in zip(flow.imports, targets, strict=False):
        bound = row.alias or row.name
        if not target.paths or not bound or row.scope:
            continue
        if row.name == "*":
            stars.append(target.paths)
            continue
        if bound in written and bound not in own and bound not in variables:
            continue  # the write is not an assignment, which would make it a variable: `del` removes it
        flags = (SELF_ALIAS if row.alias and row.alias == row.name else 0) | (0 if bound in used else UNUSED)
        reexported.append(ReexportedName(bound, target.paths, row.name, flags))
    return ExportedNames(
        tuple(own), tuple(variables), tuple(dict.fromkeys(classes.values())), tuple(dict.fromkeys(reexported)),
        tuple(stars), tuple(_aliases(flow, variables)), flow.exports or None,
    )  # fmt: skip


def _variables(flow: Flow) -> dict[int, str]:
    """Return the names that the module itself binds, by variable."""
    rows = zip(unpack_column(flow.variable_scope)[: flow.whole], unpack_column(flow.variable_name), strict=False)
    return {place: flow.names[word] for place, (scope, word) in enumerate(rows) if scope == 0}


def _used_names(flow: Flow) -> tuple[set[str], set[str]]:
    """Return the names that the module uses rather than only re-exports, and those that it writes at its top level."""
    scopes, names = unpack_column(flow.variable_scope), unpack_column(flow.variable_name)
    left = unpack_column(flow.left)
    used, written = set(), set()
    for user, expression, roles in zip(
        unpack_column(flow.user), unpack_column(flow.used), unpack_column(flow.roles), strict=True
    ):
        if roles & ~_NOT_A_USE and flow.op[expression] == Op.NAME and scopes[left[expression]] == 0:
            name = flow.names[names[left[expression]]]
            used.add(name)
            if roles & _WRITE and not user:
                written.add(name)
    return used, written


def _aliases(flow: Flow, variables: dict[str, None]) -> Iterator[tuple[str, str]]:
    """Yield the variables that are bound once, to another name of the module."""
    values: dict[int, list[int]] = {}
    for variable, value in zip(unpack_column(flow.bound_variable), unpack_column(flow.bound_value), strict=True):
        values.setdefault(variable, []).append(value)
    left, names = unpack_column(flow.left), unpack_column(flow.variable_name)
    scopes = unpack_column(flow.variable_scope)
    for variable, name in _variables(flow).items():
        bound = values.get(variable, ())
        if name in variables and len(bound) == 1 and flow.op[bound[0]] == Op.NAME and scopes[left[bound[0]]] == 0:
            other = flow.names[names[left[bound[0]]]]
            if other != name:
                yield name, other


def read_documented_names(symbols: Sequence[SymbolHead], imports: Sequence[Import]) -> tuple[tuple[str, str], ...]:
    """Return the names that a document documents, each with the current module at that place ("" for none)."""
    documented = {
        (imported.module, imported.name.partition("(")[0].strip()) if imported.name else ("", imported.module): None
        for imported in imports if imported.form in _NAME_DIRECTIVES
    }  # fmt: skip
    current = sorted((imported.line, imported.module) for imported in imports if imported.form in _MODULE_DIRECTIVES)
    for symbol in symbols:
        if symbol.declaration and symbol.kind in _DOCUMENTED_KINDS and symbol.parent < 0:
            before = bisect_right(current, (symbol.line, "")) - 1
            documented[current[before][1] if before >= 0 else "", symbol.name] = None
    return tuple(documented)
