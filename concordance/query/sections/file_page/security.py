"""Security & Safety: findings of the security rules."""

from __future__ import annotations

from concordance.base.blocks import Block, Heading, Items
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.sections.findings import finding_items, no_findings

TITLE = Section.SECURITY.value
ORDER = 70


def blocks(model: FileModel) -> list[Block]:
    """Return findings about security."""
    items = finding_items(model, "security")
    return [Heading(3, ["Security Considerations"]), Items(items) if items else no_findings(model, "security")]
