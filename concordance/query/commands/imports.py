"""What a file imports or includes, as written."""

from __future__ import annotations

from concordance.facts.read import Facts
from concordance.model import File
from concordance.query.answers import Answer, Page, paged

HELP = """Lists what a file imports or includes, in the order of the text.

`target` and `origin` are null until names are linked across files.

\b
concord imports torch/nn/modules/module.py
"""
ARGUMENT = "PATH"


def answer(facts: Facts, file: File, page: Page) -> Answer:
    """One row an imported name, or an imported module."""
    rows: list[dict[str, object]] = [
        {
            "module": one.module,
            "name": one.name or None,
            "alias": one.alias or None,
            "line": one.line,
            "target": None,
            "origin": None,
        }
        for one in facts.of(file.path).imports
    ]
    return paged(rows, ("line", "module", "name", "alias"), page)
