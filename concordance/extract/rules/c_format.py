"""C-FORMAT: a format string that is not a literal, in a call without arguments to format."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Call, Match, RuleContext

ID = "C-FORMAT"
TITLE = "Non-literal format string"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("printf", "fprintf", "sprintf", "snprintf", "syslog", "wprintf", "warnx", "errx")
WHY = (
    "A `%` in the string is interpreted as a conversion of an argument that was not passed. An attacker who "
    "controls the string can read and write memory with it."
)
BAD = "char *message = next();\nprintf(message);"
GOOD = 'char *message = next();\nprintf("%s", message);'

_FORMAT = {"printf": 0, "wprintf": 0, "fprintf": 1, "sprintf": 1, "syslog": 1, "warnx": 0, "errx": 1,
           "snprintf": 2}  # fmt: skip
_VALUES = frozenset(("identifier", "field_expression", "subscript_expression", "call_expression", "pointer_expression"))


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose last argument is the format, if that is computed at run time."""
    for call in context.library_calls(*NAMES):
        place = _FORMAT[call.name]
        if len(call.arguments) != place + 1 or call.arguments[place].type not in _VALUES:
            continue
        given = call.arguments[place]
        words = context.text(given)
        if words.isupper() or words.startswith(("_(", "gettext(", "gettext (")) or context.holds_literal(words):
            continue
        if given.type == "identifier" and not _is_own(context, call, words):
            continue
        yield context.at(call.node, f"`{call.name}` uses `{context.short(given)}` as its format string")


def _is_own(context: RuleContext, call: Call, name: str) -> bool:
    """True if a variable belongs to the function; a global of another file is usually a fixed string."""
    before = context.source.slice(call.body.start_byte, call.node.start_byte)
    return re.search(rf"[*&\s]{re.escape(name)}\s*[,)=;\[]", before) is not None
