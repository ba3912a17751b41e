"""Dependencies: what the file imports, what imports it, and bridges to other languages."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections import cross_language, dependencies

TITLE = Section.DEPENDENCIES.value
ORDER = 40


def blocks(one: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    return [Heading(3, ["Import Dependencies"]), *dependencies.imports(one), *cross_language.bridge_blocks(one)]
