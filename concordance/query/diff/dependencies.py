"""Compares the dependencies of two revisions: imports between files and folders, and import cycles.

In: for each side its ledger, and the imports of the files that differ and of those whose imports may resolve to another
file now. Out: edges between files, and what differs in them. Imports are resolved as the linker does; `from a import b`
refers to the file of `b` if that is a module.

The files that differ are resolved on their own side. A file that is the same on both sides is resolved on both if one
of its imports names a file that was added, removed or moved, because it may resolve to another file now. For all
others, the store knows the dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from concordance.base.config import Roots
from concordance.base.errors import Unreadable
from concordance.base.model import File, Import, Origin, Scope, Target
from concordance.extract.registry import language_of
from concordance.link.implicit_runs import DEFERRING_SCOPES, UNLOADED_CONDITION
from concordance.link.languages import import_linkers, loading_languages
from concordance.link.paths.tree import Tree
from concordance.passes.cycles import strongly_connected_components
from concordance.query.diff.comparison import Comparison, ReadFile
from concordance.query.index.repository import Index

_MODULES = (".py", "/__init__.py", ".pyx", ".pyi", "/__init__.pyi")
_FOLDER_FILES = frozenset(("__init__", "index", "mod"))  # files that represent their folder
_SIGNS = (".", "/", ":")
_APART = re.compile(r"::|[./:]+")
Imports = Sequence[tuple[Import, bool]]  # each with whether it is deferred
Edge = tuple[str, str]


class DependencySite(NamedTuple):
    """Where a dependency is stated, and whether it is deferred: not needed when the file is loaded."""

    line: int
    waits: bool


class SideTree(Tree):
    """The files of one side; those that differ from the work tree are not read from disk."""

    def __init__(self, root: str, files: Iterable[File], roots: Roots, other: Callable[[str], str | None]) -> None:
        super().__init__(root, files, roots)
        self._other = other

    def text(self, path: str) -> str:
        """Return the content of a configuration file on this side."""
        content = self._other(path)
        return super().text(path) if content is None else content


class Resolver:
    """Resolves imports on one side."""

    def __init__(self, tree: SideTree) -> None:
        self.tree = tree
        self._modules = import_linkers()
        self._resolve: dict[str, Callable[[str, Import], Target]] = {}

    def needs(self, path: str, language: str, imports: Imports) -> dict[str, DependencySite]:
        """Return the files, and folders of packages, that the imports of a file resolve to."""
        if language not in self._modules or language_of(language).is_markup or not imports:
            return {}
        module = self._modules[language]
        if module.__name__ not in self._resolve:
            self._resolve[module.__name__] = module.imports(self.tree)
        resolve = self._resolve[module.__name__]
        sites: dict[str, DependencySite] = {}
        for imported, waits in imports:
            target = self._target(resolve, path, language, imported)
            if target and target != path and (target not in sites or sites[target].waits > waits):
                sites[target] = DependencySite(imported.line, waits)
        return sites

    def _target(self, resolve: Callable[[str, Import], Target], path: str, language: str, imported: Import) -> str:
        target = resolve(path, imported)
        if target.origin != Origin.REPOSITORY or not target.paths:
            return ""
        first = target.paths[0]
        if language_of(language).imports_folders and len(target.paths) > 1:
            return first.rpartition("/")[0] + "/"
        return self._module(first, imported.name) if language == "python" and imported.name not in ("", "*") else first

    def _module(self, package: str, name: str) -> str:
        """Return the file of a module in a package; the package's own file if the name is not a module."""
        folder, _, last = package.rpartition("/")
        if last.partition(".")[0] == "__init__":
            for ending in _MODULES:
                inner = f"{folder}/{name}{ending}" if folder else f"{name}{ending}"
                if inner in self.tree.paths:
                    return inner
        return package


class ImportNameFilter:
    """Decides by name whether an import may refer to one of the given files."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._around: dict[str, set[str]] = {}  # the parent folders of each file or package, by its name
        for path in paths:
            folders, name = path.split("/")[:-1], path.rpartition("/")[2]
            stem = name.partition(".")[0]
            if stem in _FOLDER_FILES and folders:
                stem = name = folders.pop()
            for word in (name, stem):
                self._around.setdefault(word, set()).add(folders[-1] if folders else "")

    def __bool__(self) -> bool:
        return bool(self._around)

    def by(self, imported: Import) -> bool:
        """True if an import may refer to one of the files."""
        around, module = self._around, imported.module
        if imported.name not in around and not any(module.rpartition(sign)[2] in around for sign in _SIGNS):
            return False
        parts = [part for part in _APART.split(imported.module) if part]
        names = [*parts, imported.name] if imported.name not in ("", "*") else parts
        ends = [names[:count] for count in (len(parts), len(names)) if count]
        last = imported.module.rpartition("/")[2]
        ends.append(
            [*_APART.split(imported.module.rpartition("/")[0])[-1:], last] if "/" in imported.module else [last]
        )
        return any(self._may_name(end) for end in ends)

    def _may_name(self, end: list[str]) -> bool:
        around = self._around.get(end[-1])
        return around is not None and (len(end) < 2 or end[-2] in around or end[-2] in ("", "..", "."))


def waits(imported: Import, scopes: tuple[Scope, ...]) -> bool:
    """True if an import is deferred: not executed when its file is loaded."""
    if imported.form == "type" or UNLOADED_CONDITION.match(imported.condition):
        return True
    scope = imported.scope
    while 0 < scope < len(scopes):
        if scopes[scope].kind in DEFERRING_SCOPES:
            return True
        scope = scopes[scope].parent
    return False


class DependencyGraph(NamedTuple):
    """Which file needs which on one side."""

    files: dict[str, dict[str, DependencySite]]  # of the files that were resolved
    loads: dict[str, list[str]]  # of all files: what they need when they are loaded


class DependencyChange(NamedTuple):
    """A dependency or a cycle that was gained or lost."""

    gained: bool
    members: tuple[str, ...]  # user and target, or the files of a cycle
    before: tuple[str, ...]  # the files of a cycle before
    line: int
    why: str


def load_dependencies(needs: Mapping[str, DependencySite], language: str, path: str) -> list[str]:
    """Return the files that a file needs when it is loaded, as the store counts them."""
    if language not in loading_languages() or path.endswith(".pyi"):
        return []
    return [target for target, need in needs.items() if not need.waits]


def changed_file_dependencies(
    before: DependencyGraph, after: DependencyGraph, renamed: Mapping[str, str]
) -> list[DependencyChange]:
    """Return changed dependencies between files; following a renamed file is not a change."""
    old = {
        (renamed.get(user, user), renamed.get(target, target)): (need, (user, target))
        for user, needs in before.files.items() for target, need in needs.items()
    }  # fmt: skip
    new = {(user, target): need for user, needs in after.files.items() for target, need in needs.items()}
    come = sorted(new.keys() - old.keys())
    changes = [DependencyChange(True, edge, (), new[edge].line, _deferred_note(new[edge])) for edge in come]
    for edge in sorted(old.keys() - new.keys()):
        need, names = old[edge]
        changes.append(DependencyChange(False, names, (), need.line, _deferred_note(need)))
    return changes


def _deferred_note(site: DependencySite) -> str:
    return "not needed at load time" if site.waits else ""


def changed_folder_dependencies(
    before: DependencyGraph, after: DependencyGraph, renamed: Mapping[str, str]
) -> list[DependencyChange]:
    """Return changed dependencies between folders, by what files need when they are loaded, with an example."""
    old, new = _folders(before, renamed), _folders(after, {})
    changes = []
    for gained, here, there in ((True, new, old), (False, old, new)):
        for edge in sorted(here.keys() - there.keys()):
            pairs = here[edge]
            more = f" and {len(pairs) - 1:,} more" if len(pairs) > 1 else ""
            changes.append(DependencyChange(gained, edge, (), 0, f"{pairs[0][0]} → {pairs[0][1]}{more}"))
    return changes


def _folders(web: DependencyGraph, renamed: Mapping[str, str]) -> dict[Edge, list[Edge]]:
    edges: dict[Edge, list[Edge]] = {}
    for user, targets in web.loads.items():
        folder = renamed.get(user, user).rpartition("/")[0]
        for target in targets:
            there = renamed.get(target, target).rpartition("/")[0]
            if there != folder:
                edges.setdefault((folder, there), []).append((user, target))
    return edges


def changed_cycles(
    before: DependencyGraph, after: DependencyGraph, renamed: Mapping[str, str]
) -> list[DependencyChange]:
    """Return cycles that appeared, grew, shrank or disappeared."""
    old = [tuple(sorted(renamed.get(path, path) for path in ring)) for ring in _find_cycles(before)]
    new = _find_cycles(after)
    same = set(old) & set(new)
    left = [ring for ring in old if ring not in same]
    changes = []
    for ring in new:
        if ring in same:
            continue
        parents = [one for one in left if len(set(one) & set(ring)) > 1]
        joined = sorted(set(ring) - {path for parent in parents for path in parent})
        if not parents:
            changes.append(DependencyChange(True, ring, (), 0, f"{len(ring):,} files now depend on one another"))
        elif joined or len(parents) > 1:
            was = tuple(sorted({path for parent in parents for path in parent}))
            reason = f"joined by {_first_few(joined)}" if joined else f"{len(parents)} cycles merged"
            changes.append(DependencyChange(True, ring, was, 0, reason))
    for ring in left:
        rest = {path for one in new for path in one}
        freed = [path for path in ring if path not in rest]
        heirs = [one for one in new if len(set(one) & set(ring)) > 1]
        if not heirs:
            changes.append(DependencyChange(False, (), ring, 0, f"{len(ring):,} files no longer depend on one another"))
        elif freed or len(heirs) > 1:
            reason = f"left by {_first_few(freed)}" if freed else f"split into {len(heirs)} cycles"
            changes.append(
                DependencyChange(False, tuple(sorted({path for heir in heirs for path in heir})), ring, 0, reason)
            )
    return changes


def _first_few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3:,} more" if len(paths) > 3 else "")


def _find_cycles(web: DependencyGraph) -> list[tuple[str, ...]]:
    names = sorted(web.loads.keys() | {target for targets in web.loads.values() for target in targets})
    number = {path: place for place, path in enumerate(names)}
    edges = [(number[user], number[target]) for user, targets in web.loads.items() for target in targets]
    rings = [
        tuple(names[one] for one in ring) for ring in strongly_connected_components(len(names), edges) if len(ring) > 1
    ]
    return sorted(rings)


class DependencySides:
    """Builds the dependency graphs of both sides, as far as they can differ."""

    def __init__(self, index: Index, comparison: Comparison) -> None:
        self._index, self._comparison = index, comparison
        self._named = ImportNameFilter(
            path for pair in comparison.pairs for path in _paths_if_moved(pair.before, pair.after)
        )
        self._unsure = {
            path
            for path, read in comparison.differing_from_store.items()
            if any(self._named.by(imported) for imported, _ in read.imports)
        }

    def webs(self) -> tuple[DependencyGraph, DependencyGraph]:
        """Return the graphs before and after."""
        resolvers = [self._resolver(side, self._ledger(side)) for side in (0, 1)]
        before, after = self._webs(resolvers, self._doubtful())
        return before, after

    def _files_of_side(self, side: int) -> dict[str, ReadFile]:
        pairs = self._comparison.pairs
        files = {read.file.path: read for pair in pairs if (read := pair.after if side else pair.before) is not None}
        return {**self._comparison.differing_from_store, **files}

    def _ledger(self, side: int) -> dict[str, File]:
        files = self._index.files
        ledger = {path: files[path] for path in self._comparison.settled}
        ledger.update((path, read.file) for path, read in self._files_of_side(side).items())
        return ledger

    def _resolver(self, side: int, ledger: dict[str, File]) -> Resolver:
        compared = self._comparison
        entries = compared.sides[side].entries

        def other(path: str) -> str | None:
            """Return the text of a file that differs from the one on disk; None for files that do not."""
            if path in compared.settled:
                return None
            file, entry = ledger.get(path), entries.get(path)
            if file is None or entry is None or file.skip:
                return ""
            try:
                return compared.data(side, entry).decode(file.encoding or "utf-8", "replace").removeprefix("\ufeff")
            except (Unreadable, LookupError):
                return ""

        return Resolver(SideTree(self._index.root, ledger.values(), compared.roots, other))

    def _webs(self, resolvers: Sequence[Resolver], doubtful: dict[str, Imports]) -> list[DependencyGraph]:
        """Return the graphs of both sides.

        For a file that is the same on both, only the doubtful imports were resolved: their targets replace what the
        store says.
        """
        stored = self._index.loads.needs
        beside, settled = self._comparison.differing_from_store, self._comparison.settled
        mine = [
            {path: resolver.needs(path, resolver.tree.language(path), imports) for path, imports in doubtful.items()}
            for resolver in resolvers
        ]
        webs = []
        for side, resolver in enumerate(resolvers):
            there = resolver.tree.files
            files = dict(mine[side])
            loads = {
                path: [target for target in targets if target in there]
                for path, targets in stored.items()
                if path in settled
            }
            for path in doubtful:
                either = mine[0][path].keys() | mine[1][path].keys()
                kept = [load for load in loads.get(path, ()) if load not in either]
                loads[path] = kept + load_dependencies(mine[side][path], resolver.tree.language(path), path)
            for path, read in self._files_of_side(side).items():
                needs = resolver.needs(path, read.file.language, read.imports)
                loads[path] = load_dependencies(needs, read.file.language, path)
                if path not in beside or path in self._unsure:
                    files[path] = needs
            webs.append(DependencyGraph(files, loads))
        return webs

    def _doubtful(self) -> dict[str, Imports]:
        """Return the imports that may resolve elsewhere now, of files that are equal on both sides and in the store."""
        doubtful: dict[str, Imports] = {}
        for path in sorted(self._comparison.settled) if self._named else ():
            file = self._index.files[path]
            if file.language not in loading_languages() or file.skip:
                continue
            named = self._index.facts.names_in(path)
            imports = msgspec.msgpack.decode(named.imports, type=tuple[Import, ...]) if named.imports else ()
            affected = [imported for imported in imports if self._named.by(imported)]
            if affected:
                doubtful[path] = tuple((imported, waits(imported, named.scopes)) for imported in affected)
        return doubtful


def _paths_if_moved(before: ReadFile | None, after: ReadFile | None) -> list[str]:
    """Return the paths at which a file was added or removed, if its path changed."""
    if before is not None and after is not None and before.file.path == after.file.path:
        return []
    return [read.file.path for read in (before, after) if read is not None]
