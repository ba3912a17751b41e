"""PY-REGEX: a fixed pattern that is compiled again in each iteration of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-REGEX"
TITLE = "Constant pattern compiled in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("compile",)
WHY = (
    "The pattern is the same in each iteration, so it can be compiled once before the loop. `re` caches compiled "
    "patterns, but the cache is limited and each call has to look the pattern up."
)
BAD = 'for line in lines:\n    number = re.compile(r"\\d+")'
GOOD = 'number = re.compile(r"\\d+")\nfor line in lines:\n    …'


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls of `re.compile` with a literal that a loop repeats."""
    for function, call in context.imported_calls("compile"):
        if function in ("re.compile", "regex.compile") and call.arguments and call.loop is not None:
            pattern = call.arguments[0]
            if pattern.type in ("string", "concatenated_string") and not context.text(pattern).lower().startswith(
                ("f", "rf", "fr")
            ):
                yield context.at(call.node, f"`{context.short(pattern)}` is compiled in each iteration of the loop")
