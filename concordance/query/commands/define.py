"""`concord define`: show where a name is defined."""

from __future__ import annotations

from concordance.query.answers import Answer, AnswerPage, Row, full_name, name_of, paginate
from concordance.query.index.repository import Index
from concordance.query.names.at_position import POSITION, Resolution, ResolvedQuestion, with_definitions
from concordance.query.names.display_names import display_name
from concordance.query.names.environment_variables import definition_rows
from concordance.query.names.resolver import UnknownName, resolve_question

HELP = """Show where a name is defined, given the name or a position where it is used.

Imports and aliases are followed to the final definition; `via` lists them. For a C or C++ declaration, definitions come
first, then declarations. `called` is the public name by which users import a Python definition, if there is one. For an
environment variable, the places that declare it are shown, or else those that read it. `trust` is how certain the
answer is, `by` how it was found.

\b
concord define torch/nn/modules/linear.py:9:21
concord define torch.nn.Module
concord define at::Tensor::add --json
concord define torch/nn/modules/module.py#Module.forward
"""
ARGUMENT = "PATH:LINE:COL or NAME"


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per definition, best first."""
    variable = definition_rows(index, argument)
    try:
        resolved = resolve_question(index, argument)
    except UnknownName:
        if not variable:
            raise
        resolved = ResolvedQuestion([])
    definitions = (
        with_definitions(index, resolved.resolutions)
        if POSITION.fullmatch(argument) is not None
        else resolved.resolutions
    )
    via = ("via",) if any(resolution.via for resolution in definitions) else ()
    columns = ("path", "line", "col", "called", "kind", "trust", "by", *via)
    rows = [_row(index, resolution) for resolution in definitions]
    known = {(row["path"], row["line"]) for row in rows}
    rows += [row for row in variable if (row["path"], row["line"]) not in known]
    return paginate(rows, columns, page)._replace(note=resolved.note)


def _row(index: Index, resolution: Resolution) -> Row:
    place = resolution.place
    return {
        "path": place.path,
        "line": place.line,
        "col": place.col,
        "name": name_of(place),
        "qualified": full_name(place),
        "kind": "module" if place.kind == "file" else place.kind,
        "trust": resolution.trust.name.lower(),
        "by": resolution.by,
        "via": [{"path": path, "line": line} for path, line in resolution.via],
        "called": display_name(index, place),
    }
