"""Architecture & Design: the file's place among the others."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import dependencies

TITLE = Section.DESIGN.value
ORDER = 30


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Role in the repository"]), *dependencies.role(one)]
