"""The kinds of pages that only the web site has, not the book: one file per kind, found by its name.

As in `query/pages`, each module has `subjects(index)`, which lists what there is a page about, and
`pages(index, subject)`, which yields the pages of one subject. The `Ref` of a page determines its address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from concordance.base.blocks import Page
from concordance.query.index.repository import Index


class SitePageKind(Protocol):
    """A kind of page that only the site has."""

    def subjects(self, index: Index) -> Iterable[str]:
        """Return what there are pages about."""

    def pages(self, index: Index, subject: str) -> Iterator[Page]:
        """The pages of one subject."""


PROTOCOL = SitePageKind
