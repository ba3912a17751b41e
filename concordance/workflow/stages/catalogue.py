"""Brings the stores of a workspace up to date, and then its catalogue.

In: the folder of a workspace, and perhaps the names of the repositories to look at. Out: the catalogue, and what was
done for each repository. The entry of a repository is derived again only if its store has changed since; `built.json`
beside the catalogue records the state of each store. A repository that is missing or fails is reported, its entry in
the catalogue stays as it was, and the others are built.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.errors import ConcordanceError, NoPermission, StoreBroken, UserError
from concordance.base.progress import Progress, ignore_progress
from concordance.facts import catalogue
from concordance.facts.catalogue import CatalogueEntry, is_intact, update_catalogue
from concordance.facts.integrity import lock
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.workspace import workspace_file
from concordance.query.workspace.entries import describe_repository
from concordance.query.workspace.repositories import RepositorySettings
from concordance.workflow import book_options, store_update
from concordance.workflow.checks import freshness
from concordance.workflow.store_location import VARIABLE, store_path
from concordance.workflow.workers.ray_executor import RayExecutor, opened_cluster

_STATES = "built.json"
_MAX_ROWS = 500_000  # rows of entries that are collected before they are written
State = list[str]  # a repository's folder, and the state of its store


class WorkspaceBuild(NamedTuple):
    """What a build of a workspace did."""

    updated: list[str]  # repositories whose entries were derived
    unchanged: list[str]
    failed: dict[str, str]  # why, by repository
    removed: list[str]  # repositories that the workspace no longer has


def repository_settings(root: str) -> RepositorySettings:
    """Return what opening a repository needs, from its own settings."""
    settings = book_options.read_settings(root)
    return RepositorySettings(store_path(root), settings.config.roots, settings.book)


def build(workspace: str, names: Collection[str] = (), progress: Progress = ignore_progress) -> WorkspaceBuild:
    """Update the stores of some repositories (default: all), and the catalogue."""
    repositories = workspace_file.read_repositories(workspace)
    unknown = [name for name in names if name not in repositories]
    if unknown:
        raise UserError(f"the workspace has no repository {unknown[0]}", "List them with: concord workspace status")
    if os.environ.get(VARIABLE):
        raise UserError(f"{VARIABLE} is set, but each repository of a workspace has its own store", f"Unset {VARIABLE}")
    folder = os.path.join(workspace, catalogue.FOLDER)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise NoPermission(f"{folder} cannot be created: {error.strerror}", "Allow writing there") from error

    def report(text: str) -> None:
        progress("say", 0, 0, text)

    with lock.hold_lock(folder, report), opened_cluster(Config(), report) as cluster:
        return _Builder(workspace, repositories, progress, cluster).run(names or repositories)


class _Builder:
    def __init__(
        self, workspace: str, repositories: dict[str, str], progress: Progress, cluster: RayExecutor | None
    ) -> None:
        self.workspace, self.repositories, self.progress, self._cluster = workspace, repositories, progress, cluster
        self._path = os.path.join(workspace, catalogue.FOLDER, _STATES)
        self._states = _read_states(self._path)
        self._lost: Collection[str] = () if is_intact(workspace) else self._states.keys() & repositories.keys()
        if self._lost:
            progress("say", 0, 0, "the catalogue is damaged or missing; all of it is derived from the stores again")
        self._entries: dict[str, CatalogueEntry] = {}
        self._new: dict[str, State] = {}

    def run(self, names: Collection[str]) -> WorkspaceBuild:
        done = WorkspaceBuild([], [], {}, sorted(self._states.keys() - self.repositories.keys()))
        asked = sorted({*names, *self._lost})
        self._states = {} if self._lost else self._states
        for number, name in enumerate(asked):
            self.progress("workspace", number, len(asked), name)
            try:
                (done.updated if self._update(name) else done.unchanged).append(name)
            except ConcordanceError as error:
                done.failed[name] = str(error)
            if sum(len(rows) for entry in self._entries.values() for rows in entry) > _MAX_ROWS:
                self._write()
        self.progress("workspace", len(asked), len(asked), "")
        if self._entries or done.removed or not is_intact(self.workspace):
            self._write()
        return done

    def _update(self, name: str) -> bool:
        """Update the store of a repository; True if its entry had to be derived."""
        root = self.repositories[name]
        if not os.path.isdir(root):
            known = "its last entry in the catalogue is kept" if name in self._states else "nothing is known of it"
            raise UserError(f"{root} is not a folder: {known}", f"Restore it, or: concord workspace remove {name}")
        if not _is_current(root):
            store_update.build(root, cluster=self._cluster)
        settings = repository_settings(root)
        with Facts(settings.store) as facts:
            meta = facts.meta()
            state = [root, meta.get("born", ""), meta.get("update", ""), catalogue.VERSION]
            if self._states.get(name) == state:
                return False
            self._entries[name] = describe_repository(Index(facts, root, settings.book), settings.roots)
        self._new[name] = state
        return True

    def _write(self) -> None:
        """Write the entries that were derived, and drop those of repositories that are gone."""
        others = [name for name in self._states if name in self.repositories and name not in self._entries]
        update_catalogue(self.workspace, self._entries, others)
        self._states = {**{name: self._states[name] for name in others}, **self._new}
        self._entries, self._new = {}, {}
        aside = f"{self._path}.new"
        with open(aside, "w", encoding="utf-8") as file:
            json.dump(self._states, file, indent=0, sort_keys=True)
        os.replace(aside, self._path)


def _is_current(root: str) -> bool:
    """True if the status of all files shows that nothing has changed since the last build of a repository."""
    folder = store_path(root)
    try:
        with Facts(folder) as facts:
            return freshness.is_current(os.path.realpath(root), folder, facts.meta().get("started", ""))
    except StoreBroken:
        return False


def _read_states(path: str) -> dict[str, State]:
    """Return the state of each store that the catalogue was derived from; empty if that is not known."""
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        states = json.load(file)
        if isinstance(states, dict) and all(isinstance(state, list) for state in states.values()):
            return states
    return {}
