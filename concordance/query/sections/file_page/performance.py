"""Performance Considerations: findings of the performance rules."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import observations

TITLE = Section.PERFORMANCE.value
ORDER = 60


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Performance Notes"]), *observations.performance(one)]
