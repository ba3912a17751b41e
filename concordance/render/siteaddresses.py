"""Where everything of the site stands: beside each page of the book, under the same name, what only a browser needs.

In: the same as for the book's addresses. Out: addresses that end in `.html`; a file's source, its cards (what is shown
when one points at a name that it defines) and its definitions' own pages stand beside its page. The site that is served
and the one that is written have the same addresses, each relative to the page that it stands on, so the site may lie
anywhere, a folder of a disk included.
"""

from __future__ import annotations

from concordance.blocks import Ref, To

from .addresses import Addresses, anchor

SOURCE, CARDS, BLAME, DEFINITIONS, TREE = "_source.html", "_cards.js", "_blame.js", "_defs", "tree.js"
_OF_FOLDER = {To.MAP: "map.html", To.HISTORY: "history.html"}  # what each folder has besides its pages in the book
OWN = ("index.html", "doc.html", "sub.html", TREE, *_OF_FOLDER.values())
OWN_AT_ROOT = ("assets", "search", "search.html", "keywords.html", "verification_report.html", "llms.txt")
# Of names beside each file's, which no folder has.
OWN_ENDS = ("_docs.html", "_kw.html", SOURCE, CARDS, BLAME, DEFINITIONS)
LINES = 20_000  # of a source on one page: the number of a line alone says which part it stands on


class SiteAddresses(Addresses):
    """The addresses of one site."""

    own, own_at_root, own_ends = OWN, OWN_AT_ROOT, OWN_ENDS

    def page(self, ref: Ref) -> str:
        """The path of the page that a link leads to, in the site."""
        if ref.to == To.SOURCE:
            return _part(self.stem(ref.path) + SOURCE, ref.part)
        if ref.to == To.DEFINITION:
            return _part(f"{self.stem(ref.path)}{DEFINITIONS}/{anchor(ref.at)}.html", ref.part)
        if ref.to in _OF_FOLDER:
            return self.page(Ref(To.INDEX, ref.path)).removesuffix("index.html") + _OF_FOLDER[ref.to]
        return f"{super().page(ref)[:-3]}.html"

    def link(self, page: str, ref: Ref) -> str:
        """The address of what a link leads to, as it stands on a page of the site."""
        if ref.to == To.DEFINITION:
            return self.to(page, self.page(ref))
        return super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """The address of a file's source, or of lines of it."""
        at = f"#L{first}" if first else ""
        if last > first:
            at += f"-L{last}"
        there = self.page(Ref(To.SOURCE, path, part=(max(first, 1) - 1) // LINES + 1))
        return at if at and there == page else self.to(page, there) + at

    def tree(self, folder: str) -> str:
        """Where the names of what is in a folder stand."""
        return self.page(Ref(To.INDEX, folder)).removesuffix("index.html") + TREE

    def cards(self, path: str) -> str:
        """Where the cards of a file's definitions stand."""
        return self.stem(path) + CARDS

    def blame(self, path: str) -> str:
        """Where it stands which commits a file's lines come from; only a server says so."""
        return self.stem(path) + BLAME


class MarkdownAddresses(Addresses):
    """The addresses of the same pages as Markdown, beside those of the site; the source is the site's."""

    own, own_at_root, own_ends = OWN, OWN_AT_ROOT, OWN_ENDS

    def link(self, page: str, ref: Ref) -> str:
        """The address of what a link leads to; a definition's own page is the site's."""
        if ref.to == To.DEFINITION:
            return self.to(page, f"{self.stem(ref.path)}{DEFINITIONS}/{anchor(ref.at)}.html")
        return super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """The address of a file's source, or of lines of it."""
        at = f"#L{first}" if first else ""
        if last > first:
            at += f"-L{last}"
        return self.to(page, _part(self.stem(path) + SOURCE, (max(first, 1) - 1) // LINES + 1)) + at


def _part(page: str, part: int) -> str:
    """A page that is written in several parts."""
    return page if part < 2 else f"{page[:-5]}.{part}.html"
