"""The open workspace: its catalogue, and the stores of its repositories, opened when they are needed.

In: the folder of a workspace. Out: the index of any of its repositories. Of the repositories that were opened, only the
last `MOST_OPEN` stay open, however many the workspace has; so a repository is asked for by its name each time. A
repository that cannot be opened is left out of answers, which say so.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, Self

from concordance.base.config import Book, Roots
from concordance.base.errors import ConcordanceError, StoreBroken, UserError
from concordance.base.model import Import, Target
from concordance.facts.catalogue import Catalogue, ModuleHead, ProvidedPackage, Requirement
from concordance.facts.read import Facts
from concordance.link.languages import import_linkers
from concordance.link.paths.tree import Tree
from concordance.query.index.repository import Index
from concordance.query.workspace.workspace_file import read_repositories

MOST_OPEN = 32


class RepositorySettings(NamedTuple):
    """What opening a repository needs to know, besides its folder."""

    store: str
    roots: Roots
    book: Book


class OpenRepository:
    """One repository of a workspace, open for reading."""

    def __init__(self, name: str, folder: str, settings: RepositorySettings) -> None:
        self.name, self.folder, self._roots = name, folder, settings.roots
        self.index = Index(Facts(settings.store), folder, settings.book)
        self._resolvers: dict[str, Callable[[str, Import], Target | list[Target]]] = {}

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self.folder, self.index.facts.files(), self._roots)

    def module_files(self, family: str, module: str) -> tuple[str, ...]:
        """Return the files of a module as its own repository resolves it, best first; empty if it has no such module.

        The import is resolved as if it were written at the root of the repository, by the linker of its language.
        """
        if family not in self._resolvers:
            linkers = {linker.__name__.rpartition(".")[2]: linker for linker in import_linkers().values()}
            self._resolvers[family] = linkers[family].imports(self._tree)
        files = self._resolvers[family]("", Import(1, 1, module, form="system"))
        targets = files if isinstance(files, list) else [files]
        return tuple(path for target in targets for path in target.paths if target.origin == "repository")

    def close(self) -> None:
        """Close the store."""
        self.index.facts.close()


class OpenWorkspace:
    """A workspace that is open for reading."""

    def __init__(self, folder: str, settings_of: Callable[[str], RepositorySettings]) -> None:
        """`settings_of` returns what opening the repository in a folder needs."""
        self.folder, self.most_open = folder, MOST_OPEN
        self.repositories = read_repositories(folder)
        self.catalogue = Catalogue(folder)
        self.unavailable: dict[str, str] = {}  # repositories that could not be opened, and why
        self._settings_of = settings_of
        self._open: OrderedDict[str, OpenRepository] = OrderedDict()
        self._requirements: dict[str, dict[tuple[str, str], Requirement]] = {}
        self._packages: dict[str, list[ProvidedPackage]] = {}
        self._heads: dict[str, list[ModuleHead]] = {}

    def open(self, name: str) -> OpenRepository:
        """Return a repository; raise a UserError if the workspace has none of that name."""
        repository = self._open.pop(name, None)
        if repository is None:
            folder = self.repositories.get(name)
            if folder is None:
                known = ", ".join([*self.repositories][:5]) + (" …" if len(self.repositories) > 5 else "")
                raise UserError(f"the workspace has no repository {name}", f"Its repositories: {known or 'none'}")
            if not os.path.isdir(folder):
                advice = f"Restore it, or: concord workspace remove {name}"
                raise UserError(f"the repository {name} is missing: {folder} is not a folder", advice)
            try:
                repository = OpenRepository(name, folder, self._settings_of(folder))
            except StoreBroken as error:
                raise StoreBroken(error.message, f"Build it: concord workspace build {name}") from error
            while len(self._open) >= self.most_open:
                self._open.popitem(last=False)[1].close()
        self._open[name] = repository
        return repository

    def available(self, names: Iterable[str]) -> Iterator[OpenRepository]:
        """Yield those of some repositories that can be opened; the others are noted as unavailable."""
        for name in names:
            try:
                yield self.open(name)
            except ConcordanceError as error:
                self.unavailable[name] = error.message

    def index(self, name: str) -> Index:
        """Return the index of a repository."""
        return self.open(name).index

    # --- look-ups that questions repeat

    def packages(self, repository: str) -> list[ProvidedPackage]:
        """Return the packages that a repository provides."""
        if repository not in self._packages:
            self._packages[repository] = self.catalogue.packages(repository)
        return self._packages[repository]

    def heads(self, repository: str) -> list[ModuleHead]:
        """Return the beginnings of the names of a repository's modules."""
        if repository not in self._heads:
            self._heads[repository] = self.catalogue.heads(repository)
        return self._heads[repository]

    def required(self, user: str, provider: str) -> tuple[Requirement, ProvidedPackage] | None:
        """Return the requirement by which one repository asks for a package of another; None if it does not."""
        if user not in self._requirements:
            rows = self.catalogue.requirements(user)
            rows.sort(key=lambda row: (-row.path.count("/"), row.path))  # the outermost manifest wins
            self._requirements[user] = {(row.ecosystem, row.name): row for row in rows}
        for package in self.packages(provider):
            wanted = self._requirements[user].get((package.ecosystem, package.name))
            if wanted is not None:
                return wanted, package
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalogue and all stores."""
        while self._open:
            self._open.popitem()[1].close()
        self.catalogue.close()
