"""Every definition in a file, nested as in the code.

Where a language declares in one file what another defines, as C does in its headers, a declaration
is no definition, and is listed only when it is asked for.
"""

from __future__ import annotations

from concordance.extract.registry import language_of
from concordance.query.answers import Answer, AnswerPage, Option, Row, paged, qualified
from concordance.query.index.repository import Index
from concordance.query.names.public_names import public_name

HELP = """Lists every definition in a file, in the order of the text.

\b
concord symbols torch/nn/modules/module.py
concord symbols c10/core/TensorImpl.h --declarations --json
"""
ARGUMENT = "PATH"
OPTIONS = (Option("declarations", "List prototypes and forward declarations, too.", bool, False),)


def answer(index: Index, asked: str, page: AnswerPage) -> Answer:
    """One row a symbol."""
    file = index.file(asked)
    language = language_of(file.language)
    symbols = index.facts.of(file.path).symbols
    names = [qualified(symbol, language.separator) for symbol in symbols]
    left_out = language.has_prototypes and not page.options["declarations"]
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
            "called": public_name(index, file.path, symbol.key) or names[place],
        }
        for place, symbol in enumerate(symbols)
        if not (left_out and symbol.declaration)
    ]
    hidden = len(symbols) - len(rows)
    note = f"{hidden:,} only declared here: --declarations lists them, too" if hidden else ""
    return paged(rows, ("line", "kind", "called", "signature"), page)._replace(note=note)
