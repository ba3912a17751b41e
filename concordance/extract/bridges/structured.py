"""Structured kernels: functions whose names a macro makes of an operator's, `TORCH_IMPL_FUNC(add_out)`.

`TORCH_META_FUNC2(add, Tensor)` is what checks and allocates for `add.Tensor`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look

LANGUAGES = C_FAMILY
WORDS = (b"TORCH_IMPL_FUNC", b"_META_FUNC")
_MADE = re.compile(rb"\bTORCH_(?:PRECOMPUTE_)?(IMPL|META)_FUNC2?\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)\s*\(")
_BEHIND = re.compile(rb"\bdefine\b[^\n]*$")


def ends(look: Look) -> Iterator[Said]:
    """The structured kernels of a file, and what checks for them."""
    for match in _MADE.finditer(look.data):
        line = look.data[look.data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if not _BEHIND.search(line) and match.start() in look.draft.ends:
            name = b"_".join(part for part in match.groups()[1:] if part).decode()
            yield Said(match.start(), "implements" if match[1] == b"IMPL" else "checks", name, name)
