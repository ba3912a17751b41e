"""C-SCANF: a word of any length read into a buffer of fixed size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-SCANF"
TITLE = "Unbounded `scanf` conversion"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("scanf", "fscanf")
WHY = (
    "`%s` and `%[` read until the input ends or stops matching. A width (`%63s`) limits them to the size of the buffer."
)
BAD = 'fscanf(file, "%s", name);'
GOOD = 'fscanf(file, "%63s", name);'

_OPEN = re.compile(r"%(?:l|h)?(?:s|\[)")


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose format reads text without a width.

    `sscanf` is left out: it reads from memory, which is of limited length.
    """
    for call in context.library_calls(*NAMES):
        for argument in call.arguments[:2]:
            if argument.type in ("string_literal", "concatenated_string"):
                match = _OPEN.search(context.text(argument).replace("%%", ""))
                if match:
                    yield context.at(call.node, f"`{match[0]}` in the format of `{call.name}` has no width")
                break
