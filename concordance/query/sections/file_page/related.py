"""Related Files: files that belong with the file, each with the reason."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import dependencies

TITLE = Section.RELATED.value
ORDER = 90


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Related Files"]), *dependencies.related(one)]
