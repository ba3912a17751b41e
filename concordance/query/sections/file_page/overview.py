"""High-Level Overview: what the file defines and what uses it."""

from __future__ import annotations

from concordance.base.blocks import Block
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import overview

TITLE = Section.OVERVIEW.value
ORDER = 20


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return overview.overview(one)
