"""Where everything of the site stands: beside each page of the book, under the same name, what only a browser needs.

In: the same as for the book's addresses. Out: addresses that end in `.html`; a file's source, its cards (what is shown
when one points at a name that it defines) and its definitions' own pages stand beside its page. The site that is served
and the one that is written have the same addresses, each relative to the page that it stands on, so the site may lie
anywhere, a folder of a disk included.
"""

from __future__ import annotations

from concordance.base.blocks import Ref, To
from concordance.render.addresses import Addresses, anchor, lines_at

SOURCE, CARDS, BLAME, DEFINITIONS, TREE = "_source.html", "_cards.js", "_blame.js", "_defs", "tree.js"
_OF_FOLDER: dict[str, str] = {
    To.MAP: "map.html",
    To.HISTORY: "history.html",
}  # what each folder has besides its pages in the book
OWN = ("index.html", "doc.html", "sub.html", TREE, *_OF_FOLDER.values())
OWN_AT_ROOT = ("assets", "search", "search.html", "keywords.html", "verification_report.html", "llms.txt")
# Of names beside each file's, which no folder has.
OWN_ENDS = ("_docs.html", "_kw.html", SOURCE, CARDS, BLAME, DEFINITIONS)
LINES = 20_000  # of a source on one page: the number of a line alone says which part it stands on


class MarkdownAddresses(Addresses):
    """The addresses of the book's pages beside those of the site: sources and definitions' own pages are the site's."""

    own, own_at_root, own_ends = OWN, OWN_AT_ROOT, OWN_ENDS

    def link(self, page: str, ref: Ref) -> str:
        """The address of what a link leads to, as it stands on a page."""
        return self.to(page, self._definition(ref)) if ref.to == To.DEFINITION else super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """The address of a file's source, or of lines of it."""
        at, there = lines_at(first, last), self._source(path, (max(first, 1) - 1) // LINES + 1)
        return at if at and there == page else self.to(page, there) + at

    def _source(self, path: str, part: int) -> str:
        return _part(self.stem(path) + SOURCE, part)

    def _definition(self, ref: Ref) -> str:
        return _part(f"{self.stem(ref.path)}{DEFINITIONS}/{anchor(ref.at)}.html", ref.part)


class SiteAddresses(MarkdownAddresses):
    """The addresses of one site."""

    def page(self, ref: Ref) -> str:
        """The path of the page that a link leads to, in the site."""
        if ref.to == To.SOURCE:
            return self._source(ref.path, ref.part)
        if ref.to == To.DEFINITION:
            return self._definition(ref)
        if ref.to in _OF_FOLDER:
            return self.page(Ref(To.INDEX, ref.path)).removesuffix("index.html") + _OF_FOLDER[ref.to]
        return f"{super().page(ref)[:-3]}.html"

    def tree(self, folder: str) -> str:
        """Where the names of what is in a folder stand."""
        return self.page(Ref(To.INDEX, folder)).removesuffix("index.html") + TREE

    def cards(self, path: str) -> str:
        """Where the cards of a file's definitions stand."""
        return self.stem(path) + CARDS

    def blame(self, path: str) -> str:
        """Where it stands which commits a file's lines come from; only a server says so."""
        return self.stem(path) + BLAME


def _part(page: str, part: int) -> str:
    """A page that is written in several parts."""
    return page if part < 2 else f"{page[:-5]}.{part}.html"
