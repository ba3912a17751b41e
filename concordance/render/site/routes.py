"""Resolves an address of the site to what it shows, without listing all addresses.

In: an address. Out: a kind of page, its subject and which part of it; None if there is no such page. The form of the
address gives the kind, and the rest is looked up among the known files and folders: an address is never used as a path
on disk. Only the pages about the whole repository, which are few, are found in a table of their addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.blocks import Ref, To
from concordance.query.index.repository import Index
from concordance.query.pages import PAGES, kinds, kinds_per_path
from concordance.render.addresses import anchor
from concordance.render.site.addresses import BLAME, CARDS, DEFINITIONS, IMAGES, SOURCE, TREE, SiteAddresses
from concordance.render.site.page_frame import SEARCH

SITE_PAGES = "concordance.query.site_pages"
DEFINITION, OF_SOURCE, OF_CARDS, OF_TREE, OF_SEARCH = "definition", "source", "cards", "tree", "search"
OF_BLAME = "blame"  # only on a server
OF_IMAGE = "image"
OF_SHARDS, OF_REST = "shards", "rest"  # only in files: what the search loads, and what belongs to no other route
_OF_FOLDER = {"index.html": "folder_index", "doc.html": "folder", "sub.html": "subtree", TREE: OF_TREE}
_OF_FILE = {"_docs.html": "file", "_kw.html": "keywords", SOURCE: OF_SOURCE, CARDS: OF_CARDS, BLAME: OF_BLAME}
_OF_FILE |= dict.fromkeys(IMAGES.values(), OF_IMAGE)
REPORT = "report"
_PART = re.compile(r"(.*)\.([2-9]|[1-9]\d{1,4})(\.html)", re.DOTALL)
_DEFINITION_ADDRESS = re.compile(rf"(.*){DEFINITIONS}/(def-[^/]*)\.html", re.DOTALL)


class Route(NamedTuple):
    """What an address shows."""

    kind: str
    subject: str
    part: int = 1


class PathRoutes:
    """Resolves the addresses of pages of files and folders."""

    def __init__(self, paths: Iterable[str], addresses: SiteAddresses) -> None:
        self._paths, self.addresses = paths, addresses

    @cached_property
    def _files(self) -> dict[str, str]:
        """Files of the repository by the beginning of their pages' names."""
        return {self.addresses.stem(path): path for path in self._paths}

    @cached_property
    def _folders(self) -> dict[str, str]:
        """Folders of the repository by the address of their pages."""
        ends = len("index.html")
        return {self.addresses.page(Ref(To.INDEX, folder))[:-ends]: folder for folder in self.addresses.folders}

    def find(self, address: str) -> Route | None:
        """Return what an address shows; None if there is no such page."""
        part = _PART.fullmatch(address)
        whole = self._find_unsplit(part[1] + part[3]) if part is not None else None
        if part is not None and whole is not None:
            return self._find_part(whole, part[2])
        return self._find_unsplit(address)

    def _find_part(self, whole: Route, number: str) -> Route | None:
        """Return one part of a page that is split."""
        return whole._replace(part=int(number))

    def _find_unsplit(self, address: str) -> Route | None:
        folder, slash, name = address.rpartition("/")
        kind = _OF_FOLDER.get(name)
        if kind is not None and folder + slash in self._folders:
            return Route(kind, self._folders[folder + slash])
        for end, of_file in _OF_FILE.items():
            if address.endswith(end) and address[: -len(end)] in self._files:
                return Route(of_file, self._files[address[: -len(end)]])
        return None


class SiteRoutes(PathRoutes):
    """Resolves the addresses of one site."""

    def __init__(self, index: Index, addresses: SiteAddresses) -> None:
        super().__init__((row[1] for row in index.file_rows), addresses)
        self.index = index

    @cached_property
    def _repository_pages(self) -> dict[str, Route]:
        """Pages about the whole repository by address."""
        pages = {}
        for kind in (kind for kind in kinds() if kind not in kinds_per_path()):  # few
            for subject in plugins.load(PAGES, kind).subjects(self.index) if kind != REPORT else ("",):
                pages[self.addresses.page(Ref(kinds()[kind], subject))] = Route(kind, subject)
        return pages

    @cached_property
    def _reports(self) -> frozenset[str]:
        """The parts of the report, as numbers."""
        return frozenset(plugins.load(PAGES, REPORT).subjects(self.index))

    @cached_property
    def _site_only_pages(self) -> dict[str, Route]:
        """Pages that only the site has, except those of definitions, by address."""
        pages = {}
        for kind in plugins.names(SITE_PAGES):
            for subject in plugins.load(SITE_PAGES, kind).subjects(self.index) if kind != DEFINITION else ():
                pages[self.addresses.page(Ref(kind, subject))] = Route(kind, subject)
        return pages

    def _find_part(self, whole: Route, number: str) -> Route | None:
        if whole.kind == REPORT:  # its parts are subjects of their own
            return Route(REPORT, number, int(number)) if number in self._reports else None
        return super()._find_part(whole, number)

    def _find_unsplit(self, address: str) -> Route | None:
        if address == SEARCH:
            return Route(OF_SEARCH, "")
        route = super()._find_unsplit(address) or self._definition(address) or self._site_only_pages.get(address)
        if route is None and (address.startswith(("keywords/", "book/")) or "/" not in address):
            route = self._repository_pages.get(address)
        return route

    def _definition(self, address: str) -> Route | None:
        """Return the page of a definition; its address contains the definition's anchor, not its key."""
        match = _DEFINITION_ADDRESS.fullmatch(address)
        path = self._files.get(match[1]) if match is not None else None
        if match is None or path is None or DEFINITION not in plugins.names(SITE_PAGES):
            return None
        for row in self.index.facts.symbols_of(path):
            if anchor(row[1]) == match[2]:
                return Route(DEFINITION, f"{path}#{row[1]}")
        return None

    def all_routes(self) -> Iterator[Route]:
        """Yield a route for everything on the site; split pages are yielded once."""
        for kind in plugins.names(PAGES):
            for subject in plugins.load(PAGES, kind).subjects(self.index):
                yield Route(kind, subject)
        for kind in plugins.names(SITE_PAGES):
            for subject in plugins.load(SITE_PAGES, kind).subjects(self.index):
                yield Route(kind, subject)
        for path in sorted(self._files.values()):
            yield Route(OF_SOURCE, path)
            yield Route(OF_CARDS, path)
            if self.addresses.image(path):
                yield Route(OF_IMAGE, path)
        for folder in self.addresses.folders:
            yield Route(OF_TREE, folder)
        for kind in (OF_SEARCH, OF_SHARDS, OF_REST):
            yield Route(kind, "")
