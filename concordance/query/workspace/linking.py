"""Follows imports from one repository of a workspace into another, and back.

In: an import, or a name that is reached through one, as a repository writes it. Out: `RemoteTarget`s, best first: a
symbol or file of another repository. The catalogue says which repositories have modules of such a name; the store of
each decides what the name refers to there, by its own rules for imports and re-exports. A repository that the importing
one requires (its manifest names one of the other's packages) comes before all others.

Trust: `via_import` if the importing repository requires the package, `unique_name` if it does not, but no other
repository of the workspace has such a module, `candidate` if several have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.base.model import TYPE_KINDS, Import, Op, Role, Trust, role_bit, unpack_column
from concordance.facts.catalogue import ExternalUse
from concordance.facts.read import SymbolPlace
from concordance.query.answers import split_key
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.at_position import ImportOrigins
from concordance.query.names.display_names import public_name
from concordance.query.names.import_trail import TrailFinder
from concordance.query.workspace.entries import is_external
from concordance.query.workspace.module_heads import family_of, head_of
from concordance.query.workspace.repositories import OpenWorkspace
from concordance.query.workspace.versions import satisfies

_MAX_HOPS = 12  # re-exports that are followed
_CALL = role_bit(Role.CALL)
RemoteHop = tuple[str, str, int]  # repository, path, line


class RemoteTarget(NamedTuple):
    """What a name refers to in another repository."""

    repository: str
    place: SymbolPlace  # a file's if only the module was found
    trust: Trust
    by: str
    via: tuple[RemoteHop, ...] = ()
    whole: bool = True  # False if the module was found, but not the name in it


class RemoteUse(NamedTuple):
    """A file of another repository that uses a symbol, and the names by which it does."""

    repository: str
    path: str
    names: frozenset[tuple[str, str]]  # module and name, as written
    trust: Trust
    by: str
    calls: bool


class WorkspaceLinks:
    """The links between the repositories of a workspace; what was found is cached as long as the workspace is open."""

    def __init__(self, workspace: OpenWorkspace) -> None:
        self.workspace = workspace
        self._targets: dict[tuple[str, str, str, str], tuple[RemoteTarget, ...]] = {}

    # --- from a use to its definition

    def targets(self, user: str, family: str, module: str, name: str, depth: int = 0) -> tuple[RemoteTarget, ...]:
        """Return what a name of a module refers to, as seen from a repository."""
        if depth >= _MAX_HOPS:
            return ()
        key = (user, family, module, name)
        targets = self._targets.get(key)
        if targets is None:
            targets = self._targets[key] = tuple(self._find_targets(*key, depth))
        return targets

    def _find_targets(self, user: str, family: str, module: str, name: str, depth: int) -> list[RemoteTarget]:
        providers = self.workspace.catalogue.providers(family, head_of(family, module))
        providers = [provider for provider in providers if provider != user]
        required = [one for one in providers if self.workspace.required(user, one)]
        if family == "c" and "/" not in module and not required:
            return []  # any repository may have a `config.h`
        targets = self._in_providers(required, family, module, name, depth)
        if not targets:  # a namespace package: parts of it may come from repositories that are required indirectly
            required, targets = [], self._in_providers(providers, family, module, name, depth)
        if any(target.whole for target in targets):
            targets = [target for target in targets if target.whole]
        repositories = {target.repository for target in targets}
        if not required and len(repositories) > 1:
            by = f"one of {len(repositories)} repositories with a module {module}"
            return [target._replace(trust=Trust.CANDIDATE, by=by) for target in targets]
        return [self._with_trust(user, target) for target in targets]

    def _in_providers(
        self, repositories: list[str], family: str, module: str, name: str, depth: int
    ) -> list[RemoteTarget]:
        opened = self.workspace.available(repositories)
        return [
            target
            for repository in opened
            for target in self._in_provider(repository.name, family, module, name, depth)
        ]

    def _with_trust(self, user: str, target: RemoteTarget) -> RemoteTarget:
        """Return a target with the trust and the reason that follow from the manifests."""
        needed = self.workspace.required(user, target.repository)
        if needed is None:
            by = f"only repository with such a module; {user} names no package of it"
            return target._replace(trust=min(target.trust, Trust.UNIQUE_NAME), by=by)
        wanted, package = needed
        if satisfies(wanted.ecosystem, package.version, wanted.wanted) is False:
            by = f"{user} wants {wanted.name} {wanted.wanted} ({wanted.path}:{wanted.line}), here is {package.version}"
        else:
            by = f"package {' '.join(filter(None, (package.name, package.version)))}"
        return target._replace(by=by)

    def _in_provider(self, repository: str, family: str, module: str, name: str, depth: int) -> Iterator[RemoteTarget]:
        """Yield what a name of a module refers to in the repository that has the module."""
        opened = self.workspace.open(repository)
        parts = name.split(".") if name else []
        if family == "python":
            whole = [*module.split("."), *parts]
            ends = range(len(whole), 0, -1)
            rows = ((opened.module_files(family, ".".join(whole[:end])), whole[end:]) for end in ends)
            files, rest = next((row for row in rows if row[0]), ((), parts))
        else:
            files, rest = opened.module_files(family, module), parts
        if not files:
            return
        if rest:
            targets = [target for path in files for target in self._exported(repository, family, path, rest, depth)]
            if targets:
                yield targets[0]
                return
        place = opened.index.facts.place(opened.index.facts.id(files[0]))
        if place is not None:
            is_whole = not rest or rest == ["default"]
            yield RemoteTarget(repository, place, Trust.VIA_IMPORT if is_whole else Trust.CANDIDATE, "", (), is_whole)

    def _exported(
        self, repository: str, family: str, path: str, names: list[str], depth: int
    ) -> Iterator[RemoteTarget]:
        """Yield what a file offers under a name, and the members of that; re-exports are followed anywhere."""
        index = self.workspace.index(repository)
        way = TrailFinder(index).of_name(path, names[0])
        place = index.facts.place(way.target) if way is not None else None
        via = tuple((repository, *hop) for hop in way.hops) if way is not None else ()
        if place is None and family != "python":
            place = _top_level(index, path, names[0])
        if place is not None:
            for name in names[1:]:
                inner = member(index, place, name) if place.place >= 0 else None
                if place.place < 0:
                    yield from self._exported(repository, family, place.path, names[names.index(name) :], depth + 1)
                    return
                if inner is None:
                    break
                place = inner
            yield RemoteTarget(repository, place, Trust.VIA_IMPORT, "", via)
            return
        if depth < _MAX_HOPS:
            yield from self._passed_on(repository, family, path, names, depth)

    def _passed_on(
        self, repository: str, family: str, path: str, names: list[str], depth: int
    ) -> Iterator[RemoteTarget]:
        """Yield what a file offers under a name that it imports itself."""
        file = self.workspace.index(repository).open_file(path)
        for number, expression_names in _bindings(file, names[0]):
            row, target = file.import_targets[number]
            hop = (repository, path, row.line)
            rest = [*expression_names, *names[1:]]
            if is_external(row.module, target):
                targets: Iterable[RemoteTarget] = self.targets(
                    repository, family, row.module, ".".join(rest), depth + 1
                )
            else:
                paths = target.paths if target is not None and rest else ()
                targets = (
                    remote for inner in paths for remote in self._exported(repository, family, inner, rest, depth + 1)
                )
            for remote in targets:
                yield remote._replace(via=(hop, *remote.via))

    def at_expression(self, repository: str, file: OpenFile, expression: int) -> tuple[RemoteTarget, ...]:
        """Return what an expression of a file refers to in other repositories."""
        reference = ImportOrigins(file).reference(expression)
        if reference is None:
            return ()
        row, target = file.import_targets[reference.number]
        if not is_external(row.module, target):
            return ()
        family = family_of(file.file.language)
        targets = self.targets(repository, family, reference.module, ".".join(reference.names))
        return tuple(remote._replace(via=((repository, file.path, row.line), *remote.via)) for remote in targets)

    def at_import(self, repository: str, file: OpenFile, row: Import) -> tuple[RemoteTarget, ...]:
        """Return what an import of a file refers to in other repositories."""
        targets = self.targets(
            repository, family_of(file.file.language), row.module, "" if row.name == "*" else row.name
        )
        return tuple(target._replace(via=((repository, file.path, row.line), *target.via)) for target in targets)

    # --- from a definition to its uses

    def uses(self, repository: str, places: Iterable[SymbolPlace]) -> list[RemoteUse]:
        """Return the files of other repositories that use some symbols or files of a repository."""
        uses: dict[tuple[str, str], list[tuple[ExternalUse, RemoteTarget]]] = {}
        index = self.workspace.index(repository)
        for place in places:
            family = family_of(place.language)
            for last in _last_parts(index, place):
                heads = [one.head for one in self.workspace.heads(repository) if one.family == family]
                for head in heads:
                    for user, use in self.workspace.catalogue.uses(family, head, last):
                        target = self._target_if_same(user, use, repository, place) if user != repository else None
                        if target is not None:
                            uses.setdefault((user, use.path), []).append((use, target))
        return [_remote_use(*key, rows) for key, rows in sorted(uses.items())]

    def _target_if_same(self, user: str, use: ExternalUse, repository: str, place: SymbolPlace) -> RemoteTarget | None:
        """Return the target of a use if it is a symbol of a repository."""
        if (
            place.place < 0
            and not use.name
            and head_of(use.family, use.module) != use.module
            and use.family == "python"
        ):
            stem = place.path.rpartition("/")[2].partition(".")[0]
            if stem != "__init__" and use.module.rpartition(".")[2] != stem:
                return None  # another module of the package, without asking
        for target in self.targets(user, use.family, use.module, use.name):
            if target.repository == repository and target.place.id == place.id and target.whole:
                return target
        return None


def _remote_use(repository: str, path: str, rows: list[tuple[ExternalUse, RemoteTarget]]) -> RemoteUse:
    best = max((target for _, target in rows), key=lambda target: target.trust)
    calls = any(use.roles & _CALL for use, _ in rows)
    return RemoteUse(repository, path, frozenset((use.module, use.name) for use, _ in rows), best.trust, best.by, calls)


def _last_parts(index: Index, place: SymbolPlace) -> set[str]:
    """Return the last parts of the names by which others may refer to a symbol or a file."""
    if place.place < 0:
        path = place.path.rpartition(".")[0]
        folder, _, stem = path.rpartition("/")
        return {"", stem, "default", folder.rpartition("/")[2]}
    return {place.name, public_name(index, place.path, place.key).rpartition(".")[2]} - {""}


def matching_expressions(file: OpenFile, names: frozenset[tuple[str, str]]) -> set[int]:
    """Return the expressions of a file that refer to one of some names of other repositories (module, name in it)."""
    origins = ImportOrigins(file)
    expressions = set()
    for used in set(unpack_column(file.flow.used)):
        reference = origins.reference(used)
        if reference is not None and (reference.module, ".".join(reference.names)) in names:
            expressions.add(used)
    return expressions


def users_in(index: Index, use: RemoteUse) -> list[tuple[SymbolPlace, bool]]:
    """Return the symbols of a file that use one of some names, and whether each calls it.

    The file itself stands for what is at its top level, and for an import that nothing else shows.
    """
    file = index.open_file(use.path)
    wanted = matching_expressions(file, use.names)
    columns = (file.flow.user, file.flow.used, file.flow.roles)
    calls: dict[int, bool] = {}
    for user, used, roles in zip(*map(unpack_column, columns), strict=True):
        if used in wanted:
            identity = file.ids.id_at(user - 1)
            calls[identity] = calls.get(identity, False) or bool(roles & _CALL)
    calls = calls or {file.ids.file: False}
    places = index.facts.places(calls)
    return [(places[one], is_call) for one, is_call in calls.items() if one in places]


def member(index: Index, owner: SymbolPlace, name: str) -> SymbolPlace | None:
    """Return a member of a class, which may be inherited; None if there is none."""
    if owner.kind not in TYPE_KINDS:
        return None
    pending, seen = [owner], {owner.id}
    while pending:
        symbol = pending.pop(0)
        around = [*split_key(symbol.parent_key), symbol.name]
        for place in index.facts.symbols_in(symbol.path):
            if place.name == name and split_key(place.parent_key) == around:
                return place
        bases = index.facts.places(set(index.facts.bases_of(symbol.id)) - seen)
        seen.update(bases)
        pending += bases.values()
    return None


def _top_level(index: Index, path: str, name: str) -> SymbolPlace | None:
    """Return the symbol of a name at the top of a file, or in one of its namespaces."""
    inside = index.facts.symbols_in(path)
    if name == "default":
        symbols = index.open_file(path).symbols
        return next((place for place in inside if "default" in symbols[place.place].modifiers), None)
    named = [place for place in inside if place.name == name]
    return min(named, key=lambda place: (place.key.count("."), place.place), default=None)


def _bindings(file: OpenFile, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the imports that a name of a file stands for, each with the names behind the module."""
    flow = file.flow
    for number, (row, _) in enumerate(file.import_targets):
        if row.form == "export" and name == (row.alias or row.name):
            yield number, [row.name] if row.name else []
    if name not in flow.names:
        return
    word, origins = flow.names.index(name), ImportOrigins(file)
    columns = zip(unpack_column(flow.variable_scope), unpack_column(flow.variable_name), strict=True)
    variables = {number for number, row in enumerate(columns) if row == (0, word)}
    values = zip(unpack_column(flow.bound_variable), unpack_column(flow.bound_value), strict=True)
    for variable, value in values:
        reference = origins.reference(value) if variable in variables else None
        if reference is not None and flow.op[value] in (Op.IMPORT, Op.MEMBER, Op.NAME, Op.PACKAGE):
            yield reference.number, list(reference.names)
