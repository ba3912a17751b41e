"""What stands around the content of a page: the folders above it, the other pages about the same, those of the whole.

In: the addresses of the site, and what a page is about. Out: names and addresses, as they stand on that page.
"""

from __future__ import annotations

from typing import NamedTuple

from concordance.base.blocks import Ref, To
from concordance.query.answers import clean
from concordance.render.site.addresses import SiteAddresses

Links = list[tuple[str, str]]  # name, address from the page
_OF_FILE = (("Documentation", To.FILE), ("Source", To.SOURCE), ("Keywords", To.KEYWORDS))
_OF_FOLDER = (
    ("Contents", To.INDEX), ("About", To.FOLDER), ("Keywords", To.SUBTREE), ("Map", To.MAP), ("History", To.HISTORY)
)  # fmt: skip
_OF_WHOLE = (
    ("Contents", To.INDEX), ("Book", To.BOOK), ("Keywords", To.LETTERS), ("Map", To.MAP), ("Checks", To.REPORT),
)  # fmt: skip
_FILES = frozenset((To.FILE, To.SOURCE, To.KEYWORDS, To.SYMBOL, To.DEFINITION))
_FOLDERS = frozenset((To.INDEX, To.FOLDER, To.SUBTREE, To.MAP, To.HISTORY))
_ONLY_HERE = frozenset((To.SOURCE, To.DEFINITION, To.MAP, To.HISTORY))


class Around(NamedTuple):
    """The links around a page."""

    folders: Links  # from the root down
    views: Links  # of the same file or folder
    pages: Links  # of the whole
    name: str  # what stands behind the folders; "" where the last of them is the page


def around(
    addresses: SiteAddresses, repository: str, address: str, ref: Ref, title: str, operators: bool = False
) -> Around:
    """The links around the page of a reference, which stands at an address; `operators`: whether they have pages."""

    def to(kind: To, path: str) -> str:
        return addresses.to(address, addresses.page(Ref(kind, path)))

    of_file, of_folder = ref.to in _FILES, ref.to in _FOLDERS
    home = ref.path.rpartition("/")[0] if of_file else ref.path if of_folder else ""
    steps = home.split("/") if home else []
    folders = [(repository, to(To.INDEX, ""))]
    folders += [(name, to(To.INDEX, "/".join(steps[: place + 1]))) for place, name in enumerate(steps)]
    if ref.to == To.DEFINITION:
        folders.append((ref.path.rpartition("/")[2], to(To.FILE, ref.path)))
    views: Links = []
    if of_file or of_folder:
        views = [(name, to(kind, ref.path)) for name, kind in (_OF_FILE if of_file else _OF_FOLDER)]
    # What the site alone has is no page of the book: the Markdown of what it is about stands for it.
    here = addresses.to(address, address)
    in_book = to(To.FILE if of_file else To.INDEX, ref.path) if ref.to in _ONLY_HERE else here
    views = [*(views or [("Page", here)]), ("Markdown", f"{in_book.removesuffix('.html')}.md")]
    whole = (*_OF_WHOLE, ("Operators", To.OPERATOR)) if operators else _OF_WHOLE
    pages = [(name, to(kind, "")) for name, kind in whole]
    return Around(folders, views, pages, _last(ref, title))


def _last(ref: Ref, title: str) -> str:
    """What stands behind the folders."""
    if ref.to == To.DEFINITION:
        return ".".join(clean(ref.at))
    return ref.path.rpartition("/")[2] if ref.to in _FILES else "" if ref.to in _FOLDERS else title
