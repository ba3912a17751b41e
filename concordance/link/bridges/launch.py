"""CUDA launches, joined with the `__global__` functions that they run.

The linker's target of the name counts if it is a kernel. In the body of a macro, where the linker has no target, the
name decides: the kernels of the same file, else the only kernel of that name in the repository.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join launches with kernels."""
    kernels = {stated.id for stated in context.ends("launch", "is a kernel")}
    named: dict[str, list[StatedEnd]] = {}
    for stated in context.ends("launch", "is a kernel"):
        named.setdefault(stated.end.name, []).append(stated)
    for stated in context.ends("launch", "launches"):
        targets = [target for target in context.targets_of(stated) if target.target in kernels]
        for target in targets:
            yield stated.to(target.target, target.trust, target.by, role=Role.CALL)
        if not targets:
            yield from _by_name(stated, named.get(stated.end.name, []))


def _by_name(stated: StatedEnd, kernels: list[StatedEnd]) -> Iterator[Bridge]:
    """Yield the kernels of a name: those of the same file, or the only one."""
    own = [kernel for kernel in kernels if kernel.file.path == stated.file.path]
    if own:
        trust, by = Trust.EXACT, "kernel of this file"
        if len(own) > 1:
            trust, by = Trust.CANDIDATE, "one of this file's kernels"
    elif len({kernel.id for kernel in kernels}) == 1:
        trust, by = Trust.UNIQUE_NAME, "only kernel of this name"
    else:
        return
    for kernel in own or kernels:
        yield stated.to(kernel.id, trust, by, role=Role.CALL)
