"""The kinds of pages in the book, one file per kind, found by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Protocol

from concordance.base import plugins
from concordance.base.blocks import Page
from concordance.query.index.repository import Index

PAGES = __name__
PER_FILE_OR_FOLDER = ("file", "keywords", "folder", "folder_index", "subtree")


class PageKind(Protocol):
    """A kind of page. `TO` is what links to its pages say, by which they have their addresses: a `To`, or for the kind
    of an extension the file's own name; such pages stand in `book/<kind>s/`.

    A kind about the whole repository may also have

    - `LISTED`: the words of the link to its page of subject "", and what one finds there. The book's front page and the
      site's navigation have the link where the kind has subjects.
    - `subject_named(index, name)`: the subject that a name of a bridge means, "" for none; lists of bridges link to it.
    - `definitions(index, name)`: the bridges whose targets define what a name means, for `concord define`.
    """

    @property
    def TO(self) -> str:
        """What links to the pages say."""

    def subjects(self, index: Index) -> list[str]:
        """What there are pages of: paths, names, or "" for a page about all."""

    def pages(self, index: Index, subject: str) -> Iterator[Page]:
        """The pages of one subject, several where one would be too long."""


PROTOCOL = PageKind


@cache
def kinds() -> Mapping[str, str]:
    """What links to each kind of page say, by the kinds' names."""
    return {name: plugins.load(PAGES, name).TO for name in plugins.names(PAGES)}


@cache
def kinds_with(part: str) -> tuple[ModuleType, ...]:
    """The kinds that have an optional part of `PageKind`."""
    found = (plugins.load(PAGES, name) for name in plugins.names(PAGES))
    return tuple(module for module in found if hasattr(module, part))


def listed_kinds(index: Index) -> list[tuple[str, str, str]]:
    """The kinds that the front page lists: the words of the link, what links say, and what one finds there."""
    return [(*kind.LISTED[:1], kind.TO, kind.LISTED[1]) for kind in kinds_with("LISTED") if kind.subjects(index)]
