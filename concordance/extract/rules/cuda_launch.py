"""CUDA-LAUNCH: a kernel launch whose success is not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "CUDA-LAUNCH"
TITLE = "Unchecked kernel launch"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("cuda",)
TESTS = True
WORDS = (b"<<<",)
WHY = (
    "A launch returns nothing: errors such as too many threads or too much shared memory are only reported by "
    "`cudaGetLastError` after it. Without that check, a kernel that did not run goes unnoticed and its output "
    "keeps its old contents."
)
BAD = "scale<<<blocks, threads>>>(data, n);"
GOOD = "scale<<<blocks, threads>>>(data, n);\nCUDA_CHECK(cudaGetLastError());"

_ERROR_CHECK = re.compile(
    rb"(?:Get|PeekAt)LastError|LAUNCH_CHECK|CHECK_LAUNCH|PostKernelLaunch|(?:CHECK|check|Check)\w{0,80}\s*+\(|(?:CHECK|check)\w{0,80};|ERR(?:OR)?\w{0,80}\s*+\(|[sS]ynchronize\("
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find launches that the rest of the function does not check."""
    at = context.data.find(b"<<<")
    while at >= 0:
        path = context.path(at)
        call = next((node for node in reversed(path) if node.type == "call_expression"), None)
        if call is not None and any(
            child.type == "kernel_call_syntax" and child.start_byte == at for child in call.children
        ):
            body = next((node for node in path if node.type == "function_definition"), None)
            end = body.end_byte if body is not None else call.end_byte
            if body is not None and not _ERROR_CHECK.search(context.data, call.end_byte, end):
                yield context.at(
                    call,
                    f"the launch of `{context.short(call.child_by_field_name('function'))}` is not checked for errors",
                )
        at = context.data.find(b"<<<", at + 3)
