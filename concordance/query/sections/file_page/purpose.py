"""File Purpose: what the file is for, in its author's words where there are any."""

from __future__ import annotations

from concordance.base.blocks import Block
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import overview

TITLE = Section.PURPOSE.value
ORDER = 10


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return overview.purpose(one)
