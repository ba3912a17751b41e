"""Python functions that are registered for operators, each joined with the operator's entry.

In: registrations, and functions that files of references and symbolics export. Out: rows from the function to the
operator. A function that is only exported counts if its file is among the references (`_refs`) or the symbolics of an
export (`symbolic_opset9.py`), and if there is an operator of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance_torch.link.operator_names import OperatorNames
from concordance_torch.link.operator_tables import TableOperator

VERBS = {
    "decomposition": ("decomposes", "is decomposed by"),
    "reference": ("is a reference of", "has the reference"),
    "meta": ("gives the shape of", "gets its shape from"),
    "lowering": ("lowers", "is lowered by"),
    "symbolic": ("exports", "is exported by"),
}

_SYMBOLICS = re.compile(r"symbolic_\w*\.py$")
_REFERENCES = re.compile(r"(?:^|/)_?refs(?:/|\.py$)")


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join registrations with operators."""
    ends = context.ends("opnames")
    if not ends:
        return
    names = context.once(OperatorNames)
    for stated in ends:
        more = dict(stated.end.more)
        if stated.end.says == "reference" and more.get("by") != "offered" and "::" in stated.end.name:
            yield from _by_full_name(names, stated)
        elif stated.end.says == "reference":
            yield from _reference(context, names, stated)
        elif more.get("by") == "offered":
            yield from _symbolic(names, stated)
        else:
            rows = list(_by_full_name(names, stated))
            yield from rows
            if stated.end.says == "decomposition" and _REFERENCES.search(stated.file.path):
                yield from (row._replace(says="reference") for row in rows)


def _by_full_name(names: OperatorNames, stated: StatedEnd) -> Iterator[Bridge]:
    """Join a registration that gives the full name of its operator."""
    more = dict(stated.end.more)
    operators = names.of_name(stated.end.name, stated.file.path)
    detail = (("as", more["by"]), ("function", stated.end.text))
    if not operators:
        yield stated.to(0, Trust.EXACT, "operator of this name that is in no table", more=detail)
        return
    if more.get("overload") or len(operators) == 1:
        yield stated.to(
            operators[0].entry, Trust.EXACT, "the name that is registered", name=operators[0].name, more=detail
        )
        return
    yield stated.to(
        operators[0].entry, Trust.EXACT, f"the name that is registered, of {len(operators)} overloads", more=detail
    )


def _reference(context: BridgeContext, names: OperatorNames, stated: StatedEnd) -> Iterator[Bridge]:
    """Join a reference, which has its operator's name, and whose module is named like the operator's Python module."""
    if not _REFERENCES.search(stated.file.path):
        return
    module = context.module_of(stated.file.path)
    public_module = re.sub(r"\._?refs\b", "", module) if module else ""
    operators = names.of(f"{public_module}.{stated.end.name}", stated.file.path) or names.of_name(
        f"aten::{stated.end.name}", stated.file.path
    )
    yield from _by_name(operators, stated, "reference of this name")


def _symbolic(names: OperatorNames, stated: StatedEnd) -> Iterator[Bridge]:
    if _SYMBOLICS.search(stated.file.path):
        operators = names.of_name(f"aten::{stated.end.name}", stated.file.path)
        yield from _by_name(operators, stated, "symbolic function of this name")


def _by_name(operators: list[TableOperator], stated: StatedEnd, by: str) -> Iterator[Bridge]:
    if operators:
        yield stated.to(
            operators[0].entry, Trust.UNIQUE_NAME, by, name=operators[0].base, more=(("function", stated.end.text),)
        )
