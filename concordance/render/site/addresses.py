"""Addresses of the site: the pages of the book under the same names, and further files that only a browser needs.

In: the same as for the book's addresses. Out: addresses that end in `.html`. Beside a file's page are its source, its
hover cards (shown when the pointer is on a name that the file defines) and the pages of its definitions. A served site
and a static site have the same addresses. All are relative to the page they are on, so the site can be moved anywhere,
and also works from a local disk.
"""

from __future__ import annotations

from concordance.base.blocks import Ref, To
from concordance.render.addresses import Addresses, anchor, lines_at

SOURCE, CARDS, BLAME, DEFINITIONS, TREE = "_source.html", "_cards.js", "_blame.js", "_defs", "tree.js"
_OF_FOLDER: dict[str, str] = {
    To.MAP: "map.html",
    To.HISTORY: "history.html",
}  # pages of each folder that the book does not have
OWN = ("index.html", "doc.html", "sub.html", TREE, *_OF_FOLDER.values())
OWN_AT_ROOT = ("assets", "search", "search.html", "keywords.html", "verification_report.html", "llms.txt")
# Suffixes of the files beside each page.
OWN_ENDS = ("_docs.html", "_kw.html", SOURCE, CARDS, BLAME, DEFINITIONS)
LINES = 20_000  # lines of a source file on one page; fixed, so that a line number alone says which part it is on


class MarkdownAddresses(Addresses):
    """The addresses of Markdown pages on the site; source files and definitions link to HTML pages."""

    own, own_at_root, own_ends = OWN, OWN_AT_ROOT, OWN_ENDS

    def link(self, page: str, ref: Ref) -> str:
        """Return the address of a link's target, relative to a page."""
        return self.to(page, self._definition(ref)) if ref.to == To.DEFINITION else super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """Return the address of a file's source page, or of some of its lines."""
        at, there = lines_at(first, last), self._source(path, (max(first, 1) - 1) // LINES + 1)
        return at if at and there == page else self.to(page, there) + at

    def _source(self, path: str, part: int) -> str:
        return _part(self.stem(path) + SOURCE, part)

    def _definition(self, ref: Ref) -> str:
        return _part(f"{self.stem(ref.path)}{DEFINITIONS}/{anchor(ref.at)}.html", ref.part)


class SiteAddresses(MarkdownAddresses):
    """The addresses of one site."""

    def page(self, ref: Ref) -> str:
        """Return the path in the site of the page that a link points to."""
        if ref.to == To.SOURCE:
            return self._source(ref.path, ref.part)
        if ref.to == To.DEFINITION:
            return self._definition(ref)
        if ref.to in _OF_FOLDER:
            return self.page(Ref(To.INDEX, ref.path)).removesuffix("index.html") + _OF_FOLDER[ref.to]
        return f"{super().page(ref)[:-3]}.html"

    def tree(self, folder: str) -> str:
        """Return the address of the list of a folder's content."""
        return self.page(Ref(To.INDEX, folder)).removesuffix("index.html") + TREE

    def cards(self, path: str) -> str:
        """Return the address of the hover cards of a file's definitions."""
        return self.stem(path) + CARDS

    def blame(self, path: str) -> str:
        """Return the address of the commits of a file's lines, which only a server answers."""
        return self.stem(path) + BLAME


def _part(page: str, part: int) -> str:
    """Return the address of one part of a page that is split."""
    return page if part < 2 else f"{page[:-5]}.{part}.html"
