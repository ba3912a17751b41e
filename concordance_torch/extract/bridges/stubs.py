"""C++ dispatch stubs: names that are called for a device, and the kernels registered under them.

Examples: `DEFINE_DISPATCH(add_stub)`, `REGISTER_DISPATCH(add_stub, &add_kernel)`, `add_stub(device_type(), iter)`. A
call counts as a call of a stub if its first argument is a device, or if its name ends in `_stub`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.text.source_text import OffsetRanges

LANGUAGES = C_FAMILY
WORDS = (b"_DISPATCH(", b"_stub")
_MACRO = re.compile(rb"\b(DECLARE|DEFINE|REGISTER)_(?:([A-Z0-9_]+)_)?DISPATCH\s*\(([^;{}]*?)\)\s*(?:;|$)", re.M)
_NAME = re.compile(rb"((?:\w+\s*::\s*)*)([A-Za-z_]\w*)\s*$")
_KERNEL = re.compile(
    rb"[\s&(]*(?:static_cast<[^>]*>\s*\(\s*&?)?\s*(?:\w+\s*::\s*)*([A-Za-z_]\w*)\s*(?:<[^;]*>)?[\s)]*$"
)
_DEVICE = re.compile(rb"\bk[A-Z]\w*\b|device_type\b|device\(\)\.type\b|\bDeviceType::")
_CALL = re.compile(rb"((?:\b\w+::)*)\b([A-Za-z_]\w*)\s*\(\s*[\w.>():-]*$")
_LONGEST = 2000  # bytes of a macro's arguments
_BACK = 160  # bytes before the first argument in which the called name is searched
_ENDING = re.compile(rb"_stub\b")
_BEFORE = re.compile(rb"((?:\b\w+::)*)\b(\w+)$")
_ARCHITECTURES = ("ARCH", "AVX2", "AVX512", "VSX", "ZVECTOR", "ALL_CPU")
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.M)


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the stubs that a file declares, defines, registers kernels for, or calls."""
    data, names = context.data, context.draft.ends
    blank = OffsetRanges([(match.start(), match.end()) for match in _DIRECTIVE.finditer(data)])
    taken = set[int]()
    for match in _MACRO.finditer(data):
        if match.start() in names and match.start() not in blank:
            for end in _macro(match):
                taken.add(end.at)
                yield end
            taken.update(match.start(3) + at for at, _, _ in _by_name(match[3]))
    for at, within, name in (*_by_device(data), *_by_name(data)):
        if at not in taken and at in names and at not in blank:
            taken.add(at)
            yield BridgeEnd(at, "calls", name.decode(), "", (("within", within.decode()),))


def _by_device(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield calls whose first argument is a device: the name's offset, its qualifier, and the name."""
    for match in _DEVICE.finditer(data):
        start = max(0, match.start() - _BACK)
        call = _CALL.search(data[start : match.start()])
        if call is not None:
            yield start + call.start(2), call[1], call[2]


def _by_name(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield calls of stubs whose names end in `_stub`."""
    for match in _ENDING.finditer(data):
        start = max(0, match.start() - _BACK)
        name = _BEFORE.search(data[start : match.end()])
        if name is not None:
            yield start + name.start(2), name[1], name[2]


def _macro(match: re.Match[bytes]) -> Iterator[BridgeEnd]:
    kind, device = match[1].decode().lower(), (match[2] or b"").decode()
    parts, at = match[3].split(b","), match.start(3)
    if device.startswith("NO_") or len(match[3]) > _LONGEST:
        return
    if kind == "declare":
        name = _NAME.search(parts[-1])
        if name and len(parts) > 1:
            yield BridgeEnd(at + match[3].rindex(b",") + 1 + name.start(2), "declares", name[2].decode())
        return
    name = _NAME.search(parts[0])
    if name is None:
        return
    if kind == "define":
        yield BridgeEnd(at + name.start(2), "defines", name[2].decode())
        return
    written = parts[-1]
    kernel = _KERNEL.match(written)
    if len(parts) > 1 and kernel and kernel[1] != b"nullptr":
        key = "CPU" if device in _ARCHITECTURES else device
        start = at + match[3].rindex(b",") + 1 + kernel.start(1)
        more = (("key", key), ("within", name[1].decode().replace(" ", "")))
        yield BridgeEnd(start, "registers", name[2].decode(), kernel[1].decode(), more)
