"""A reader process of a workspace's server: renders pages of any repository, and answers over all of them.

In: requests, as for the reader of one repository (`reader.py`). The first part of an address names the repository; the
rest is an address on its site. Out: answers. At most `MOST_SITES` sites are open, each with one store, however many
repositories the workspace has; the one that was used longest ago is closed. When the catalogue changes, all are opened
again as they are needed.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from http import HTTPStatus

from concordance.base.config import site_book
from concordance.base.errors import ConcordanceError, StoreBroken
from concordance.facts import catalogue
from concordance.facts.integrity.checksums import SUMS
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.workspace import workspace_file
from concordance.query.workspace.commands import WorkspaceQuestions
from concordance.query.workspace.repositories import OpenWorkspace, RepositorySettings
from concordance.query.workspace.versions import satisfies
from concordance.render.site import workspace_pages
from concordance.render.site.files import Site, open_site
from concordance.render.site.page_frame import SEARCH
from concordance.render.site.workspace_pages import Dependency, RepositorySummary, SearchMatch
from concordance.serve.http_api import answer_request, answer_workspace, unavailable, without_local_paths
from concordance.serve.messages import Question, ReaderReply
from concordance.serve.reader import QuestionReader, compress_reply

MOST_SITES = 16
_HTML = "text/html; charset=utf-8"
_MATCHES = 30  # shown on a page of results


class WorkspaceReader(QuestionReader):
    """One workspace, open for reading."""

    def __init__(self, folder: str, settings_of: Callable[[str], RepositorySettings]) -> None:
        self.folder, self._settings_of = folder, settings_of
        self._workspace: OpenWorkspace | None = None
        self._sites: OrderedDict[str, Site] = OrderedDict()

    def _answer(self, question: Question) -> ReaderReply:
        address = os.fsdecode(question.what)
        if question.kind == "renew":
            return self._renew()
        if question.kind == "warm":
            return ReaderReply(0)
        if self._workspace is None:
            return ReaderReply(HTTPStatus.SERVICE_UNAVAILABLE)
        name, _, rest = address.partition("/")
        try:
            return self._answer_about(self._workspace, question, address, name, rest)
        except ConcordanceError as error:
            site = self._sites.pop(name, None)
            if site is not None:
                site.index.facts.close()
            problem, advice = self._problem(name if rest else "", error)
            if question.kind == "ask":
                return unavailable(problem, advice)._replace(fault=f"{problem}. {advice}")
            status = HTTPStatus.SERVICE_UNAVAILABLE
            return ReaderReply(status, why=f"{problem}. {advice}", fault=f"{problem}. {advice}")

    def _problem(self, name: str, error: ConcordanceError) -> tuple[str, str]:
        """Return why a repository cannot be read, without its place on this machine, and what to do."""
        root = self._workspace.repositories.get(name, "") if self._workspace is not None else ""
        if root and not os.path.isdir(root):
            return f"The folder of {name} is missing", f"Restore it, or: concord workspace remove {name}"
        what = f"The store of {name}" if root else "The store of a repository"
        if isinstance(error, StoreBroken):
            return f"{what} is missing or damaged", f"Build it: concord workspace build {name}".rstrip()
        return without_local_paths(error.message, root or self.folder), error.what_to_do

    def _answer_about(
        self, workspace: OpenWorkspace, question: Question, address: str, name: str, rest: str
    ) -> ReaderReply:
        if question.kind == "ask":
            if not rest:
                return compress_reply(answer_workspace(WorkspaceQuestions(workspace), name, question.more))
            site = self._site(name)
            return compress_reply(answer_request(site, rest, question.more, {})) if site is not None else _MISSING
        if not rest and address in workspace.repositories:
            return ReaderReply(HTTPStatus.PERMANENT_REDIRECT)
        if not rest:
            return self._page(workspace, address, question.more)
        site = self._site(name)
        page = site.answer(rest) if site is not None else None
        return compress_reply(ReaderReply(HTTPStatus.OK, page.type, page.data)) if page is not None else _MISSING

    def _renew(self) -> ReaderReply:
        """Open the current catalogue; the stores are opened when they are needed."""
        version = version_of(self.folder)
        if version == self.version and self._workspace is not None:
            return ReaderReply(HTTPStatus.OK)
        opened = OpenWorkspace(self.folder, self._settings_of)
        if self._workspace is not None:
            self._workspace.close()
            self._close_sites()
        self._workspace, self.version = opened, version
        return ReaderReply(HTTPStatus.OK)

    def _close_sites(self) -> None:
        while self._sites:
            self._sites.popitem()[1].index.facts.close()

    def _site(self, name: str) -> Site | None:
        """Return the site of a repository; None if the workspace has no such repository."""
        if self._workspace is None or name not in self._workspace.repositories:
            return None
        root = self._workspace.repositories[name]
        if not os.path.isdir(root):
            raise StoreBroken(f"{root} is not a folder")
        site = self._sites.pop(name, None)
        if site is None:
            while len(self._sites) >= MOST_SITES:
                self._sites.popitem(last=False)[1].index.facts.close()
            settings = self._settings_of(root)
            index = Index(Facts(settings.store), root, site_book(settings.book))
            site = open_site(index, os.path.join(settings.store, "book"), api=True, in_workspace=True)
        self._sites[name] = site
        return site

    # --- pages about all repositories

    def _page(self, workspace: OpenWorkspace, address: str, more: Mapping[str, str]) -> ReaderReply:
        title = os.path.basename(self.folder) or "Workspace"
        if address == workspace_pages.FRONT:
            text = workspace_pages.front_page(title, _summaries(workspace), dependencies_of(workspace))
        elif address == workspace_pages.MAP:
            text = workspace_pages.map_page(title, dependencies_of(workspace))
        elif address == SEARCH:
            text = self._results(workspace, title, more.get("q", ""))
        else:
            return _MISSING
        return compress_reply(ReaderReply(HTTPStatus.OK, _HTML, text.encode("utf-8", "backslashreplace")))

    def _results(self, workspace: OpenWorkspace, title: str, query: str) -> str:
        if not query.strip():
            return workspace_pages.search_results_page(title, query, [], "Type a name, or parts of one.")
        answer = WorkspaceQuestions(workspace).ask("search", query, number=_MATCHES)
        matches = []
        for row in answer.rows:
            name, path, line = str(row["repository"]), str(row["path"]), int(str(row["line"]))
            try:
                site = self._site(name)
            except StoreBroken:
                site = None
            if site is not None and path in site.index.categories:
                address = f"{name}/{site.addresses.source('', path, line)}"
                matches.append(SearchMatch(name, str(row["called"]), str(row["kind"]), f"{path}:{line}", address))
        return workspace_pages.search_results_page(title, query, matches, answer.note)


_MISSING = ReaderReply(HTTPStatus.NOT_FOUND)


def version_of(folder: str) -> str:
    """Return a digest of the catalogue and of the list of repositories."""
    parts = []
    for path in (catalogue.path_of(folder) + SUMS, os.path.join(folder, workspace_file.FILE)):
        with open(path, "rb") as file:
            parts.append(file.read())
    return hashlib.blake2b(b"\0".join(parts), digest_size=12).hexdigest()


def dependencies_of(workspace: OpenWorkspace) -> list[Dependency]:
    """Return which repository needs which, by their manifests."""
    dependencies: dict[tuple[str, str], Dependency] = {}
    for user, provider, wanted, package in workspace.catalogue.dependencies():
        had = dependencies.get((user, provider), Dependency(user, provider, ()))
        is_satisfied = satisfies(wanted.ecosystem, package.version, wanted.wanted)
        wrong = f"{wanted.name} {wanted.wanted}; {package.version}" if is_satisfied is False else ""
        packages = tuple(dict.fromkeys((*had.packages, wanted.name)))
        dependencies[user, provider] = had._replace(packages=packages, mismatch=had.mismatch or wrong)
    return list(dependencies.values())


def _summaries(workspace: OpenWorkspace) -> list[RepositorySummary]:
    counts = workspace.catalogue.counts()["name"]
    summaries = []
    for name, place in workspace.repositories.items():
        packages = {f"{package.name} {package.version}".strip() for package in workspace.packages(name)}
        versioned = {package for package in packages if " " in package}
        bare = {package for package in packages if not any(other.startswith(f"{package} ") for other in versioned)}
        problem = "" if os.path.isdir(place) else "its folder is missing"
        summaries.append(RepositorySummary(name, tuple(sorted(versioned | bare)), counts.get(name, 0), problem))
    return summaries
