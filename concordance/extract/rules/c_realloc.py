"""C-REALLOC: the only pointer to a block is overwritten with a result that may be null."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Call, Match, RuleContext

ID = "C-REALLOC"
TITLE = "Memory leak if `realloc` fails"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("realloc", "reallocarray")
WHY = (
    "If `realloc` fails, it returns null and leaves the old block allocated. The only pointer to that block has "
    "just been overwritten, so it can be neither used nor freed."
)
BAD = "items = realloc(items, size);"
GOOD = "void* larger = realloc(items, size);\nif (larger)\n  items = larger;"


_ENDS = re.compile(rb"\b(?:exit|_exit|abort|die|panic|fatal|err|errx|BUG_ON|assert\w*|\w+_assert|\w*ASSERT\w*)\s*\(")

_FARTHEST = 4000  # bytes after a call in which its result may be tested
_NEXT = re.compile(rb"\)*+\s*+;\s*+(?:if\s*\([^{;]*?\)\s*(?:\{[^}]*\}|[^;]*;)|[^;]*;)")


def find(context: RuleContext) -> Iterator[Match]:
    """Find results assigned to the pointer passed in, unless the program ends if the allocation fails."""
    for call in context.library_calls(*NAMES):
        if len(call.arguments) < 2 or context.text(call.arguments[1]) == "0":  # size 0 frees the block
            continue
        old = re.sub(r"\s", "", context.text(call.arguments[0]))
        start = context.data.rfind(b"\n", 0, call.node.start_byte) + 1
        line = context.source.slice(start, call.node.start_byte)
        match = re.match(r"(?:.*[;{])?\s*([\w.>\[\]*-]+)\s*=(?:\s*\([^()]*\)|\s*\w+_cast<[^<>]*>\()?\s*$", line)
        if match is None or re.sub(r"\s", "", match[1]) != old:
            continue
        behind = _NEXT.match(context.data, call.node.end_byte, call.node.end_byte + _FARTHEST)
        if not (behind and _ENDS.search(behind[0])) and not _is_known_elsewhere(context, call, old):
            yield context.at(call.node, f"`{old}` is lost if `{call.name}` fails")


def _is_known_elsewhere(context: RuleContext, call: Call, old: str) -> bool:
    """True if the block is also known under another name: a copy of the pointer, or a parameter."""
    before = context.source.slice(call.body.start_byte, call.node.start_byte)
    word = re.escape(old)
    as_parameter = rf"^[^{{]*[*\s]{word}\s*[,)]" if old.isidentifier() else r"(?!)"
    return (
        re.search(rf"=\s*{word}\s*;|(?<![\w>.]){word}\s*=\s*[A-Za-z_]\w*(?:->|\.|\[)|{as_parameter}", before)
        is not None
    )
