"""`concord related`: list the files that are related to a file."""

from __future__ import annotations

from concordance.query.answers import Answer, AnswerPage, Row, paginate
from concordance.query.index.repository import Index
from concordance.query.search.absence import files_searched

HELP = """List the files that are related to a file, best first.

Two files are related if one uses the other, the same files use both, they changed in the same commits, one tests the
other, or they define the same names.

\b
concord related torch/nn/modules/linear.py
"""
ARGUMENT = "PATH"


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per file."""
    file = index.file(argument)
    name = file.path.rpartition("/")[2]
    rows: list[Row] = [
        {"path": related.path, "reasons": [reason.describe(name) for reason in related.reasons], "score": related.score}
        for related in index.neighbours.of(file)
    ]
    note = "" if rows else f"no files related to {file.path} found: {files_searched(index)}"
    return paginate(rows, ("path", "score", "reasons"), page)._replace(note=note)
