"""Security & Safety: findings of the security rules."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import observations

TITLE = Section.SECURITY.value
ORDER = 70


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Security Considerations"]), *observations.security(one)]
