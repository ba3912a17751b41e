"""Every definition in a file, nested as in the code.

Where a language declares in one file what another defines, as C does in its headers, a declaration
is no definition, and is listed only when it is asked for.
"""

from __future__ import annotations

from concordance.extract.engine import language_of
from concordance.facts.read import Facts
from concordance.model import File
from concordance.query.answers import Answer, Page, Row, paged, qualified

HELP = """Lists every definition in a file, in the order of the text.

\b
concord symbols torch/nn/modules/module.py
concord symbols c10/core/TensorImpl.h --declarations --json
"""
ARGUMENT = "PATH"
FLAGS = {"declarations": "List prototypes and forward declarations, too."}


def answer(facts: Facts, file: File, page: Page) -> Answer:
    """One row a symbol."""
    language = language_of(file.language)
    symbols = facts.of(file.path).symbols
    names = [qualified(symbol, language.separator) for symbol in symbols]
    left_out = language.has_prototypes and "declarations" not in page.flags
    rows: list[Row] = [
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
        if not (left_out and symbol.declaration)
    ]
    hidden = len(symbols) - len(rows)
    note = f"{hidden:,} only declared here: --declarations lists them, too" if hidden else ""
    return paged(rows, ("line", "kind", "qualified", "signature"), page)._replace(note=note)
