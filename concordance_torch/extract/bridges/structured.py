"""Structured kernels: functions whose names a macro derives from an operator's, `TORCH_IMPL_FUNC(add_out)`.

`TORCH_META_FUNC2(add, Tensor)` defines the function that checks arguments and allocates the result for `add.Tensor`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Kind
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = C_FAMILY
WORDS = (b"TORCH_IMPL_FUNC", b"_META_FUNC")
_MADE = re.compile(r"TORCH_(?:PRECOMPUTE_)?(IMPL|META)_FUNC2?\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the structured kernels of a file, and their meta functions."""
    for definition in context.draft.definitions:
        match = _MADE.fullmatch(definition.name) if definition.kind == Kind.FUNCTION else None
        if match is not None:
            name = "_".join(part for part in match.groups()[1:] if part)
            yield BridgeEnd(definition.at, "implements" if match[1] == "IMPL" else "checks", name, definition.name)
