"""PY-ITEM: a loop in which the host fetches single numbers from the device."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-ITEM"
TITLE = "`.item()` in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("item",)
WHY = (
    "`.item()` converts a tensor with one element to a Python number. If the tensor is on a device, this waits for "
    "all pending work, in each iteration of the loop. Collect the tensors and convert them once after the loop "
    "(`.tolist()`)."
)
BAD = "for batch in batches:\n    total += loss(batch).item()"
GOOD = "for batch in batches:\n    total += loss(batch).detach()\ntotal = total.item()"


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls without arguments that a loop repeats, in files that import a tensor library."""
    if not context.imports_any("torch", "jax", "tensorflow", "cupy"):
        return
    for call in context.calls("item"):
        loop = call.loop
        if call.is_member and not call.arguments and loop is not None and not context.is_rare(call, loop):
            yield context.at(
                call.node,
                f"`{context.short(call.receiver)}` is converted to a Python number in each iteration of the loop",
            )
