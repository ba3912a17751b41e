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
    stated = context.ends("opdocs")
    tables = context.once(Tables)
    if not stated or not tables.operators:
        return
    names = context.once(OperatorNames)
    for one in stated:
        written, module = one.end.name, one.end.text if one.end.says == "documented" else ""
        for dotted in (f"{module}.{written}" if module else written, written):
            found = names.of(dotted, one.file.path)
            if found:
                more = (("as", dotted),)
                yield one.to(found[0].entry, Trust.EXACT, "the name that is documented", name=found[0].base, more=more)
                break
