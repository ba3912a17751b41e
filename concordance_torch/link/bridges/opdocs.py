"""Documentation of operators: entries that document the Python name of an operator.

In: names in documentation, in full or relative to a module. Out: rows to operators; names that are not operators are
left to other bridges.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.link.bridge_context import BridgeContext
from concordance_torch.link.operator_names import OperatorNames
from concordance_torch.link.operator_tables import Tables

VERBS = {"docstring": ("documents", "is documented by"), "documented": ("documents", "is documented by")}


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join documentation with operators."""
    ends = context.ends("opdocs")
    tables = context.once(Tables)
    if not ends or not tables.operators:
        return
    names = context.once(OperatorNames)
    for stated in ends:
        written, module = stated.end.name, stated.end.text if stated.end.says == "documented" else ""
        for dotted in (f"{module}.{written}" if module else written, written):
            operators = names.of(dotted, stated.file.path)
            if operators:
                more = (("as", dotted),)
                yield stated.to(
                    operators[0].entry, Trust.EXACT, "the name that is documented", name=operators[0].base, more=more
                )
                break
