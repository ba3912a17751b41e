"""PY-SYNCHRONIZE: a loop that waits for the device, or empties its cache, in each iteration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-SYNCHRONIZE"
TITLE = "Device synchronisation in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
NAMES = ("synchronize", "empty_cache")
WHY = (
    "The host is meant to run ahead of the device. If each iteration waits for the device, or releases cached "
    "memory that must then be allocated again, host and device idle in turn. Benchmarks need this; elsewhere, "
    "synchronise after the loop."
)
BAD = "for batch in batches:\n    step(batch)\n    torch.cuda.synchronize()"
GOOD = "for batch in batches:\n    step(batch)\ntorch.cuda.synchronize()"

_MEASURES = re.compile(rb"\btime\.|perf_counter|elapsed|[Tt]imer|\.record\(")
_WHAT = {"synchronize": "waits for the device", "empty_cache": "releases cached device memory"}


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls of torch's own functions that a loop repeats, except where time is measured."""
    for function, call in context.imported_calls(*NAMES):
        is_torchs = function.startswith("torch.") and function.count(".") == 2
        near = context.data[max(0, call.node.start_byte - 200) : call.node.end_byte + 200]
        if is_torchs and call.loop is not None and not _MEASURES.search(near):
            yield context.at(call.node, f"`{function}` {_WHAT[call.name]} in each iteration of the loop")
