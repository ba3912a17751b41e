"""The sections of a file's page, one file per section, found by its name.

The page shows the sections in the order of their `ORDER`, and its keyword page maps names to them; the two pages are
written one after the other and share the blocks. A repository's settings can leave a section out by its title.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Protocol

from concordance.base import plugins
from concordance.base.blocks import Block
from concordance.query.index.file_model import FileModel
from concordance.query.index.updates.reads import memoised_in_object

SECTIONS = __name__


class FileSection(Protocol):
    """A section. Ours have an `ORDER` of 10, 20, 30 …, so that a section of an extension can stand between them.

    The source of the file follows `File Purpose`, and its structure `High-Level Overview`.
    """

    TITLE: str
    ORDER: int

    def blocks(self, one: FileModel) -> list[Block]:
        """Return what the section says of a file; nothing if its page is not to have the section."""


PROTOCOL = FileSection


@cache
def _all() -> tuple[ModuleType, ...]:
    """The sections in page order."""
    found = (plugins.load(SECTIONS, name) for name in plugins.names(SECTIONS))
    return tuple(sorted(found, key=lambda module: (module.ORDER, module.__name__)))


@cache
def titles() -> tuple[str, ...]:
    """Return the titles of all sections in page order."""
    return tuple(module.TITLE for module in _all())


@memoised_in_object
def sections(one: FileModel) -> dict[str, list[Block]]:
    """Return the blocks of each section by title, in page order; sections that the book leaves out are not built."""
    made = {module.TITLE: module.blocks(one) for module in _all() if module.TITLE not in one.index.book.sections_off}
    return {title: blocks for title, blocks in made.items() if blocks}
