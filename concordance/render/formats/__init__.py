"""Output formats of the book, one file per format, found by its name: `concord build --format NAME`.

The same writer writes every format, and the site: the same pages and manifest, under names that end as the format
says. The site is not among the formats, since it has pages of its own, and files that are not pages (see
`render/site`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from concordance.base.blocks import Page
from concordance.render.addresses import Addresses

FORMATS = __name__


class CitedLine(NamedTuple):
    """A line of a page, and the lines of a file that it cites (0: the whole file)."""

    line: int
    path: str
    first: int
    last: int


class RenderedPage(NamedTuple):
    """The text of a page and its claims."""

    text: str
    claims: list[CitedLine]


class PageFormat(Protocol):
    """A format. The last line of each page contains `own_output.SIGNATURE`: only files that have it are overwritten or
    removed."""

    ENDING: str  # of the names of pages, with the dot: ".md"

    def render(self, page: Page, addresses: Addresses) -> RenderedPage:
        """Render a page; `addresses.page` is its path in the book, and `addresses.link` where a `Ref` on it leads."""


PROTOCOL = PageFormat
