"""C-ALLOCA: stack memory whose size depends on a variable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-ALLOCA"
TITLE = "Stack allocation of variable size"
CATEGORY = "security"
SEVERITY = Severity.INFO
LANGUAGES = C_FAMILY
TESTS = False
NAMES = ("alloca", "_alloca", "__builtin_alloca", "__builtin_alloca_with_align")
WHY = (
    "`alloca` cannot report failure: if the size exceeds the remaining stack, writes go past its end. The size "
    "must be bounded before the call."
)
BAD = "char* copy = alloca(length);"
GOOD = "std::vector<char> copy(length);"


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose size is computed from a variable."""
    for call in context.library_calls(*NAMES):
        size = context.text(call.arguments[0]) if call.arguments else ""
        if _variables(size):
            yield context.at(
                call.node, f"`{call.name}` allocates `{context.short(call.arguments[0])}` bytes on the stack"
            )


def _variables(size: str) -> list[str]:
    """Return the names in a size expression that do not look like constants, leaving out `sizeof(…)`."""
    return [
        word for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"\bsizeof\s*\([^()]*\)", "", size)) if not word.isupper()
    ]
