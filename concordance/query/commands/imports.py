"""`concord imports`: list what a file imports, and which files that leads to."""

from __future__ import annotations

from concordance.base.blocks import count_noun
from concordance.base.model import Import, Origin, Target
from concordance.query.answers import Answer, AnswerPage, Row, paginate
from concordance.query.index.repository import Index
from concordance.query.names.references import import_target
from concordance.query.search.absence import not_analysed

HELP = """List what a file imports or includes, in source order, and what each import resolves to.

`target` is the imported file of the repository; `origin` says where the import comes from, `package` which distribution
or library provides it if it is not in the repository, `by` how it was resolved.

\b
concord imports torch/nn/modules/module.py
"""
ARGUMENT = "PATH"

_COLUMNS = ("path", "line", "module", "name", "alias", "target", "origin")


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per imported name or imported module."""
    file = index.open_file(index.file(argument).path)
    rows = [_row(file.path, row, target, import_target(index, target, named)) for row, target, named in file.imports]
    none = not_analysed(file.file) or f"no imports found in {file.path}: {count_noun(file.file.lines, 'line')} searched"
    return paginate(rows, _COLUMNS, page)._replace(note="" if rows else none)


def _row(path: str, row: Import, target: Target | None, imported: str) -> Row:
    return {
        "module": row.module,
        "name": row.name or None,
        "alias": row.alias or None,
        "line": row.line,
        "target": imported or None,
        "origin": target.origin if target is not None else str(Origin.UNRESOLVED),
        "package": target.package or None if target is not None else None,
        "by": target.by if target is not None else "imports of this language are not resolved",
        "path": path,
    }
