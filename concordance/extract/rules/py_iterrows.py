"""PY-ITERROWS: a data frame that is read row by row."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-ITERROWS"
TITLE = "Iteration over the rows of a data frame"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("iterrows",)
WHY = (
    "A data frame is stored by columns. `iterrows` creates a new series of mixed type for each row; an operation "
    "on whole columns, or `itertuples`, is faster by orders of magnitude."
)
BAD = "for _, row in frame.iterrows():\n    total += row.price * row.count"
GOOD = "total = (frame.price * frame.count).sum()"


def find(context: RuleContext) -> Iterator[Match]:
    """Find all calls without arguments."""
    for call in context.calls("iterrows"):
        if call.is_member and not call.arguments:
            yield context.at(call.node, f"`{context.short(call.receiver)}` is iterated row by row")
