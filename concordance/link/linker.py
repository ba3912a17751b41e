"""Link files: find what each expression of a file refers to, and which symbols use which.

In: a `LinkWorld` and a file's number. Out: a `LinkedFile`: the file's links as bytes, its outgoing uses, and which of
its methods override which. In languages without a name resolver, only imports are linked.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from concordance.base.kinds import C_FAMILY
from concordance.base.model import (
    TYPE_KINDS,
    ForeignName,
    Import,
    Kind,
    Links,
    Op,
    Role,
    Target,
    Trust,
    pack_column,
    role_bit,
    unpack_column,
)
from concordance.extract.registry import language_of
from concordance.facts.codec import pack, pack_foreign_names, pack_targets
from concordance.facts.links.rows import LinkedFile
from concordance.facts.records import Linkable
from concordance.link import implicit_runs
from concordance.link.interface_digest import mentioned_name_digests
from concordance.link.languages import import_linkers
from concordance.link.paths.tree import Tree
from concordance.link.world import LanguageLinker, LinkWorld, LoadedFlow, NameTarget, SymbolsByName

_IMPORT = role_bit(Role.IMPORT)
_DECLARE = role_bit(Role.DECLARE)
_CALL = role_bit(Role.CALL)
_WRITE = role_bit(Role.WRITE)
_ID_BITS = 32  # bits that an id fits into
_ID_MASK = (1 << _ID_BITS) - 1
_METHODS = frozenset((Kind.METHOD, Kind.PROPERTY, Kind.FUNCTION))
_MAX_ANCESTORS = 64  # ancestors of a class; a longer chain is a mistake in the linked code
_MAX_REASONS = 250  # distinct reasons that are stored in one byte; all others share one more
_ANY_REASON = "one of several definitions of this name"


class Linker:
    """Links the files of one repository."""

    def __init__(
        self, tree: Tree, files: list[Linkable], flows: Callable[[int], bytes],
        symbols_by_name: SymbolsByName | None = None,
        flows_of_languages: Callable[[Iterable[str]], dict[int, bytes]] | None = None,
    ) -> None:  # fmt: skip
        self._modules = import_linkers()
        resolvers = {name: module.imports for name, module in self._modules.items()}
        self.world = LinkWorld(tree, files, flows, resolvers, symbols_by_name, flows_of_languages)
        self._names: dict[str, LanguageLinker | None] = {}
        self._skipped_import_resolvers: dict[str, Callable[[str, Import], list[Target]]] = {}

    def prepare(self, languages: Iterable[str] | None = None) -> None:
        """Build the tables that the given languages need, once, before worker processes are forked."""
        for language in {row.language for row in self.world.files if row.size} if languages is None else languages:
            names = self.names(language)
            prepare = getattr(names, "prepare", None)
            if prepare is not None:
                prepare()

    def import_targets_digest(self, number: int) -> bytes:
        """Return a digest of the targets of a file's imports and of the packages that the imports pass through."""
        row = self.world.files[number]
        targets = [*self.world.targets_of(number)]
        module = self._modules.get(row.language)
        if module is not None and hasattr(module, "enclosing_package_imports"):
            if module.__name__ not in self._skipped_import_resolvers:
                self._skipped_import_resolvers[module.__name__] = module.enclosing_package_imports(self.world.tree)
            resolve = self._skipped_import_resolvers[module.__name__]
            targets += [target for imported in self.world.imports(number) for target in resolve(row.path, imported)]
        return sha256(pack_targets(targets)).digest()[:8] if targets else b""

    def names(self, language: str) -> LanguageLinker | None:
        """Return the name resolver of a language, or None if it has none; languages of one family share theirs."""
        module = self._modules.get(language)
        if module is None or not hasattr(module, "names"):
            return None
        if module.__name__ not in self._names:
            self._names[module.__name__] = module.names(self.world)
        return self._names[module.__name__]

    def created_linkers(self) -> list[LanguageLinker]:
        """Return the name resolvers that have been created so far."""
        return [names for names in self._names.values() if names is not None]

    def link(self, number: int) -> LinkedFile:
        """Link one file."""
        file = self.world.load(number)
        names = self.names(file.language)
        targets = names.resolve_file(file) if names is not None else []
        overrides = list(self._overrides(file, names)) if names is not None else []
        extends = list(self._extends(file, names)) if names is not None else []
        resolvers: dict[str, int] = {}
        for target in targets:
            if len(resolvers) < _MAX_REASONS:
                resolvers.setdefault(target.by, len(resolvers))
        # The only reason that has that many variants is "one of N definitions of this name".
        if len(resolvers) == _MAX_REASONS:
            resolvers[_ANY_REASON] = _MAX_REASONS
        by = bytes([resolvers.get(target.by, _MAX_REASONS) for target in targets])
        links = Links(
            pack_column([row.use for row in targets]), pack_column([row.target for row in targets]),
            bytes([row.trust for row in targets]), by, tuple(resolvers), self.world.targets(file),
        )  # fmt: skip
        resolved = len({row.use for row in targets})
        row = self.world.files[number]
        uses, missed = self._uses(file, targets)
        rows = list(zip(*map(unpack_column, uses[:4]), strict=True))
        edges = implicit_runs.pack_run_edges(file, targets, rows, names)
        loads = pack_column(implicit_runs.loaded_files(self.world, file, targets))
        linked = LinkedFile(
            row.id, pack(links), uses, missed, overrides, edges, len(file.op), resolved, loads, extends,
            self.import_targets_digest(number), mentioned_name_digests(file),
            self._included(names, number), self._foreign_names(names, file, targets),
        )  # fmt: skip
        release: Callable[[LoadedFlow], None] | None = getattr(names, "release", None)
        if release is not None:
            release(file)
        return linked

    def _foreign_names(self, names: LanguageLinker | None, file: LoadedFlow, targets: list[NameTarget]) -> bytes:
        foreign_names: Callable[[LoadedFlow, list[NameTarget]], list[ForeignName]] | None = getattr(
            names, "foreign_names", None
        )
        rows = foreign_names(file, targets) if foreign_names is not None else []
        return pack_foreign_names(rows) if rows else b""

    def _included(self, names: LanguageLinker | None, number: int) -> bytes | None:
        included: Callable[[int], list[int]] | None = getattr(names, "included", None)
        if included is None:
            return None
        return array("I", [self.world.files[other].id for other in included(number)]).tobytes()

    def _uses(
        self, file: LoadedFlow, resolved: list[NameTarget]
    ) -> tuple[tuple[bytes, ...], dict[str, tuple[int, int]]]:
        """Collect which symbol of a file uses which target.

        Each pair is listed once, with its roles, the best trust and the number of uses; candidates do not count where
        there is something better, and neither do packages that an import only passes through (`a` in `from a.b import
        c`). Also counts the names without a target: in calls, and in total.
        """
        targets: dict[int, list[NameTarget]] = {}
        for row in resolved:
            targets.setdefault(row.use, []).append(row)
        uses: dict[int, tuple[int, int, int]] = {}  # by target and user in one number, at half the cost of a tuple
        missed: dict[str, tuple[int, int]] = {}
        flow = file.flow
        id_of, whole, is_c = file.id, file.file_id, file.language in C_FAMILY
        rows = zip(*map(unpack_column, (flow.user, flow.used, flow.roles, flow.times)), strict=True)
        for user, used, stated, times in rows:
            if stated == _DECLARE or (stated == _IMPORT and _is_passed_through(file, used)):
                continue
            resolutions = targets.get(used)
            if resolutions is None:
                name = file.free_name(used)
                calls, all_ = missed.get(name, (0, 0))
                if name:
                    missed[name] = (calls + times if stated & _CALL else calls, all_ + times)
                continue
            user_id = id_of(user - 1)
            for _, target, trust, _ in resolutions:
                roles = stated & ~_DECLARE
                if stated & _WRITE and is_c and self._is_type(target):
                    roles = roles & ~_WRITE | _CALL  # a base in a constructor's initialiser list is constructed
                key = target << _ID_BITS | user_id
                had = uses.get(key)
                if had is None or (trust and not had[1]):
                    uses[key] = (roles, int(trust), times)
                elif trust or not had[1]:
                    uses[key] = (had[0] | roles, max(had[1], int(trust)), had[2] + times)
        is_package = language_of(file.language).imports_folders
        used_files = {self.world.file_number(key >> _ID_BITS) for key in uses} if is_package else set()
        for loaded in self.world.targets(file):
            path = (
                self._package_file(loaded.paths, used_files) if is_package else loaded.paths[0] if loaded.paths else ""
            )
            number = self.world.number.get(path)
            if number is not None:
                key = self.world.files[number].id << _ID_BITS | whole
                roles, best, times = uses.get(key, (0, 0, 0))
                uses[key] = (roles | _IMPORT, max(best, int(Trust.VIA_IMPORT)), times)
        uses.pop(whole << _ID_BITS | whole, None)
        pairs = ([key >> _ID_BITS for key in uses], [key & _ID_MASK for key in uses])
        columns = (*pairs, *map(list, zip(*uses.values(), strict=True))) if uses else ()
        return tuple(map(pack_column, columns)), missed

    def _package_file(self, paths: tuple[str, ...], used: set[int]) -> str:
        """Return the file that stands for an imported package: the only one, or, if nothing in the package is used by
        name, the one that is named like its folder; "" if there is none, or the files that are used stand for it."""
        if len(paths) < 2:
            return paths[0] if paths else ""
        if any(self.world.number.get(path) in used for path in paths):
            return ""
        folder = paths[0].rpartition("/")[0].rpartition("/")[2]
        return next((path for path in paths if path.rpartition("/")[2].partition(".")[0] == folder), "")

    def _is_type(self, identity: int) -> bool:
        owner, symbol = self.world.owner(identity)
        return symbol >= 0 and (owner.kind(symbol) in TYPE_KINDS or owner.kind(symbol) == Kind.TYPE)

    def _extends(self, file: LoadedFlow, names: LanguageLinker) -> Iterator[tuple[int, int]]:
        """Yield the classes of a file with each of their bases."""
        for symbol in range(len(file.symbol_kind)):
            if file.kind(symbol) in TYPE_KINDS:
                for base in dict.fromkeys(names.bases(file, symbol)):
                    yield file.id(symbol), base

    def _overrides(self, file: LoadedFlow, names: LanguageLinker) -> Iterator[tuple[int, int, int]]:
        """Yield the methods of a file's classes that override a method of a base."""
        if hasattr(names, "overrides"):  # the language has its own rules
            yield from names.overrides(file)
            return
        for symbol in range(len(file.symbol_kind)):
            if file.kind(symbol) not in TYPE_KINDS or symbol not in file.members:
                continue
            above = self._ancestors(file, symbol, names)
            for name, members in file.members[symbol].items() if above else ():
                for member in members:
                    if file.kind(member) in _METHODS:
                        target = _member(above, file.names[name])
                        if target is not None:
                            yield file.id(member), target, int(Trust.EXACT)

    def _ancestors(self, file: LoadedFlow, symbol: int, names: LanguageLinker) -> list[tuple[LoadedFlow, int]]:
        """Return the ancestors of a class, nearest first."""
        ancestors: list[tuple[LoadedFlow, int]] = []
        seen = {(file.number, symbol)}
        waiting = [(file, symbol)]
        while waiting and len(ancestors) < _MAX_ANCESTORS:
            below = waiting.pop(0)
            for identity in names.bases(*below):
                above, place = self.world.owner(identity)
                if (above.number, place) not in seen and place >= 0:
                    seen.add((above.number, place))
                    ancestors.append((above, place))
                    waiting.append((above, place))
        return ancestors


def _is_passed_through(file: LoadedFlow, use: int) -> bool:
    """True if an expression is a package on the way to the module that an import names."""
    if file.op[use] != Op.PACKAGE:
        return False
    module = file.flow.imports[file.left[use]].module.lstrip(".")
    return file.right[use] <= module.count(".")


def _member(classes: list[tuple[LoadedFlow, int]], name: str) -> int | None:
    """Return the method of a name in the nearest class that has one."""
    for file, symbol in classes:
        place = file.name_index.get(name)
        for member in file.members.get(symbol, {}).get(place, ()) if place is not None else ():
            if file.kind(member) in _METHODS:
                return file.id(member)
    return None
