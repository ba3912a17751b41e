"""CUDA-UNCHECKED: a CUDA call whose error code is ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Call, Match, RuleContext

ID = "CUDA-UNCHECKED"
TITLE = "Unchecked result of a CUDA call"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
_PLAIN = """
    Malloc Free Memcpy MemcpyAsync Memset MemsetAsync MallocHost HostAlloc FreeHost MallocManaged
    DeviceSynchronize StreamSynchronize StreamCreate StreamCreateWithFlags StreamCreateWithPriority
    StreamWaitEvent EventCreate EventCreateWithFlags EventRecord EventSynchronize EventElapsedTime SetDevice
    GetDevice GetDeviceCount GetDeviceProperties DeviceGetAttribute MemcpyToSymbol MemcpyFromSymbol
    FuncSetAttribute LaunchKernel LaunchCooperativeKernel DeviceReset HostRegister HostUnregister MallocAsync
    FreeAsync DeviceEnablePeerAccess GraphLaunch MemGetInfo Memcpy2D Memcpy2DAsync PointerGetAttributes
    DeviceCanAccessPeer IpcOpenMemHandle IpcGetMemHandle OccupancyMaxActiveBlocksPerMultiprocessor
"""
NAMES = tuple(library + name for library in ("cuda", "hip") for name in _PLAIN.split())
WHY = (
    "The call reports failure through its result, which is ignored. The program continues with memory that was not "
    "copied or not allocated, and the error shows up in some later call, if at all."
)
BAD = "cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost);"
GOOD = "CUDA_CHECK(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost));"


_ERROR_CHECK = re.compile(rb"(?:Get|PeekAt)LastError")
_NOTHING = ("0", "NULL", "nullptr")


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls that are statements of their own and are not followed by a query of the last error."""
    for call in context.calls(*NAMES):
        plain = context.text(call.function) in (call.name, f"::{call.name}")
        if (
            not plain
            or call.name in context.defined
            or not call.around
            or call.around[-1].type != "expression_statement"
        ):
            continue
        behind = b";".join(context.data[call.node.end_byte : call.node.end_byte + 400].split(b";")[:3])
        arguments = [context.text(argument) for argument in call.arguments]
        if (
            not _ERROR_CHECK.search(behind)
            and not (arguments and arguments[0] in _NOTHING)
            and not _is_in_destructor(context, call)
        ):
            yield context.at(call.node, f"the result of `{call.name}` is ignored")


def _is_in_destructor(context: RuleContext, call: Call) -> bool:
    """True if the call is in a destructor, where an error could not be handled."""
    head = context.source.slice(call.body.start_byte, call.node.start_byte).partition("{")[0]
    return "~" in head
