"""The kinds of pages in the book, one file per kind, found by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Protocol

from concordance.base import plugins
from concordance.base.blocks import TO_FILES, TO_FOLDERS, Page, Ref
from concordance.query.index.repository import Index

PAGES = __name__


class PageKind(Protocol):
    """A kind of page.

    A kind about the whole repository may also have

    - `LISTED`: the text of the link to its page with the subject "", and what its pages are about. If the kind has any
      subjects, the book's front page and the site's navigation show the link.
    - `subject_named(index, name)`: return the subject that the name of a bridge refers to, or ""; lists of bridges link
      to its page.
    - `label(index, subject)`: return the text of such links, if it is not the subject itself.
    """

    @property
    def TO(self) -> str:
        """The target of links to these pages, which determines their addresses: a `To`, or in an extension the name of
        the module; the pages of an extension are in `book/<name>s/`."""

    def subjects(self, index: Index) -> list[str]:
        """Return what there are pages about: paths or names, and "" for a page about all of them."""

    def pages(self, index: Index, subject: str) -> Iterator[Page]:
        """Yield the pages of one subject: several if one would be too long."""


PROTOCOL = PageKind


@cache
def kinds() -> Mapping[str, str]:
    """Return the link target of each kind of page, by the kind's name."""
    return {name: plugins.load(PAGES, name).TO for name in plugins.names(PAGES)}


@cache
def kinds_per_path() -> tuple[str, ...]:
    """Return the kinds that have a page about each file or each folder."""
    return tuple(name for name, to in kinds().items() if to in TO_FILES | TO_FOLDERS)


def kinds_with(part: str) -> tuple[ModuleType, ...]:
    """Return the kinds that define an optional part of `PageKind`; others are not loaded."""
    return plugins.load_defining(PAGES, part)


def bridge_page(index: Index, name: str) -> Ref | None:
    """Return a link to the page about what the name of a bridge refers to; None if no kind of page has one."""
    for kind in kinds_with("subject_named"):
        if subject := kind.subject_named(index, name):
            has_label = hasattr(kind, "label")
            return Ref(kind.TO, subject, "", kind.label(index, subject) if has_label else subject, not has_label)
    return None


def listed_kinds(index: Index) -> list[tuple[str, str, str]]:
    """Return the kinds that the front page lists: the text of the link, its target, and what the pages are about."""
    kinds = []
    for kind in kinds_with("LISTED"):
        if kind.subjects(index):
            text, about = kind.LISTED
            kinds.append((text, kind.TO, about))
    return kinds
