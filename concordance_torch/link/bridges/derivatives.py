"""Derivatives of operators: the formulas of a table, and the functions that they call.

In: entries with formulas. Out: a row from each formula to its operator, and to the in-place variant if that has no
formula of its own; rows to the C++ functions that formulas call, and to the operators that they call by name.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance_torch.link.kernels import Kernels
from concordance_torch.link.operator_tables import TableOperator, Tables

VERBS = {
    "formula": ("states the derivative of", "gets its derivative from"),
    "formula calls": ("uses in its derivative", "is used by the derivative of"),
}

_NAMESPACES = (("torch", "autograd", "generated", "details"), ("torch", "autograd"))


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join formulas with operators and with the functions they call."""
    ends = context.ends("derivatives", "formula")
    if not ends:
        return
    tables, kernels = context.once(Tables), context.once(Kernels)
    own = {stated.end.name for stated in ends}
    for stated in ends:
        entry = tables.entry(stated)
        for operator, by in _operators(tables, stated, own):
            row = stated.to(operator.entry, Trust.EXACT, by, name=operator.name, more=stated.end.more)
            yield row._replace(source=entry)
        if tables.named(stated.end.name, stated.file.path) is None:
            generating = tables.generating_entry(stated.end.name, stated.file.path)
            by = "generated from the entry" if generating else "no operator of this name in a table"
            yield stated.to(generating, Trust.EXACT, by, more=stated.end.more)._replace(source=entry)
    for stated in context.ends("derivatives", "formula calls"):
        yield from _called_functions(tables, kernels, stated)


def _operators(tables: Tables, one: StatedEnd, own: set[str]) -> Iterator[tuple[TableOperator, str]]:
    """Yield the operator of a formula, and its in-place variant."""
    operator = tables.named(one.end.name, one.file.path)
    if operator is None:
        return
    yield operator, "the name in the table"
    dot, base = operator.name.find("."), operator.name.partition(".")[0]
    beside = f"{base}_{operator.name[dot:]}" if dot >= 0 else f"{base}_"
    other = tables.named(beside, one.file.path) if beside not in own else None
    if other is not None and other.schema.types[:1] == operator.schema.types[:1]:
        yield other, f"in-place form of {operator.schema.local}"


def _called_functions(tables: Tables, kernels: Kernels, stated: StatedEnd) -> Iterator[Bridge]:
    space, _, name = stated.end.text.rpartition("::")
    entry = tables.entry(stated)
    if space == "std":
        return
    functions = kernels.of(stated.end.text, _NAMESPACES, anywhere=False)
    if space in ("", "at") and not functions:
        operators = [other for other in tables.overloads(f"aten::{name}", stated.file.path) if not other.schema.is_out]
        if operators:
            trust = Trust.EXACT if len(operators) == 1 else Trust.CANDIDATE
            by = "operator of this name" if len(operators) == 1 else f"one of {len(operators)} overloads of this name"
            for operator in operators:
                row = stated.to(operator.entry, trust, by, role=Role.CALL, more=(("function", stated.end.text),))
                yield row._replace(source=entry)
            return
    for target in functions or kernels.of(stated.end.text, _NAMESPACES):
        row = stated.to(target.target, target.trust, target.by, role=Role.CALL, more=(("function", stated.end.text),))
        yield row._replace(source=entry)
