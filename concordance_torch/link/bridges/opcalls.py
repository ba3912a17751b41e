"""C++ code that calls an operator through the function that the build generates from its table entry.

In: calls in the namespaces of such functions. Out: which function calls which operator; of several overloads, the
plainest. A name that the repository defines itself is resolved by the linker, and is not a call of an operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext
from concordance_torch.link.operator_names import sort_plainest_first
from concordance_torch.link.operator_tables import Tables


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join calls with operators."""
    tables = context.once(Tables)
    if not tables.operators:
        return
    seen: set[tuple[int, str]] = set()
    for stated in context.ends("opcalls"):
        name = f"aten::{stated.end.name}"
        overloads = tables.overloads(name, stated.file.path)
        if not overloads or (stated.id, name) in seen or context.targets_of(stated):
            continue
        seen.add((stated.id, name))
        called = sort_plainest_first(
            [other for other in overloads if "function" in other.more.get("variants", "function")]
        )
        if called:
            count = len(called)
            by = "made from the entry of this name" if count == 1 else f"made from one of {count} entries of this name"
            called_name = called[0].name if count == 1 else name
            yield stated.to(called[0].entry, Trust.UNIQUE_NAME, by, name=called_name, role=Role.CALL)
