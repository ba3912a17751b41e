"""`concord importers`: list the files that import a file."""

from __future__ import annotations

from concordance.base.model import Role, role_bit
from concordance.query.answers import Answer, AnswerPage, Row, category_rank, paginate
from concordance.query.index.repository import Index
from concordance.query.names.references import import_target
from concordance.query.search.absence import files_searched, not_analysed, unseen

HELP = """List the imports and includes of a file in other files, source before tests.

`names` are the names imported from it; empty if the whole file is imported.

\b
concord importers torch/nn/modules/module.py
concord importers c10/core/TensorImpl.h --json
"""
ARGUMENT = "PATH"

_IMPORT = role_bit(Role.IMPORT)


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per import statement."""
    file = index.file(argument)
    users = index.facts.users(index.facts.id(file.path))
    paths = {index.path_of(user) for user, roles, _ in users if roles & _IMPORT}
    rows: list[Row] = []
    for path in sorted(paths, key=lambda path: (category_rank(index.category_of(path)), path)):
        rows += _in_file(index, path, file.path)
    none = f"no imports of {file.path} found: {files_searched(index)}{unseen(file.language)}"
    note = "" if rows else not_analysed(file) or none
    return paginate(rows, ("path", "line", "names"), page)._replace(note=note)


def _in_file(index: Index, path: str, imported: str) -> list[Row]:
    """Return the statements in one file that import another."""
    names: dict[int, list[str]] = {}
    for row, target, named in index.open_file(path).imports:
        if import_target(index, target, named) == imported:
            line_names = names.setdefault(row.line, [])
            if row.name:
                line_names.append(row.name)
    return [{"path": path, "line": line, "names": line_names} for line, line_names in names.items()]
