"""Every definition in a file, nested as in the code."""

from __future__ import annotations

from concordance.extract.engine import separator
from concordance.facts.read import Facts
from concordance.model import File
from concordance.query.answers import Answer, Page, paged, qualified

HELP = """Lists every definition and declaration in a file, in the order of the text.

\b
concord symbols torch/nn/modules/module.py
concord symbols c10/core/TensorImpl.h --json
"""
ARGUMENT = "PATH"


def answer(facts: Facts, file: File, page: Page) -> Answer:
    """One row a symbol."""
    symbols = facts.of(file.path).symbols
    joint = separator(file.language)
    names = [qualified(symbol, joint) for symbol in symbols]
    rows: list[dict[str, object]] = [
        {
            "name": symbol.name,
            "qualified": names[place],
            "kind": symbol.kind,
            "line": symbol.line,
            "end_line": symbol.end_line,
            "parent": names[symbol.parent] if symbol.parent >= 0 else None,
            "signature": symbol.signature,
            "public": symbol.public,
            "doc": symbol.doc,
        }
        for place, symbol in enumerate(symbols)
    ]
    return paged(rows, ("line", "kind", "qualified", "signature"), page)
