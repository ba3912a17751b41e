"""C-SPRINTF: text of any length printed into a buffer of fixed size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-SPRINTF"
TITLE = "Unbounded `sprintf`"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("sprintf", "vsprintf")
WHY = (
    "`%s` writes the whole string, and `sprintf` does not know the size of the buffer. `snprintf` takes the size "
    "and stops there."
)
BAD = 'sprintf(path, "%s/%s", folder, name);'
GOOD = 'snprintf(path, sizeof(path), "%s/%s", folder, name);'

_TEXT = re.compile(r"%[-+ #0]*(?:\d+|\*)?s")


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose format prints text of unknown length without a precision."""
    for call in context.library_calls(*NAMES):
        if len(call.arguments) < 3 or call.arguments[1].type not in ("string_literal", "concatenated_string"):
            continue
        given = call.arguments[2:]
        places = [place for place, sign in enumerate(_signs(context.text(call.arguments[1]))) if _TEXT.fullmatch(sign)]
        texts = [given[place] for place in places if place < len(given)] if call.name == "sprintf" else given
        loose = [
            text
            for text in texts
            if not _is_short(context, context.text(text)) and not context.is_bounded(call, context.text(text))
        ]
        if loose and places:
            words = (
                f"`{call.name}` writes `{context.short(loose[0])}` into `{context.short(call.arguments[0])}` without "
                "checking its size"
            )
            yield context.at(call.node, words)


def _signs(text: str) -> list[str]:
    """Return the conversion for each argument of a format; a `*` width or precision is an argument of its own."""
    signs = []
    for match in re.finditer(r"%(?:%|[-+ #0]*(\*|\d+)?(?:\.(\*|\d*))?(?:hh?|ll?|[zjtLq])?[A-Za-z])", text):
        if match[0] != "%%":
            signs += ["*"] * (match[0].count("*")) + [match[0].replace("*", "")]
    return signs


def _is_short(context: RuleContext, text: str) -> bool:
    """True if the author determines the text's length.

    That is the case for a literal, a variable or table that holds literals, a macro, and a conditional between such
    texts.
    """
    text = text.strip().removeprefix("(").removesuffix(")").strip()
    if "?" in text:
        return all(_is_short(context, part) for part in text.partition("?")[2].split(":"))
    return text.startswith('"') or text.isupper() or context.holds_literal(text)
