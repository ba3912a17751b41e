"""Addresses of the site: the pages of the book under the same names, and further files that only a browser needs.

In: the same as for the book's addresses. Out: addresses that end in `.html`. Beside a file's page are its source, its
hover cards (shown when the pointer is on a name that the file defines) and the pages of its definitions. A served site
and a static site have the same addresses. All are relative to the page they are on, so the site can be moved anywhere,
and also works from a local disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from concordance.base.blocks import Ref, To
from concordance.render.addresses import MARKDOWN, Addresses, anchor, lines_at

SOURCE, CARDS, BLAME, DEFINITIONS, TREE = "_source.html", "_cards.js", "_blame.js", "_defs", "tree.js"
# Pages of each folder that the book does not have.
_OF_FOLDER: dict[str, str] = {To.MAP: "map.md", To.HISTORY: "history.md"}
# Pictures that browsers show and that cannot contain scripts, by extension: what their copies on the site end with.
IMAGES = {
    ".png": "_image.png", ".jpg": "_image.jpg", ".jpeg": "_image.jpg", ".gif": "_image.gif", ".webp": "_image.webp"
}  # fmt: skip
LINES = 20_000  # lines of a source file on one page; fixed, so that a line number alone says which part it is on


class SiteAddresses(Addresses):
    """The addresses of one site."""

    own = (TREE, "map.html", "history.html", *_OF_FOLDER.values())
    own_at_root = ("assets", "search", "search.html")
    own_ends = (SOURCE, "_source.md", CARDS, BLAME, DEFINITIONS, *dict.fromkeys(IMAGES.values()))

    def __init__(self, paths: Iterable[str], root: str, out: str, plain: frozenset[str] = frozenset()) -> None:
        super().__init__(paths, root, out, plain, ".html")

    def in_markdown(self) -> SiteAddresses:
        """Return the addresses for a page in Markdown: links to pages of the book lead to their Markdown."""
        addresses = copy(self)
        addresses._ending = MARKDOWN
        return addresses

    def page(self, ref: Ref) -> str:
        """Return the path in the site of the page that a link points to."""
        if ref.to == To.SOURCE:
            return _part(f"{self.stem(ref.path)}_source", ref.part, self._ending)
        if ref.to == To.DEFINITION:
            return _part(f"{self.stem(ref.path)}{DEFINITIONS}/{anchor(ref.at)}", ref.part, self._ending)
        if ref.to in _OF_FOLDER:
            return self._with_ending(self._path_in(ref.path, _OF_FOLDER[ref.to]))
        return super().page(ref)

    def link(self, page: str, ref: Ref) -> str:
        """Return the address of a link's target, relative to a page."""
        return self.to(page, self.page(ref)) if ref.to == To.DEFINITION else super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """Return the address of a file's source page, or of some of its lines: only the page in HTML has anchors."""
        there = _part(f"{self.stem(path)}_source", (max(first, 1) - 1) // LINES + 1, ".html")
        at = lines_at(first, last)
        return at if at and there == page else self.to(page, there) + at

    def tree(self, folder: str) -> str:
        """Return the address of the list of a folder's content."""
        return self._path_in(folder, TREE)

    def cards(self, path: str) -> str:
        """Return the address of the hover cards of a file's definitions."""
        return self.stem(path) + CARDS

    def blame(self, path: str) -> str:
        """Return the address of the commits of a file's lines, which only a server answers."""
        return self.stem(path) + BLAME

    def image(self, path: str) -> str:
        """Return the address of the copy of a picture; "" if the site has none."""
        end = IMAGES.get(path[path.rfind(".") :].lower()) if "." in path else None
        return self.stem(path) + end if end else ""

    def _path_in(self, folder: str, name: str) -> str:
        return f"{self._folders[folder]}/{name}" if self._folders[folder] else name


def _part(stem: str, part: int, ending: str) -> str:
    """Return the address of one part of a page that is split."""
    return f"{stem}{ending}" if part < 2 else f"{stem}.{part}{ending}"
