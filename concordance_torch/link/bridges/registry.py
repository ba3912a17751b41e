"""Operators that are registered in C++ or in Python, with the functions that implement them.

In: the schemas and kernels of registrations. Out: a row for each schema and each kernel; if a table defines the
operator, also one from its entry to the kernel, so that call paths continue through the operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, LinkedName, StatedEnd
from concordance_torch.link.operator_tables import Tables
from concordance_torch.link.registered_kernels import BRIDGES, RegisteredKernels

VERBS = {"schema": ("states the schema of", "gets its schema from")}


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join registrations with functions."""
    tables = context.once(Tables)
    for bridge in BRIDGES:
        for stated in context.ends(bridge, "schema"):
            yield stated.to(stated.id, Trust.EXACT, "schema that is registered", more=stated.end.more)
    for stated, kernels in context.once(RegisteredKernels).all:
        yield from _kernel(tables, stated, kernels)


def _kernel(tables: Tables, stated: StatedEnd, kernel: list[LinkedName]) -> Iterator[Bridge]:
    more = (*stated.end.more, ("kernel", stated.end.text))
    for target in kernel:
        yield stated.to(target.target, target.trust, target.by, more=more)
    if not kernel:
        yield stated.to(0, Trust.EXACT, "function not found", more=more)
    operator = tables.named(stated.end.name, stated.file.path)
    if operator is not None and operator.end.end.bridge not in BRIDGES:
        for target in kernel:
            by = f"registered in {stated.file.path}"
            row = stated.to(target.target, target.trust, by, role=Role.CALL, more=more)
            yield row._replace(says="registered", source=operator.entry, end=-1)
