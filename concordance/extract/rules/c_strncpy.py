"""C-STRNCPY: a bound that is taken from the source instead of the destination."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-STRNCPY"
TITLE = "Copy bounded by the size of its source"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("strncpy", "strncat")
WHY = (
    "The bound should be the size of the destination. The length of the source limits nothing, and the copy may "
    "lack its terminating zero."
)
BAD = "strncpy(name, given, strlen(given));"
GOOD = 'snprintf(name, sizeof(name), "%s", given);'


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose bound is the length or size of the second argument."""
    for call in context.library_calls(*NAMES):
        if len(call.arguments) != 3:
            continue
        source, bound = (re.sub(r"\s", "", context.text(argument)) for argument in call.arguments[1:])
        if bound.removeprefix("std::").startswith((f"strlen({source})", f"sizeof({source})")) or (
            source.endswith(".c_str()") and bound.startswith((source[:-8] + ".size()", source[:-8] + ".length()"))
        ):
            yield context.at(
                call.node, f"`{call.name}` is bounded by the size of its source, `{context.short(call.arguments[1])}`"
            )
