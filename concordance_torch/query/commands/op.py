"""`concord op`: show the parts of a PyTorch operator: schemas, kernels, tests."""

from __future__ import annotations

from difflib import get_close_matches

from concordance.base.errors import UserError
from concordance.base.model import Bridge, Trust
from concordance.query.answers import Answer, AnswerPage, Row, full_name, paginate
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance_torch.link.documented_names import STRUCTURED_META
from concordance_torch.query.operators import (
    COLUMNS,
    KERNEL,
    META,
    SCHEMA,
    OperatorInfo,
    bridge_detail,
    candidate_names,
    coverage_of,
    names,
    operator,
    without_overload,
)

HELP = """Show the parts of an operator, each with the line that states it.

Parts are its schemas, the kernel of each dispatch key, its derivative, decomposition, meta function, lowering, tests,
documentation and callers. NAME is the name of the operator, of one overload, or the name that Python code uses.

\b
concord op add
concord op aten::add.Tensor --json
concord op torch.nn.functional.softmax
"""
ARGUMENT = "NAME"
_ORDER = (
    SCHEMA, KERNEL, "stub", "formula", "formula calls", "decomposition", "reference", META, STRUCTURED_META, "lowering",
    "symbolic", "opinfo", "docstring", "documented", "python",
)  # fmt: skip
_COLUMNS = ("path", "line", "says", "name", "key", "target", "trust", "by")


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per statement about the operator."""
    info, overload = _find_operator(index, argument)
    rows = [row for says in dict.fromkeys((*_ORDER, *info.rows)) for row in info.rows.get(says, ())]
    if overload:
        rows = [row for row in rows if row.name in (overload, info.name)]
    lacking = [column for column in COLUMNS if not coverage_of(info)[column]]
    note = f"not found: {', '.join(lacking)}; searched all files of the repository" if lacking else ""
    return paginate([_row(index, row) for row in rows], _COLUMNS, page)._replace(note=note)


def _find_operator(index: Index, argument: str) -> tuple[OperatorInfo, str]:
    """Return the operator that a name refers to, and the overload's full name if it names one."""
    known = names(index)
    if not known:
        raise UserError("no operators found in this repository", "An operator needs a schema in a table or a registry")
    for name in candidate_names(argument):
        info = operator(index, without_overload(name))
        if info is not None:
            overloads = {overload.name for overload in info.overloads}
            if name in overloads and "." in name:
                return info, name
            if "." not in name.rpartition("::")[2] or without_overload(name) in overloads:
                return info, ""
    same = [name for name in known if name.rpartition("::")[2] == argument.rpartition(".")[2]]
    if len(same) == 1 and (info := operator(index, same[0])) is not None:
        return info, ""
    near = same or get_close_matches(candidate_names(argument)[0], known, 3, 0.6)
    hint = f"Nearest: {', '.join(near)}" if near else f"The book has an index of all {len(known):,} operators"
    raise UserError(f"no operator is called {argument}", hint)


def _row(index: Index, row: Bridge) -> Row:
    path, line = index.path_of(row.source), bridges_of(index).line(row)
    source, target = index.facts.place(row.source), index.facts.place(row.target) if row.target else None
    return {
        "says": row.says,
        "name": row.name,
        "key": bridge_detail(row, "key"),
        "path": path,
        "line": line or (source.line if source is not None else 1),
        "target": full_name(target) if target is not None else "",
        "target_path": target.path if target is not None else "",
        "target_line": target.line if target is not None else 0,
        "trust": Trust(row.trust).name.lower(),
        "by": row.by,
        "more": dict(row.more),
    }
