"""Which files belong with a file."""

from __future__ import annotations

from concordance.query.answers import Answer, AnswerPage, Row, paged
from concordance.query.index.repository import Index

HELP = """Lists the files that belong with a file, best first.

Reasons: it uses the other or is used by it, the same files use both, they changed in the same commits, one is the test
of the other, they define the same names.

\b
concord related torch/nn/modules/linear.py
"""
ARGUMENT = "PATH"


def answer(index: Index, asked: str, page: AnswerPage) -> Answer:
    """One row a file."""
    file = index.file(asked)
    name = file.path.rpartition("/")[2]
    rows: list[Row] = [
        {"path": one.path, "reasons": [reason.said(name) for reason in one.reasons], "score": one.score}
        for one in index.neighbours.of(file)
    ]
    note = "" if rows else f"nothing belongs with {file.path}: {len(index.bases):,} files searched"
    return paged(rows, ("path", "score", "reasons"), page)._replace(note=note)
