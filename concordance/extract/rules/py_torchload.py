"""PY-TORCHLOAD: a checkpoint that may run code when it is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Call, Match, RuleContext

ID = "PY-TORCHLOAD"
TITLE = "`torch.load` without `weights_only=True`"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = PYTHON
TESTS = False
NAMES = ("load",)
WHY = (
    "A checkpoint is a pickle, and loading a pickle can call any function. `weights_only=True` loads only tensors "
    "and plain values. It has been the default only since PyTorch 2.6, so a call that does not set it depends on "
    "the installed version."
)
BAD = "torch.load(path)"
GOOD = "torch.load(path, weights_only=True)"


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls of torch's own `load` without `weights_only=True`."""
    for function, call in context.imported_calls("load"):
        if function not in ("torch.load", "torch.serialization.load"):
            continue
        argument = call.keyword("weights_only")
        if any(node.type == "dictionary_splat" for node in call.arguments) or _is_own(context, call):
            continue
        if argument is None:
            yield context.at(
                call.node,
                "`torch.load` without `weights_only`: before PyTorch 2.6 the file can run code",
                Severity.INFO,
            )
        elif context.text(argument) == "False":
            yield context.at(call.node, "`torch.load` with `weights_only=False` lets the file run code")


def _is_own(context: RuleContext, call: Call) -> bool:
    """True if the same function has saved the file before."""
    name = context.text(call.arguments[0]) if call.arguments else ""
    before = context.source.slice(call.body.start_byte, call.node.start_byte)
    return bool(name) and re.search(rf"\bsave\([^\n]*,\s*{re.escape(name)}\s*[,)]", before) is not None
