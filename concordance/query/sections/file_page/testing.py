"""Testing & Usage: the tests that reach the file, and real uses of it."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import usage

TITLE = Section.TESTING.value
ORDER = 80


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Testing"]), *usage.testing(one), Heading(3, ["Usage Examples"]), *usage.usage(one)]
