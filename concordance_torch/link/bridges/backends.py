"""Kernels of a backend, found through its table: methods of the class that the table names, `XLANativeFunctions::add`.

In: the operators that a backend's table lists. Out: rows to their kernels, and from the operators' entries to these. An
operator that no operator table defines gives no row.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, LinkedName
from concordance_torch.link.kernels import Kernels
from concordance_torch.link.operator_tables import Tables

READS = ("overloads",)


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """Join the listed operators with methods."""
    tables, kernels = crossing.once(Tables), crossing.once(Kernels)
    for one in crossing.ends("backends", "kernel"):
        operator = tables.named(one.end.name, one.file.path)
        if operator is None:
            continue
        name = operator.schema.base + ("_out" if operator.schema.is_out else "")
        more = (*one.end.more, ("kernel", f"{one.end.text}::{name}" if one.end.text else name))
        found: list[LinkedName] = []
        for ending in ("", "_symint") if one.end.text else ():  # "_symint": the variant with symbolic sizes
            found = found or kernels.of(f"{one.end.text}::{name}{ending}", ((),), operator.schema, anywhere=False)
        for meant in found:
            yield one.to(meant.target, meant.trust, meant.by, more=more)
            by = f"listed in {one.file.path}"
            row = one.to(meant.target, meant.trust, by, role=Role.CALL, more=more)
            yield row._replace(says="registered", source=operator.entry, end=-1)
        if not found:
            why = "no definition of this name found" if one.end.text else "kernel that the build makes"
            none = LinkedName(0, Trust.EXACT, why)
            yield one.to(none.target, none.trust, none.by, more=more)
