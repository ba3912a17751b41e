"""Links a file: what each of its expressions refers to, and which symbols use which.

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
from concordance.link.language_linker import LanguageLinker
from concordance.link.languages import import_linkers
from concordance.link.paths.tree import Tree
from concordance.link.world import LinkWorld, LoadedFlow, NameTarget, SymbolsByName

_IMPORT = role_bit(Role.IMPORT)
_DECLARE = role_bit(Role.DECLARE)
_CALL = role_bit(Role.CALL)
_WRITE = role_bit(Role.WRITE)
_ID_BITS = 32  # bits that an id fits into
_ID_MASK = (1 << _ID_BITS) - 1
_MAX_REASONS = 250  # distinct reasons that are stored in one byte; all others share one more
_ANY_REASON = "one of several definitions of this name"
# Roles, trust and number of uses, by the ids of target and user in one number: half the cost of a tuple.
_Uses = dict[int, tuple[int, int, int]]


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
        self._linkers: dict[str, LanguageLinker] = {}
        self._without_names = LanguageLinker(self.world)
        self._skipped_import_resolvers: dict[str, Callable[[str, Import], list[Target]]] = {}

    def prepare(self, languages: Iterable[str] | None = None) -> None:
        """Build the tables that the given languages need, once, before worker processes are forked."""
        for language in {row.language for row in self.world.files if row.size} if languages is None else languages:
            self.language_linker(language).prepare()

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

    def language_linker(self, language: str) -> LanguageLinker:
        """Return what links the names of a language; languages of one family share theirs."""
        module = self._modules.get(language)
        if module is None or not hasattr(module, "names"):
            return self._without_names
        if module.__name__ not in self._linkers:
            self._linkers[module.__name__] = module.names(self.world)
        return self._linkers[module.__name__]

    def created_linkers(self) -> list[LanguageLinker]:
        """Return the linkers of languages that have been created so far."""
        return [*self._linkers.values()]

    def link(self, number: int) -> LinkedFile:
        """Link one file."""
        file, row = self.world.load(number), self.world.files[number]
        linker = self.language_linker(file.language)
        targets = linker.resolve_file(file)
        overrides = list(linker.overrides(file))
        extends = list(self._extends(file, linker))
        uses, missed = self._collect_uses(file, targets)
        use_rows = list(zip(*map(unpack_column, uses[:4]), strict=True))
        edges = implicit_runs.pack_run_edges(file, targets, use_rows, linker)
        loads = pack_column(implicit_runs.loaded_files(self.world, file, targets))
        included = linker.included(number)
        foreign_names = linker.foreign_names(file, targets)
        linked = LinkedFile(
            row.id, self._pack_links(file, targets), uses, missed, overrides, edges, len(file.op),
            len({target.use for target in targets}), loads, extends,
            self.import_targets_digest(number), mentioned_name_digests(file),
            None if included is None else array("I", [self.world.files[other].id for other in included]).tobytes(),
            pack_foreign_names(foreign_names) if foreign_names else b"",
        )  # fmt: skip
        linker.release(file)
        return linked

    def _pack_links(self, file: LoadedFlow, targets: list[NameTarget]) -> bytes:
        """Encode the targets of a file's expressions and imports. The reason of each is a byte, the place of its text
        in a table."""
        reasons: dict[str, int] = {}
        for target in targets:
            if len(reasons) < _MAX_REASONS:
                reasons.setdefault(target.by, len(reasons))
        # The only reason that has that many variants is "one of N definitions of this name".
        if len(reasons) == _MAX_REASONS:
            reasons[_ANY_REASON] = _MAX_REASONS
        by = bytes([reasons.get(target.by, _MAX_REASONS) for target in targets])
        return pack(Links(
            pack_column([target.use for target in targets]), pack_column([target.target for target in targets]),
            bytes([target.trust for target in targets]), by, tuple(reasons), self.world.targets(file),
        ))  # fmt: skip

    def _collect_uses(
        self, file: LoadedFlow, targets: list[NameTarget]
    ) -> tuple[tuple[bytes, ...], dict[str, tuple[int, int]]]:
        """Collect which symbol of a file uses which target, as columns: target, user, roles, trust, number of uses.

        Also counts the names without a target: in calls, and in total.
        """
        uses, missed = self._uses_by_name(file, targets)
        self._add_imported_files(file, uses)
        uses.pop(file.file_id << _ID_BITS | file.file_id, None)
        pairs = ([key >> _ID_BITS for key in uses], [key & _ID_MASK for key in uses])
        columns = (*pairs, *map(list, zip(*uses.values(), strict=True))) if uses else ()
        return tuple(map(pack_column, columns)), missed

    def _uses_by_name(self, file: LoadedFlow, targets: list[NameTarget]) -> tuple[_Uses, dict[str, tuple[int, int]]]:
        """Return what a file's names use, and the names without a target with the number of their calls and uses.

        Each pair is listed once, with its roles, the best trust and the number of uses; candidates do not count where
        there is something better, and neither do packages that an import only passes through (`a` in `from a.b import
        c`).
        """
        targets_of_use: dict[int, list[NameTarget]] = {}
        for target in targets:
            targets_of_use.setdefault(target.use, []).append(target)
        uses: _Uses = {}
        missed: dict[str, tuple[int, int]] = {}
        flow = file.flow
        id_of, is_c = file.id, file.language in C_FAMILY
        rows = zip(*map(unpack_column, (flow.user, flow.used, flow.roles, flow.times)), strict=True)
        for user, used, stated, times in rows:
            if stated == _DECLARE or (stated == _IMPORT and _is_passed_through(file, used)):
                continue
            if used not in targets_of_use:
                name = file.free_name(used)
                if name:
                    calls, total = missed.get(name, (0, 0))
                    missed[name] = (calls + times if stated & _CALL else calls, total + times)
                continue
            user_id = id_of(user - 1)
            for _, identity, trust, _ in targets_of_use[used]:
                roles = stated & ~_DECLARE
                if stated & _WRITE and is_c and self._is_type(identity):
                    roles = roles & ~_WRITE | _CALL  # a base in a constructor's initialiser list is constructed
                key = identity << _ID_BITS | user_id
                before = uses.get(key)
                if before is None or (trust and not before[1]):
                    uses[key] = (roles, int(trust), times)
                elif trust or not before[1]:
                    uses[key] = (before[0] | roles, max(before[1], int(trust)), before[2] + times)
        return uses, missed

    def _add_imported_files(self, file: LoadedFlow, uses: _Uses) -> None:
        """Add the files that a file's imports lead to, as used by the file as a whole."""
        imports_folders = language_of(file.language).imports_folders
        used_files = {self.world.file_number(key >> _ID_BITS) for key in uses} if imports_folders else set()
        for target in self.world.targets(file):
            if imports_folders:
                path = self._package_file(target.paths, used_files)
            else:
                path = target.paths[0] if target.paths else ""
            number = self.world.number.get(path)
            if number is not None:
                key = self.world.files[number].id << _ID_BITS | file.file_id
                roles, trust, times = uses.get(key, (0, 0, 0))
                uses[key] = (roles | _IMPORT, max(trust, int(Trust.VIA_IMPORT)), times)

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

    def _extends(self, file: LoadedFlow, linker: LanguageLinker) -> Iterator[tuple[int, int]]:
        """Yield the classes of a file with each of their bases."""
        for symbol in range(len(file.symbol_kind)):
            if file.kind(symbol) in TYPE_KINDS:
                for base in dict.fromkeys(linker.bases(file, symbol)):
                    yield file.id(symbol), base


def _is_passed_through(file: LoadedFlow, use: int) -> bool:
    """True if an expression is a package on the way to the module that an import names."""
    if file.op[use] != Op.PACKAGE:
        return False
    module = file.flow.imports[file.left[use]].module.lstrip(".")
    return file.right[use] <= module.count(".")
