"""PY-CPU: a copy from the device in each iteration of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-CPU"
TITLE = "Tensor copied to the host in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("cpu",)
WHY = (
    "In each iteration, `.cpu()` waits for the device to finish and copies the tensor, and the next call converts "
    "it to Python or NumPy values. Keep working on tensors in the loop, and convert the result once after it."
)
BAD = "for batch in batches:\n    right += (model(batch).cpu().numpy() == batch.label).sum()"
GOOD = "for batch in batches:\n    right += (model(batch) == batch.label).sum()\nright = right.item()"

_NUMBERS = frozenset(("numpy", "tolist", "item"))


def find(context: RuleContext) -> Iterator[Match]:
    """Find `.cpu().numpy()` and similar calls that a loop repeats, in files that import torch.

    Calls made only every N iterations are left out.
    """
    if not context.imports_any("torch"):
        return
    for call in context.calls("cpu"):
        around = call.around[-1] if call.around else None
        if not call.is_member or call.arguments or around is None or around.type != "attribute":
            continue
        loop = call.loop
        is_number = context.text(around.child_by_field_name("attribute")) in _NUMBERS
        if is_number and loop is not None and not context.is_rare(call, loop):
            yield context.at(
                call.node, f"`{context.short(call.receiver)}` is copied to the host in each iteration of the loop"
            )
