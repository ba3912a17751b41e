"""CUDA-LOOP: a loop in which the host waits for the device in each iteration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "CUDA-LOOP"
TITLE = "Device allocation or synchronisation in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = C_FAMILY
TESTS = False
_PLAIN = {
    "Malloc": "allocates device memory", "Free": "frees device memory, which waits for the device",
    "DeviceSynchronize": "waits for the device", "StreamSynchronize": "waits for the stream",
    "Memcpy": "copies and waits", "MallocHost": "allocates pinned memory",
    "HostAlloc": "allocates pinned memory",
}  # fmt: skip
NAMES = tuple(library + name for library in ("cuda", "hip") for name in _PLAIN)
WHY = (
    "The device works asynchronously; each of these calls makes the host wait or takes the driver's lock, so in a "
    "loop host and device take turns. Allocate before the loop, copy with `cudaMemcpyAsync`, and synchronise once "
    "after it."
)
BAD = "for (int i = 0; i < n; i++) {\n  step<<<blocks, threads>>>(i);\n  cudaDeviceSynchronize();\n}"
GOOD = "for (int i = 0; i < n; i++)\n  step<<<blocks, threads>>>(i);\ncudaDeviceSynchronize();"


_DEVICES = re.compile(r"device|gpu|stream|rank|\bstate\b|iter", re.I)
_ONCE = re.compile(r"nullptr|NULL|!\s*\w|empty\(\)|\.size\(\)|==\s*0")


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls that a loop repeats.

    Loops over devices or streams, loops that measure, and calls made only in the first iteration are left out.
    """
    for call in context.calls(*NAMES):
        loop = call.loop
        if call.is_member or loop is None or _DEVICES.search(_head(context, loop)):
            continue
        inside = [node for node in call.around if node.type == "if_statement" and node.start_byte > loop.start_byte]
        if not any(_ONCE.search(context.text(node.child_by_field_name("condition"))) for node in inside):
            what = _PLAIN[call.name.removeprefix("cuda").removeprefix("hip")]
            yield context.at(call.node, f"`{call.name}` {what} in each iteration of the loop")


def _head(context: RuleContext, loop: Node) -> str:
    body = loop.child_by_field_name("body")
    return context.source.slice(loop.start_byte, body.start_byte if body is not None else loop.end_byte)
