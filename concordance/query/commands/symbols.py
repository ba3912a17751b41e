"""`concord symbols`: list every definition in a file.

In languages that declare in one file what another defines, as C does in headers, declarations are not definitions and
are listed only on request.
"""

from __future__ import annotations

from concordance.extract.registry import language_of
from concordance.query.answers import Answer, AnswerPage, Option, Row, paginate, qualified
from concordance.query.index.repository import Index
from concordance.query.names.display_names import public_name
from concordance.query.search.absence import not_analysed

HELP = """List every definition in a file, in source order.

\b
concord symbols torch/nn/modules/module.py
concord symbols c10/core/TensorImpl.h --declarations --json
"""
ARGUMENT = "PATH"
OPTIONS = (Option("declarations", "Also list prototypes and forward declarations.", bool, False),)


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per symbol."""
    file = index.file(argument)
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
            "path": file.path,
        }
        for place, symbol in enumerate(symbols)
        if not (left_out and symbol.declaration)
    ]
    hidden = len(symbols) - len(rows)
    note = f"{hidden:,} only declared here: add --declarations to list them" if hidden else ""
    if file.skip:
        note = f"{file.path} was not read: {file.note or file.skip.replace('_', ' ')}"
    elif not symbols:
        none = f"no definitions in {file.path}" if file.language else f"{file.path} is in no language that is read"
        note = not_analysed(file) or none
    return paginate(rows, ("path", "line", "called", "kind", "signature"), page)._replace(note=note)
