"""Dispatch stubs of C++: a name that is called for a device, and the kernels that are registered under it.

`DEFINE_DISPATCH(add_stub)`, `REGISTER_DISPATCH(add_stub, &add_kernel)`, `add_stub(device_type(), iter)`. What is called
as a stub is called is told apart from other calls by its first argument, a device, or by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look

LANGUAGES = C_FAMILY
WORDS = (b"_DISPATCH", b"_stub", b"device_type()", b"kCPU", b"kCUDA", b"kMPS", b"device().type()")
_MACRO = re.compile(rb"\b(DECLARE|DEFINE|REGISTER)_(?:([A-Z0-9_]+)_)?DISPATCH\s*\(([^;{}]*?)\)\s*(?:;|$)", re.M)
_NAME = re.compile(rb"((?:\w+\s*::\s*)*)([A-Za-z_]\w*)\s*$")
_KERNEL = re.compile(
    rb"[\s&(]*(?:static_cast<[^>]*>\s*\(\s*&?)?\s*(?:\w+\s*::\s*)*([A-Za-z_]\w*)\s*(?:<[^;]*>)?[\s)]*$"
)
_DEVICE = rb"(?:(?:at|c10)::)?(?:k[A-Z]\w*\b|[\w.>()-]*device(?:_type\b|\(\)\.type\b)|(?:c10::)?DeviceType::)"
_CALL = re.compile(rb"((?:\b\w+::)*)\b([A-Za-z_]\w*)\s*\(\s*" + _DEVICE)
_BY_NAME = re.compile(rb"((?:\b\w+::)*)\b(\w+_stub)\b")
_ARCHITECTURES = ("ARCH", "AVX2", "AVX512", "VSX", "ZVECTOR", "ALL_CPU")
_DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", re.M)


def ends(look: Look) -> Iterator[Said]:
    """The stubs that a file declares, defines, fills or calls."""
    data = look.data
    blank = [(match.start(), match.end()) for match in _DIRECTIVE.finditer(data)]
    taken = set[int]()
    for match in _MACRO.finditer(data):
        if not look.in_comment(match.start()) and not _inside(blank, match.start()):
            for said in _macro(match):
                taken.add(said.at)
                yield said
            taken.update(match.start(3) + other.start(2) for other in _BY_NAME.finditer(match[3]))
    for match in (*_CALL.finditer(data), *_BY_NAME.finditer(data)):
        at = match.start(2)
        if at not in taken and not look.in_comment(at) and not _inside(blank, at):
            taken.add(at)
            yield Said(at, "calls", match[2].decode(), "", (("within", match[1].decode()),))


def _macro(match: re.Match[bytes]) -> Iterator[Said]:
    kind, device = match[1].decode().lower(), (match[2] or b"").decode()
    parts, at = match[3].split(b","), match.start(3)
    if device.startswith("NO_"):
        return
    if kind == "declare":
        name = _NAME.search(parts[-1])
        if name and len(parts) > 1:
            yield Said(at + match[3].rindex(b",") + 1 + name.start(2), "declares", name[2].decode())
        return
    name = _NAME.search(parts[0])
    if name is None:
        return
    if kind == "define":
        yield Said(at + name.start(2), "defines", name[2].decode())
        return
    written = parts[-1]
    kernel = _KERNEL.match(written)
    if len(parts) > 1 and kernel and kernel[1] != b"nullptr":
        key = "CPU" if device in _ARCHITECTURES else device
        start = at + match[3].rindex(b",") + 1 + kernel.start(1)
        more = (("key", key), ("within", name[1].decode().replace(" ", "")))
        yield Said(start, "registers", name[2].decode(), kernel[1].decode(), more)


def _inside(stretches: list[tuple[int, int]], at: int) -> bool:
    return any(start <= at < end for start, end in stretches)
