"""JS-EVAL: text that is run as code."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, SCRIPTS, Match, RuleContext

ID = "JS-EVAL"
TITLE = "String evaluated as code"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = SCRIPTS
TESTS = False
NAMES = ("eval", "Function")
WHY = (
    "Anyone who controls part of the string can run code with the privileges of the page or program. It also "
    "prevents the engine from optimising the surrounding code."
)
BAD = "eval(expression);"
GOOD = "JSON.parse(expression);"


def find(context: RuleContext) -> Iterator[Match]:
    """Find `eval(…)` and `new Function(…)` whose argument is not a literal."""
    for call in context.calls(*NAMES):
        plain = not call.is_member and call.name not in context.defined
        if plain and call.arguments and call.arguments[-1].type not in LITERALS:
            yield context.at(call.node, f"`{call.name}` evaluates `{context.short(call.arguments[-1])}` as code")
