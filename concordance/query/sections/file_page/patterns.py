"""Code Patterns & Idioms: known patterns in the file, each with a line that shows it."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import observations

TITLE = Section.PATTERNS.value
ORDER = 50


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Common Patterns"]), *observations.patterns_of(one)]
