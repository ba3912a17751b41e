"""Every file of the site: what stands at an address, made from the store when it is asked for.

In: an index, and an address of the site without what stands behind a `#` or `?`. Out: its bytes and their type, or
None where nothing stands there. The server answers with it, and the static site is all of it, written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from concordance import plugins
from concordance.blocks import Page, Ref, To
from concordance.query.folders.repository import name_of
from concordance.query.index import Index
from concordance.render import shell
from concordance.render.addresses import Addresses
from concordance.render.formats import html, markdown
from concordance.render.siteaddresses import SiteAddresses

PAGES = "concordance.query.pages"
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
_ABOUT = {
    "file": To.FILE, "keywords": To.KEYWORDS, "folder": To.FOLDER, "folder_index": To.INDEX, "subtree": To.SUBTREE,
    "letters": To.LETTERS, "book": To.BOOK, "rule": To.RULE, "report": To.REPORT,
}  # fmt: skip


class Answered(NamedTuple):
    """What stands at an address."""

    data: bytes
    type: str


class Site:
    """The site of one repository."""

    def __init__(self, index: Index, addresses: SiteAddresses, book: Addresses, live: bool = False) -> None:
        self.index, self.addresses, self.book, self.live = index, addresses, book, live

    @cached_property
    def _pages(self) -> dict[str, tuple[str, str]]:
        """The kind and subject of each page of the book, by its address in the site."""
        found = {}
        for kind in plugins.names(PAGES):
            for subject in plugins.load(PAGES, kind).subjects(self.index):
                found[self.addresses.page(Ref(_ABOUT[kind], subject))] = kind, subject
        return found

    def answer(self, address: str) -> Answered | None:
        """What stands at an address."""
        stem, _, end = address.rpartition(".")
        page = self._page(f"{stem}.html") if end in ("html", "md") else None
        if page is None:
            return None
        if end == "md":
            return Answered(markdown.render(page[1], self.book).text.encode("utf-8", "backslashreplace"), MARKDOWN)
        return Answered(self._whole(address, *page).encode("utf-8", "backslashreplace"), HTML)

    def _page(self, address: str) -> tuple[str, Page] | None:
        known = self._pages.get(address)
        if known is None:
            return None
        kind, subject = known
        return kind, next(plugins.load(PAGES, kind).pages(self.index, subject))

    def _whole(self, address: str, kind: str, page: Page) -> str:
        body = html.render(page, self.addresses)
        window = shell.Window(
            name_of(self.index), address, body.title, body.html, body.outline, kind, page.ref.path, live=self.live
        )
        return shell.whole(window)

    def all(self) -> Iterator[str]:
        """Every address of the site."""
        yield from self._pages
