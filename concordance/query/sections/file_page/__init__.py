"""The sections of a file's page, one file per section, found by its name.

The page shows the sections in the order of their `ORDER`, and its keyword page maps names to them; the two pages are
written one after the other and share the blocks. A repository's settings can leave a section out by its title.
"""

from __future__ import annotations

from typing import Protocol

from concordance.base.blocks import Block
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.index.file_model import FileModel
from concordance.query.sections.section_order import ordered_sections


class FileSection(Protocol):
    """A section. Ours have an `ORDER` of 10, 20, 30 …, so that a section of an extension can stand between them.

    The source of the file follows `File Purpose`, and its structure `High-Level Overview`.
    """

    TITLE: str
    ORDER: int

    def blocks(self, model: FileModel) -> list[Block]:
        """Return the blocks of the section for a file; none if its page has no such section."""


PROTOCOL = FileSection


@memoised_in_object
def sections(model: FileModel) -> dict[str, list[Block]]:
    """Return the blocks of each section by title, in page order; sections that the book leaves out are not built."""
    off = model.index.book.sections_off
    by_title = {module.TITLE: module.blocks(model) for module in ordered_sections() if module.TITLE not in off}
    return {title: blocks for title, blocks in by_title.items() if blocks}
