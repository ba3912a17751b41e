"""CUDA: what is launched is the `__global__` function that the name means where it is launched."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.link.crossing import Crossing
from concordance.model import Bridge, Role


def join(crossing: Crossing) -> Iterator[Bridge]:
    """Launches and kernels."""
    for one in crossing.ends("launch"):
        for meant in crossing.meant(one):
            yield one.to(meant.target, meant.trust, meant.by, role=Role.CALL)
