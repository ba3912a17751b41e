"""CUDA: the launch of a kernel, `kernel<<<grid, block>>>(…)`, by the name that is launched."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import Look

LANGUAGES = ("cuda", "cpp")
WORDS = (b"<<<",)
_LAUNCH = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<(?!<)[^;{}]*>)?\s*<<<")


def ends(look: Look) -> Iterator[Said]:
    """The kernels that a file launches."""
    for match in _LAUNCH.finditer(look.data):
        name = match[1].decode()
        if not look.in_comment(match.start()):
            yield Said(match.start(1), "launches", name, name)
