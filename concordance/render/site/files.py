"""Every file of the site, generated from the store on request.

In: an index, and an address of the site without fragment and query. Out: its bytes and their type, or None if there is
no such file. The server answers requests with it; a static site is all of these files, written to disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from time import gmtime, strftime
from typing import NamedTuple

from concordance import render
from concordance.base import plugins
from concordance.base.blocks import Code, Mono, Page, Ref, Text, To
from concordance.base.characters import escape_hidden
from concordance.collect.history import NO_GIT
from concordance.collect.own_output import LLMS
from concordance.query.commands import COMMANDS
from concordance.query.folders.project_name import name_of
from concordance.query.index.history import history_note
from concordance.query.index.repository import Index
from concordance.query.names.hover_cards import cards
from concordance.query.pages import PAGES, kinds, listed_kinds
from concordance.query.sections.listing import blame_lines, build_listing, page_count
from concordance.query.sections.structure import plain_files
from concordance.render.addresses import anchor
from concordance.render.formats import markdown
from concordance.render.site import html, openapi, page_frame, search_files
from concordance.render.site import source_listing as listings
from concordance.render.site.addresses import SiteAddresses
from concordance.render.site.page_frame import frame_links
from concordance.render.site.routes import (
    DEFINITION,
    OF_BLAME,
    OF_CARDS,
    OF_IMAGE,
    OF_REST,
    OF_SEARCH,
    OF_SHARDS,
    OF_SOURCE,
    OF_TREE,
    SITE_PAGES,
    Route,
    SiteRoutes,
)
from concordance.render.site.search_files import script

FOLDER = "assets"
_TYPES = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".ico": "image/x-icon", ".woff2": "font/woff2",
}  # fmt: skip
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
_LARGEST_IMAGE = 4_000_000  # bytes
_PICTURE_STARTS = {"png": (b"\x89PNG\r\n",), "jpg": (b"\xff\xd8\xff",), "gif": (b"GIF8",), "webp": (b"RIFF",)}
SCRIPT, PLAIN, JSON = "text/javascript; charset=utf-8", "text/plain; charset=utf-8", "application/json"


class SiteFile(NamedTuple):
    """The content of a file of the site."""

    data: bytes
    type: str


class Site:
    """The site of one repository."""

    def __init__(
        self, index: Index, addresses: SiteAddresses, live: bool = False, api: bool = False, more: tuple[str, ...] = (),
        in_workspace: bool = False,
    ) -> None:  # fmt: skip
        """Create a site; `api` if a server answers commands, `live` if it also announces changes; `more` are API
        endpoints that are not commands; `in_workspace` if it is part of a site of many repositories."""
        self.in_workspace = in_workspace
        self.index, self.addresses, self.live, self.api, self.more = index, addresses, live, api, more
        self.in_markdown = addresses.in_markdown()
        self.places = SiteRoutes(index, addresses)

    def answer(self, address: str) -> SiteFile | None:
        """Return the file at an address; None if there is none."""
        if address in assets():
            return SiteFile(*assets()[address])
        if address == openapi.ADDRESS and self.api:
            return SiteFile(encode_page(openapi.text(self.more)), JSON)
        stem, _, end = address.rpartition(".")
        in_markdown = end == "md" or address == LLMS
        route = self.places.find(f"{stem}.html" if end == "md" else address)
        if route is None or (in_markdown and route.kind not in self._with_markdown):
            return None
        if route.kind == OF_BLAME:
            return self._blame(route.subject) if self.api else None
        if route.kind == OF_IMAGE:
            return self._image(route.subject) if address == self.addresses.image(route.subject) else None
        if route.kind in (OF_SOURCE, OF_CARDS, OF_TREE, OF_SEARCH) and not in_markdown:
            return self._companion_file(route)
        page = self._page(route)
        if page is None:
            return None
        return self._markdown(page) if in_markdown else self._html(route.kind, page)

    @cached_property
    def _with_markdown(self) -> frozenset[str]:
        """The kinds of routes that have a page in Markdown: all but those that a script fills or loads."""
        return frozenset((*plugins.names(PAGES), *plugins.names(SITE_PAGES), OF_SOURCE))

    def files_of(self, route: Route) -> Iterator[tuple[str, SiteFile]]:
        """Yield the address and content of every file for a route, with all parts of a split page."""
        if route.kind == OF_SHARDS:
            for address, data in search_files.shards(self.index, self.addresses):
                yield address, SiteFile(encode_page(data), SCRIPT)
            return
        if route.kind == OF_REST:
            for address in assets():
                file = self.answer(address)
                if file is not None:
                    yield address, file
            return
        if route.kind == OF_IMAGE:
            image = self._image(route.subject)
            if image is not None:
                yield self.addresses.image(route.subject), image
            return
        if route.kind in (OF_SOURCE, OF_CARDS, OF_TREE, OF_SEARCH):
            parts = page_count(self.index.files[route.subject].lines) if route.kind == OF_SOURCE else 1
            for part in range(1, parts + 1):
                file = self._companion_file(route._replace(part=part))
                if file is not None:
                    yield self.address(route._replace(part=part)), file
                if route.kind == OF_SOURCE:
                    page = self._source(route._replace(part=part))
                    yield self.in_markdown.page(page.ref), self._markdown(page)
            return
        in_book = route.kind in plugins.names(PAGES)
        for page in plugins.load(PAGES if in_book else SITE_PAGES, route.kind).pages(self.index, route.subject):
            if page.ref.to != To.LLMS:
                yield self.addresses.page(page.ref), self._html(route.kind, page)
            yield self.in_markdown.page(page.ref), self._markdown(page)

    # --- pages

    def _page(self, route: Route) -> Page | None:
        if route.kind == OF_SOURCE:
            return self._source(route) if route.part <= page_count(self.index.files[route.subject].lines) else None
        module = plugins.load(PAGES if route.kind in plugins.names(PAGES) else SITE_PAGES, route.kind)
        if hasattr(module, "part"):  # can render one part without rendering the others
            part: Page | None = module.part(self.index, route.subject, route.part)
            return part
        pages = module.pages(self.index, route.subject)
        return next((page for page in pages if page.ref.part == route.part), None)

    def _source(self, route: Route) -> Page:
        """Return the source of a file as a page; only the one in HTML has links."""
        page = build_listing(self.index, route.subject, route.part)
        language = self.index.files[route.subject].language
        block = Text([page.why]) if page.text is None else Code(page.text, language)
        return Page(Ref(To.SOURCE, route.subject, part=route.part), [Mono(route.subject)], [block])

    def _markdown(self, page: Page) -> SiteFile:
        text = markdown.render(page, self.in_markdown).text
        if page.ref.to != To.LLMS:
            return SiteFile(encode_page(text), MARKDOWN)
        return SiteFile(encode_page(text + "".join(f"{line}\n" for line in _questions()) if self.api else text), PLAIN)

    def _html(self, kind: str, page: Page) -> SiteFile:
        body = html.render(page, self.addresses)
        return self._window(self.addresses.page(page.ref), kind, page.ref, body)

    def _window(self, address: str, kind: str, ref: Ref, body: html.Body, blame: str = "") -> SiteFile:
        """Return a page within its frame; `blame` is the address of the commits of its lines."""
        name = name_of(self.index)
        more = [(title, to) for title, to, _ in listed_kinds(self.index)]
        has_history = history_note(self.index) != NO_GIT
        links = frame_links(self.addresses, name, address, ref, body.title, more, has_history)
        above = "../" * (address.count("/") + 1)
        outside = [("All repositories", f"{above}index.html")] if self.in_workspace else []
        views = links.views if kind != OF_SEARCH else []  # a script fills this page, so there is no Markdown of it
        window = page_frame.Window(
            name, address, body.title, body.html, body.outline, kind, ref.path, views, links.folders,
            live=self.live, api=self.api, pages=[*outside, *links.pages], name=links.name, blame=blame,
            around=links.around if kind != OF_SEARCH else "",
        )  # fmt: skip
        return SiteFile(encode_page(page_frame.render_document(window)), HTML)

    # --- what only the site has and is not made of blocks

    def address(self, route: Route) -> str:
        """Return the address of a route."""
        if route.kind in kinds():
            return self.addresses.page(Ref(kinds()[route.kind], route.subject, part=route.part))
        if route.kind in plugins.names(SITE_PAGES):
            path, _, key = route.subject.rpartition("#") if route.kind == DEFINITION else (route.subject, "", "")
            return self.addresses.page(Ref(route.kind, path, key, part=route.part))
        if route.kind == OF_CARDS:
            return self.addresses.cards(route.subject)
        if route.kind == OF_TREE:
            return self.addresses.tree(route.subject)
        if route.kind == OF_SEARCH:
            return page_frame.SEARCH
        return self.addresses.page(Ref(To.SOURCE, route.subject, part=route.part))

    def _companion_file(self, route: Route) -> SiteFile | None:
        address = self.address(route)
        if route.kind == OF_TREE:
            rows = folder_script(route.subject, self._folder_contents[route.subject], self.addresses)
            return SiteFile(rows, SCRIPT)
        if route.kind == OF_SEARCH:
            body = html.Body("Search", page_frame.search_page(), [])
            return self._window(address, route.kind, Ref(To.LETTERS, ""), body)
        if route.kind == OF_CARDS:
            return self._cards(route.subject)
        if route.part > page_count(self.index.files[route.subject].lines):
            return None
        page = build_listing(self.index, route.subject, route.part)
        body = listings.render(page, self.addresses)
        blame = self.addresses.to(address, self.addresses.blame(route.subject)) if self.api and page.text else ""
        return self._window(address, route.kind, Ref(To.SOURCE, route.subject), body, blame)

    def _image(self, path: str) -> SiteFile | None:
        """Return a copy of a picture; None if it is too large, or if its content is not what its name says."""
        data = self.index.runners.text(path, _LARGEST_IMAGE + 1)
        kind = self.addresses.image(path).rpartition(".")[2]
        is_picture = any(data.startswith(start) for start in _PICTURE_STARTS[kind])
        return SiteFile(data, _TYPES[f".{kind}"]) if is_picture and len(data) <= _LARGEST_IMAGE else None

    def _cards(self, path: str) -> SiteFile:
        """Return the hover cards of the names that a file defines; `page` is an address relative to the site's root."""
        rows = {}
        for card in cards(self.index, path):
            fields = [(name, value) for name, value in card._asdict().items() if name not in ("key", "page")]
            row = {
                name: escape_hidden(value) if isinstance(value, str) else value for name, value in fields if value != ""
            }
            if card.page:
                row["page"] = self.addresses.to("", self.addresses.page(Ref(To.DEFINITION, path, card.key)))
            rows[anchor(card.key)] = row
        return SiteFile(encode_page(script(f"cards:{self.addresses.stem(path)}", rows)), SCRIPT)

    def _blame(self, path: str) -> SiteFile:
        """Return the commits of a file's lines: why there are none, the commits, pairs of a number of lines and their
        commit, and last the file's digest, which the page also has."""
        blame = blame_lines(self.index, path)
        rows = [
            (
                commit.number,
                _day(commit.when),
                escape_hidden(commit.author),
                escape_hidden(commit.summary),
                commit.oldest,
            )
            for commit in blame.commits
        ]
        ranges = [number for pair in blame.ranges for number in pair]
        parts = [blame.note, rows, ranges, self.index.open_file(path).file.digest[: listings.OF]]
        return SiteFile(encode_page(script(f"blame:{self.addresses.stem(path)}", parts)), SCRIPT)

    @cached_property
    def _folder_contents(self) -> dict[str, tuple[list[str], list[str]]]:
        return folders_and_files(self.addresses.folders, (row[1] for row in self.index.file_rows))


def folders_and_files(folders: Iterable[str], paths: Iterable[str]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the folders and files directly in each folder."""
    contents: dict[str, tuple[list[str], list[str]]] = {folder: ([], []) for folder in folders}
    for folder in sorted(contents):
        if folder:
            contents[folder.rpartition("/")[0]][0].append(folder)
    for path in sorted(paths):
        contents[path.rpartition("/")[0]][1].append(path)
    return contents


def folder_script(folder: str, inside: tuple[list[str], list[str]], addresses: SiteAddresses) -> bytes:
    """Return the content of a folder, for the tree beside each page."""
    start = len(folder) + 1 if folder else 0
    rows: list[tuple[str, str, bool]] = [
        (escape_hidden(path[start:]), addresses.page(Ref(To.INDEX, path)), True) for path in inside[0]
    ]
    rows += [(escape_hidden(path[start:]), addresses.page(Ref(To.FILE, path)), False) for path in inside[1]]
    return encode_page(script(f"tree:{folder}", rows))


def open_site(
    index: Index, out: str, live: bool = False, api: bool = False, more: tuple[str, ...] = (),
    in_workspace: bool = False,
) -> Site:  # fmt: skip
    """Open the site of an index; `out` is the folder of its book, needed only for addresses."""
    addresses = SiteAddresses([row[1] for row in index.file_rows], index.root, out, plain_files(index))
    return Site(index, addresses, live, api, more, in_workspace)


def _day(when: int) -> str:
    return strftime("%Y-%m-%d", gmtime(when)) if when else ""


def encode_page(text: str) -> bytes:
    """Encode a page; bytes of names that are not valid text are escaped."""
    return text.encode("utf-8", "backslashreplace")


# --- Styles and scripts, which come with the program. They are read once from a fixed folder: no request names a path.


@cache
def assets() -> Mapping[str, tuple[bytes, str]]:
    """Return bytes and type of each asset by its address in the site."""
    files = {}
    for path in sorted(Path(os.path.dirname(render.__file__), FOLDER).iterdir()):
        if path.suffix in _TYPES and path.is_file():
            files[f"{FOLDER}/{path.name}"] = path.read_bytes(), _TYPES[path.suffix]
    return files


# --- what `llms.txt` says on a server


def _questions() -> Iterator[str]:
    """Yield the lines of the section about the commands that a server answers."""
    yield from ("", "## Questions", "", "- [OpenAPI](openapi.json): every command, its parameters and its answer")
    for name in plugins.names(COMMANDS):
        yield f"- [{name}](api/{name}): {plugins.load(COMMANDS, name).HELP.strip().splitlines()[0]}"
