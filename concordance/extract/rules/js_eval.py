"""JS-EVAL: text that is run as code."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, SCRIPTS, Match, RuleContext

ID = "JS-EVAL"
TITLE = "Text run as code"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = SCRIPTS
TESTS = False
NAMES = ("eval", "Function")
WHY = (
    "Whoever can write a part of the text can run code with the rights of the page or program. It also keeps the "
    "engine from compiling what is around it."
)
BAD = "eval(expression);"
GOOD = "JSON.parse(expression);"


def find(look: RuleContext) -> Iterator[Match]:
    """Find `eval(…)` and `new Function(…)` whose argument is not a literal."""
    for call in look.calls(*NAMES):
        plain = not call.is_member and call.name not in look.defined
        if plain and call.arguments and call.arguments[-1].type not in LITERALS:
            yield look.at(call.node, f"`{call.name}` runs `{look.short(call.arguments[-1])}` as code")
