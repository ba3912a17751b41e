"""One file per kind of page that only the site has, found by its name.

Each has `subjects(index)`, what there is a page of, and `pages(index, subject)`, the pages of one, as in `query/pages`;
each page's `Ref` says where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from concordance.base.blocks import Page
from concordance.query.index.repository import Index


class SitePageKind(Protocol):
    """A kind of page that only the site has."""

    def subjects(self, index: Index) -> list[str]:
        """What there are pages of."""

    def pages(self, index: Index, subject: str) -> Iterator[Page]:
        """The pages of one subject."""


PROTOCOL = SitePageKind
