"""Finds the files to link again after an update: the changed ones, and those that depend on a changed interface.

In: the files before and after the update, and a store that knows which files mention a name and which files link to a
symbol. Out: the numbers of the files. A name or symbol whose meaning changed may change the meaning of what is defined
with it, so changes are followed from file to file until nothing new is found. If they reach a large part of a family of
languages, the whole family is linked again, which is always correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from concordance.base.kinds import C_FAMILY, INLINE_MODULE, WHOLE_MODULE
from concordance.base.model import TYPE_KINDS, Links, Op, SymbolRelation, Target, unpack_column
from concordance.facts.codec import unpack_flow
from concordance.facts.records import Linkable, PreviousFile
from concordance.link.cfamily.invalidation import changed_c_names
from concordance.link.cfamily.linker import CFamilyLinker
from concordance.link.cfamily.scopes import NAMESPACE
from concordance.link.interface_digest import (
    ANY_OWNER,
    OWNERS_COLUMN,
    ExpressionDescriber,
    FileInterface,
    FileVersion,
    build_interface,
    is_used_implicitly,
    name_digest,
    owner_name_pairs,
)
from concordance.link.languages import value_tracking_languages
from concordance.link.world import LinkWorld, LoadedFlow

Item = TypeVar("Item")
ALWAYS_FOLLOWED_FILES = 200  # files up to which changes are always followed, whatever share of the family they are
FAMILY_SHARE = 3  # beyond one in this many of a family's files, the whole family is linked again


class StoredLinks(Protocol):
    """The queries that invalidation makes to the store."""

    def links(self, file: int) -> Links:
        """Return a file's links from before the update."""

    def mentioning(self, names: Iterable[int]) -> list[int]:
        """Return the files that mention one of the names with the given digests."""

    def files_linked_to_symbols(self, ids: Iterable[int]) -> set[int]:
        """Return the files that had a link to one of the given symbols."""


class _Queue(Generic[Item]):
    """Items that changed, each of which is followed once."""

    def __init__(self) -> None:
        self._seen: set[Item] = set()
        self.fresh: set[Item] = set()  # those whose dependents are still to be found

    def add(self, items: Iterable[Item]) -> None:
        """Add items, apart from those that were added before."""
        fresh = set(items) - self._seen
        self._seen |= fresh
        self.fresh |= fresh

    def take(self) -> set[Item]:
        """Remove and return the fresh items."""
        taken, self.fresh = self.fresh, set()
        return taken


class Invalidation:
    """Collects the files to link. Changed names and ids are queued until the files that depend on them are found."""

    def __init__(
        self,
        world: LinkWorld,
        stored: StoredLinks,
        before: Mapping[str, PreviousFile],
        added: Iterable[str],
        c_linker: Callable[[], CFamilyLinker],
    ) -> None:
        """`before` and `added` are the files that were read or removed; `c_linker` creates the linker of the
        C family."""
        self.world, self.stored, self.before, self.added = world, stored, before, set(added)
        self._c_linker = c_linker
        self.number_of = {row.id: number for number, row in enumerate(world.files)}
        self.to_link: set[int] = set()
        self.whole_families: set[bool] = set()  # families to link as a whole; True is the C family, False all others
        self._names = {False: _Queue[str](), True: _Queue[str]()}
        self._ids = _Queue[int]()  # symbols of the other languages
        self._owned = _Queue[tuple[str, str]]()  # symbols of the C family, as pairs of an owner and a name
        self._old: dict[str, FileVersion] = {}
        self._new: dict[str, FileVersion] = {}
        self._links: dict[str, Links] = {}
        self._known_dependencies: dict[tuple[str, bool], DefinitionDependencies] = {}
        self._sizes = [
            sum((row.language in C_FAMILY) == is_c for row in world.files if row.size) for is_c in (False, True)
        ]

    # --- What changed

    def find(self, retargeted: Mapping[int, tuple[Target, ...]]) -> set[int]:
        """Return the numbers of the files to link.

        `retargeted` are files whose imports resolve differently with the same text, with their old targets.
        """
        for path in sorted({*self.before, *self.added}):
            self._compare(path)
        for number, targets in retargeted.items():
            self._compare_imports(number, targets)
        self._compare_paths()
        names = changed_c_names(self.world, self._c_linker, self._old, self._new, retargeted)
        if names is None:
            self.whole_families.add(True)
        self._add_names(True, names or ())
        self._add_owned((ANY_OWNER, name) for name in names or ())
        while any(queue.fresh for queue in self._names.values()) or self._ids.fresh or self._owned.fresh:
            self._propagate()
        for number, row in enumerate(self.world.files):
            if row.size and (row.language in C_FAMILY) in self.whole_families:
                self.to_link.add(number)
        return self.to_link

    def _compare(self, path: str) -> None:
        """Compare the interface of a file that was read again with its interface before."""
        had, number = self.before.get(path), self.world.number.get(path)
        if had is not None and had.flow:
            file = LoadedFlow(
                -1, Linkable(had.id, had.ids, path, had.language, "", len(had.flow)), unpack_flow(had.flow)
            )
            self._links[path] = self.stored.links(had.id)
            self._old[path] = FileVersion(
                file, self._links[path].imports, build_interface(file, self._links[path].imports)
            )
        if number is not None and self.world.files[number].size:
            file = self.world.load(number)
            targets = self.world.targets(file)
            self._new[path] = FileVersion(file, targets, build_interface(file, targets))
            self.to_link.add(number)
        versions = [version for version in (self._old.get(path), self._new.get(path)) if version is not None]
        old = self._old[path].interface if path in self._old else FileInterface()
        new = self._new[path].interface if path in self._new else FileInterface()
        for is_c in {version.file.language in C_FAMILY for version in versions}:
            self._compare_names(is_c, old, new)
        if path in self._old and versions[0].file.language in value_tracking_languages():
            both = old.values.keys() & new.values.keys()
            values = [old.values[key][0] for key in both if old.values[key][1] != new.values[key][1]]
            self._add_changed(versions[0].file, values, ())
        if old.autouse_fixtures != new.autouse_fixtures:
            self._add_tests_below(path)

    def _compare_names(self, is_c: bool, old: FileInterface, new: FileInterface) -> None:
        """Record the names under which two versions of a file offer something different."""
        names = {name for name in old.names.keys() | new.names.keys() if old.names.get(name) != new.names.get(name)}
        if is_c:  # many files open a namespace; those that a change to one affects are found elsewhere
            names = {name for name in names if not _is_space(old.names.get(name), new.names.get(name))}
            for name in names:
                rows = [*old.names.get(name, ()), *new.names.get(name, ())]
                self._add_owned(
                    (owner, name)
                    for row in rows
                    for owner in (row[OWNERS_COLUMN] if len(row) > OWNERS_COLUMN else (ANY_OWNER,))
                )
        self._add_names(is_c, names)
        if old.exports != new.exports:
            self._add_names(is_c, _exported(old, new))
        for star in [*old.stars, *new.stars] if old.stars != new.stars else ():
            self._add_names(is_c, self._exported_names(star[-1][1] if star[-1] else (), set()))

    def _compare_imports(self, number: int, targets: Sequence[Target]) -> None:
        """Record what depends on the changed imports of a file."""
        file, now = self.world.load(number), self.world.targets(self.world.load(number))
        is_c = file.language in C_FAMILY
        self.to_link.add(number)
        if is_c or file.path in self._new:
            return
        places = [place for place, pair in enumerate(zip(targets, now, strict=False)) if pair[0] != pair[1]]
        for place in places:
            row = file.flow.imports[place]
            paths = {*targets[place].paths, *now[place].paths}
            self._add_names(is_c, self._exported_names(paths, set()) if row.name == "*" else [])
            if row.form in ("export", "mod") or row.form.startswith(INLINE_MODULE):
                self._add_names(is_c, {row.alias or row.name, row.module.rpartition("::")[2]})
        if len(targets) != len(now) or not places:  # a package on the way to a module changed
            places = list(range(len(now)))
        self._add_changed(file, *self._dependencies(file).dependents(imports=places))

    def _compare_paths(self) -> None:
        """Record added and removed files and folders: each is itself a name, in its folder's package."""
        removed = {path for path in self.before if path not in self.world.number}
        if not self.added and not removed:
            return
        was = _folders((self.world.number.keys() - self.added) | removed)
        folders = was ^ _folders(self.world.number.keys())
        names = {folder.rpartition("/")[2] for folder in folders}
        for path in {*self.added, *removed}:
            folder, _, last = path.rpartition("/")
            stem = last.partition(".")[0]
            names |= {stem, folder.rpartition("/")[2].removesuffix("-stubs") if stem == "__init__" else stem}
        self._add_names(False, names | {name.removesuffix("-stubs") for name in names})

    def _add_tests_below(self, path: str) -> None:
        """Record all tests that a folder's autouse fixtures apply to."""
        folder, _, last = path.rpartition("/")
        if last == "conftest.py":
            inside = f"{folder}/" if folder else ""
            rows = enumerate(self.world.files)
            self.to_link |= {
                n
                for n, row in rows
                if row.size and row.language in value_tracking_languages() and row.path.startswith(inside)
            }

    def _exported_names(self, paths: Iterable[str], seen: set[str]) -> set[str]:
        """Return all names that a star import of the given files may bring in."""
        names: set[str] = set()
        for path in paths:
            number = self.world.number.get(path)
            versions = [self._old[path].file] if path in self._old else []
            versions += [self.world.load(number)] if number is not None else []
            for file in versions if path not in seen else ():
                names.update(file.names[name] for name in file.symbol_name)
                named = zip(file.variable_scope, file.variable_name, strict=True)
                names.update(file.names[name] for scope, name in named if not scope)
                names.update(row.alias or row.name for row in file.flow.imports)
            if path not in seen and number is not None:
                seen.add(path)
                file = self.world.load(number)
                targets = zip(file.flow.imports, self.world.targets(file), strict=False)
                for further in [target.paths for row, target in targets if row.name == "*"]:
                    names |= self._exported_names(further, seen)
        return names

    # --- Which files depend on it

    def _add_names(self, is_c: bool, names: Iterable[str]) -> None:
        if is_c not in self.whole_families:
            self._names[is_c].add(set(names) - {"", "*"})

    def _add_owned(self, pairs: Iterable[tuple[str, str]]) -> None:
        if True not in self.whole_families:
            self._owned.add(pairs)

    def _propagate(self) -> None:
        """Find the files that depend on the changes recorded last."""
        changed_names = {is_c: queue.take() for is_c, queue in self._names.items()}
        ids, owned = self._ids.take(), self._owned.take()
        for is_old, versions in ((True, self._old), (False, self._new)):
            for file in [version.file for version in versions.values()]:
                names = changed_names[file.language in C_FAMILY]
                self._add_changed(file, *self._dependencies(file, is_old).dependents(names, ids, (), owned))
        for is_c, names in changed_names.items():
            wanted = {name_digest(name) for name in (*names, *(name for _, name in owned if is_c))}
            dependents = set(self.stored.mentioning(wanted)) if wanted else set()
            if ids and not is_c:
                dependents |= self.stored.files_linked_to_symbols(ids)
            numbers = {self.number_of[file] for file in dependents if file in self.number_of}
            for number in sorted(numbers):
                row = self.world.files[number]
                if is_c not in self.whole_families and (row.language in C_FAMILY) == is_c and row.path not in self._new:
                    self.to_link.add(number)
                    file = self.world.load(number)
                    self._add_changed(file, *self._dependencies(file).dependents(names, () if is_c else ids, (), owned))
            self._limit(is_c)

    def _limit(self, is_c: bool) -> None:
        """Stop following changes within a family once they have reached a large part of it."""
        count = sum((self.world.files[number].language in C_FAMILY) == is_c for number in self.to_link)
        if count > max(ALWAYS_FOLLOWED_FILES, self._sizes[is_c] // FAMILY_SHARE):
            self.whole_families.add(is_c)
            for queue in (self._names[is_c], self._owned if is_c else self._ids):
                queue.take()

    def _add_changed(self, file: LoadedFlow, symbols: Iterable[int], names: Iterable[str]) -> None:
        """Record the symbols and names of a file whose meaning changed."""
        is_c = file.language in C_FAMILY
        self._add_names(is_c, names)
        if file.language not in value_tracking_languages():
            self._add_names(is_c, (file.names[file.symbol_name[symbol]] for symbol in symbols))
            self._add_owned(pair for symbol in symbols if is_c for pair in owner_name_pairs(file, symbol))
            return
        for symbol in symbols:
            self._add_names(
                is_c,
                (file.names[file.left[value]] for value in file.related_expressions(symbol, SymbolRelation.OFFERS)),
            )
        if False not in self.whole_families:
            self._ids.add(file.id(symbol) for symbol in symbols)

    def _dependencies(self, file: LoadedFlow, is_old: bool = False) -> DefinitionDependencies:
        """Return the dependencies in a file, or in the old version of one that was read again."""
        key = file.path, is_old
        if key not in self._known_dependencies:
            links = self._links[file.path] if is_old else Links()
            if file.path not in self._new and not is_old and file.language in value_tracking_languages():
                links = self.stored.links(file.file_id)
            self._known_dependencies[key] = DefinitionDependencies(file, _by_use(links))
        return self._known_dependencies[key]


def _by_use(links: Links) -> dict[int, list[int]]:
    expressions: dict[int, list[int]] = {}
    for use, target in zip(unpack_column(links.use), unpack_column(links.target), strict=True):
        expressions.setdefault(use, []).append(target)
    return expressions


def _is_space(old: list[Any] | None, new: list[Any] | None) -> bool:
    """True if both versions of a file have only namespaces under a name."""
    return all(row[1] == NAMESPACE for row in (*(old or ()), *(new or ())))


def _exported(old: FileInterface, new: FileInterface) -> set[str]:
    """Return the names that appear or disappear when a file's list of exports changes."""
    versions = [version.exports for version in (old, new)]
    if all(names is not None and not any(name.startswith("*") for name in names) for names in versions):
        return set(versions[0] or ()) ^ set(versions[1] or ())
    return {*(versions[0] or ()), *(versions[1] or ()), *old.names, *new.names}


def _folders(paths: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


# --- Dependencies between the definitions of one file


class DefinitionDependencies:
    """Which definitions of a file depend on what it takes from other files.

    Expressions are followed through all variables of the file, from what other files can refer to down to the parts,
    and the resulting graph is searched in the opposite direction: given changed names, symbols or imports, `dependents`
    returns the symbols and variables of the file whose meaning may change. The nodes ("points") are numbered in one
    sequence: first the expressions, then the symbols, then the variables.
    """

    def __init__(self, file: LoadedFlow, links: Mapping[int, Sequence[int]]) -> None:
        """`links` are the targets of expressions from the last link; empty if the text was different then."""
        self.file, self.links = file, links
        self._symbols = len(file.op)
        self._variables = self._symbols + len(file.symbol_kind)
        self._reader = ExpressionDescriber(file, ())
        self._used_in: dict[int, list[int]] = {}  # the points that a point is a part of
        self._by_name: dict[str, list[int]] = {}
        self._by_import: dict[int, list[int]] = {}
        self._by_owned: dict[tuple[str, str], list[int]] = {}
        self._described: dict[int, list[int]] = {}  # the expressions that describe a symbol
        for (symbol, what), values in file.relations.items():
            if what not in (SymbolRelation.ASKS, SymbolRelation.OFFERS, SymbolRelation.HANDS):
                self._described.setdefault(symbol, []).extend(values)
        self._follow()

    def _follow(self) -> None:
        file, reader = self.file, self._reader
        open_ = [v for v in range(file.flow.whole) if not file.variable_symbol[v] and reader.is_accessible(v)]
        waiting = [*range(self._symbols, self._variables), *(self._variables + v for v in open_)]
        seen = set(waiting)
        while waiting:
            point = waiting.pop()
            for part in self._operands(point):
                self._used_in.setdefault(part, []).append(point)
                if part not in seen:
                    seen.add(part)
                    waiting.append(part)

    def _operands(self, point: int) -> list[int]:
        file = self.file
        if point >= self._variables:
            return file.values[point - self._variables]
        if point >= self._symbols:
            return list(self._of_symbol(point - self._symbols))
        op, left, right = file.op[point], file.left[point], file.right[point]
        if op == Op.NAME:
            symbol = file.variable_symbol[left]
            return [*file.values[left], *([self._symbols + symbol - 1] if symbol else [])]
        parts = self._reader.describe(point)[1] if op not in (Op.LOOKUP, Op.IMPORT, Op.PACKAGE, Op.PARAMETER) else []
        if op == Op.MEMBER:
            self._by_name.setdefault(file.names[right], []).append(point)
        elif op == Op.LOOKUP:
            self._by_name.setdefault(file.names[left], []).append(point)
        elif op in (Op.IMPORT, Op.PACKAGE):
            name = file.flow.imports[left].name
            for key in (name, WHOLE_MODULE) if name in ("", "default") else (name,):
                self._by_name.setdefault(key, []).append(point)
            self._by_import.setdefault(left, []).append(point)
        elif op in (Op.SYMBOL, Op.SUPER):
            symbol = left - (op == Op.SUPER)
            parts = [self._symbols + symbol] if symbol >= 0 else []
        elif op == Op.PARAMETER:
            parts = self._of_parameter(point, left, right)
        own = [link for link in self.links.get(point, ()) if link in file.ids and link != file.file_id]
        return [*parts, *(self._symbols + file.ids.place_of(identity) for identity in own)]

    def _of_parameter(self, point: int, function: int, place: int) -> list[int]:
        file = self.file
        for value in file.related_expressions(function, SymbolRelation.ASKS):
            self._by_name.setdefault(file.names[file.left[value]], []).append(point)
        owner = file.symbol_parent[function] - 1
        return [self._symbols + owner] if not place and owner >= 0 and file.kind(owner) in TYPE_KINDS else []

    def _of_symbol(self, symbol: int) -> Iterator[int]:
        """Yield the parts of a symbol's meaning.

        They are what describes it, what is bound to it, and, of a class, the members that are used without their names.
        """
        file = self.file
        yield from self._described.get(symbol, ())
        parent = file.symbol_parent[symbol] - 1
        scope = file.scope_of_symbol.get(parent, 0) if parent >= 0 else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        if variable is not None and file.variable_symbol[variable] == symbol + 1:
            yield from file.values[variable]
        if file.kind(symbol) in TYPE_KINDS:
            for name, members in file.members.get(symbol, {}).items():
                yield from (
                    (self._symbols + member for member in members) if is_used_implicitly(file.names[name]) else ()
                )
        if file.language in C_FAMILY:
            self._by_owned.setdefault((ANY_OWNER, file.names[file.symbol_name[symbol]]), []).append(
                self._symbols + symbol
            )
            for pair in owner_name_pairs(file, symbol):
                self._by_owned.setdefault(pair, []).append(self._symbols + symbol)
        within = file.within
        for part in file.names[within[symbol] - 1].split("::") if within and within[symbol] else ():
            self._by_name.setdefault(part, []).append(self._symbols + symbol)

    def dependents(
        self, names: Iterable[str] = (), ids: Iterable[int] = (), imports: Iterable[int] = (),
        owned: Iterable[tuple[str, str]] = (),
    ) -> tuple[set[int], set[str]]:  # fmt: skip
        """Return the symbols, and the names of other variables, that depend on some names, symbols or imports.

        Symbols are given by id or, in the C family, by owner and name.
        """
        queue = [point for name in names for point in self._by_name.get(name, ())]
        queue += [point for place in imports for point in self._by_import.get(place, ())]
        queue += [point for pair in owned for point in self._by_owned.get(pair, ())]
        wanted = frozenset(ids)
        if wanted:
            queue += [use for use, targets in self.links.items() if not wanted.isdisjoint(targets)]
            ids = self.file.ids
            queue += [
                self._symbols + ids.place_of(identity)
                for identity in wanted
                if identity in ids and identity != ids.file
            ]
        dependents = set(queue)
        while queue:
            for point in self._used_in.get(queue.pop(), ()):
                if point not in dependents:
                    dependents.add(point)
                    queue.append(point)
        symbols = {point - self._symbols for point in dependents if self._symbols <= point < self._variables}
        file = self.file
        others = {
            file.names[file.variable_name[point - self._variables]] for point in dependents if point >= self._variables
        }
        return symbols, others
