"""PY-EXEC: text that is run as code."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, PYTHON, Match, RuleContext

ID = "PY-EXEC"
TITLE = "String executed as code"
CATEGORY = "security"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("exec", "eval")
WHY = (
    "Anyone who controls part of the string can run code with the privileges of the program, so its origin must be "
    "known. To read values, use `ast.literal_eval` or `json.loads`."
)
BAD = "eval(text)"
GOOD = "ast.literal_eval(text)"


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls of the built-in functions whose text is not a literal."""
    for call in context.calls(*NAMES):
        written = context.text(call.function)
        plain = written == f"builtins.{call.name}" or (
            written == call.name and call.name not in context.defined and call.name not in context.bound
        )
        if plain and call.arguments and call.arguments[0].type not in LITERALS:
            yield context.at(call.node, f"`{call.name}` executes `{context.short(call.arguments[0])}` as code")
