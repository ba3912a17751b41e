"""PY-LISTHEAD: a list whose elements all move because the first one is taken or inserted."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-LISTHEAD"
TITLE = "Insertion or removal at the head of a list in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("pop", "insert")
WHY = (
    "A list is a contiguous array: inserting or removing its first element moves all the others. "
    "`collections.deque` does both at either end in constant time."
)
BAD = "while queue:\n    visit(queue.pop(0))"
GOOD = "queue = collections.deque(start)\nwhile queue:\n    visit(queue.popleft())"


def find(context: RuleContext) -> Iterator[Match]:
    """Find `pop(0)` and `insert(0, …)` that a loop repeats."""
    for call in context.calls(*NAMES):
        wanted = 1 if call.name == "pop" else 2
        if (
            not call.is_member
            or len(call.arguments) != wanted
            or context.text(call.arguments[0]) != "0"
            or call.loop is None
        ):
            continue
        receiver = context.short(call.receiver)
        if receiver != "sys.path":
            yield context.at(
                call.node, f"`{call.name}` at the head of `{receiver}` moves all other elements in each iteration"
            )
