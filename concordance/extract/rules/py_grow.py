"""PY-GROW: an array that is copied as a whole each time it grows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Call, Match, RuleContext

ID = "PY-GROW"
TITLE = "Array grown in a loop"
CATEGORY = "performance"
SEVERITY = Severity.WARNING
LANGUAGES = PYTHON
TESTS = False
NAMES = ("cat", "concat", "concatenate", "append", "vstack", "hstack", "stack")
WHY = (
    "Arrays, tensors and data frames cannot grow in place: each iteration creates a new one and copies the old "
    "content, so n iterations copy about n² / 2 pieces. Collect the pieces in a list and join them once after the "
    "loop."
)
BAD = "for part in parts:\n    whole = torch.cat([whole, part])"
GOOD = "whole = torch.cat(list(parts))"

_JOINS = frozenset(
    f"{module}.{name}"
    for module, names in {
        "torch": ("cat", "concat", "concatenate", "vstack", "hstack"),
        "numpy": ("append", "concatenate", "vstack", "hstack"),
        "pandas": ("concat",),
        "jax.numpy": ("append", "concatenate", "vstack", "hstack"),
    }.items()
    for name in names
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find joins in a loop whose result replaces one of the parts, if that part existed before the loop."""
    # `append` is common on lists; only files that import numpy or jax may call it on an array.
    names = NAMES if context.imports_any("numpy", "jax") else tuple(name for name in NAMES if name != "append")
    for function, call in context.imported_calls(*names):
        if function in _JOINS and call.arguments and call.loop is not None:
            name = _grown(context, call)
            if name:
                yield context.at(call.node, f"`{function}` copies all of `{name}` in each iteration of the loop")


def _grown(context: RuleContext, call: Call) -> str:
    """Return the variable that is joined to itself; "" if there is none, or if the loop resets it."""
    around = call.around[-1] if call.around else None
    target = around.child_by_field_name("left") if around is not None and around.type == "assignment" else None
    loop = call.loop
    if target is None or target.type != "identifier" or loop is None:
        return ""
    name = context.text(target)
    first = context.text(call.arguments[0])
    if not re.search(rf"(?:^|[\[(,\s])(?:\*)?{re.escape(name)}(?=[\]),\s]|$)", first):
        return ""
    body = context.source.slice(loop.start_byte, call.around[-1].start_byte)
    return "" if re.search(rf"(?m)^\s*(?:for\s+)?{re.escape(name)}\s*(?:=(?!=)|\bin\b)", body) else name
