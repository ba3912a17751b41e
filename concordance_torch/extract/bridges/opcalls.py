"""C++ calls of functions that the build generates from a table of operators: `at::add(…)`, `torch::add(…)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = C_FAMILY
WORDS = (b"at::", b"torch::")
_CALLED = re.compile(rb"([a-z_]\w*)\s*\(")
_BEFORE = re.compile(rb"[\w:]")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield each name that is called like this; names in comments and strings are left out."""
    data, names = context.data, context.draft.ends
    for space in WORDS:
        at = data.find(space)
        while at >= 0:
            match = _CALLED.match(data, at + len(space))
            if match is not None and names.get(match.start(1)) == match.end(1) and _is_whole(data, at):
                yield BridgeEnd(match.start(1), "calls", match[1].decode())
            at = data.find(space, at + len(space))


def _is_whole(data: bytes, at: int) -> bool:
    """True if the namespace is not nested in another one: nothing but `::` precedes it."""
    if data[max(0, at - 2) : at] == b"::":
        at -= 2
    return not _BEFORE.match(data, at - 1) if at else True
