"""GPU kernels and their launches: `kernel<<<grid, block>>>(…)`, or runtime functions that take a kernel.

In: a file of CUDA or C++. Out: an end ("launches") for each kernel's name where it is launched, and one ("is a
kernel") for each `__global__` function, so that nothing else is taken for a kernel. Launches are found in the text,
not in the syntax tree, because a launch may be in a macro, whose body is not parsed: the text before `<<<` is read
backwards, over template arguments and brackets. A macro that launches one of its parameters counts as launching what
its file passes to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Kind
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ("cuda", "cpp")
WORDS = (b"<<<", b"__global__", b"LaunchKernel", b"LaunchCooperativeKernel")
_SIGN = re.compile(rb"(?<!<)<<<(?!<)")
# A runtime function that takes a kernel, up to the kernel's name: `cudaLaunchKernel((void*)add,`
_GIVEN = re.compile(
    rb"\b(?:(?:cuda|hip)Launch(?:Cooperative)?Kernel(?:GGL|Ex|ExC)?)\s*\(\s*(?P<first>&\w+\s*,\s*)?"
    rb"(?:\(\s*(?:const\s+)?void\s*\*\s*\)|reinterpret_cast<\s*(?:const\s+)?void\s*\*\s*>\s*\(|HIP_KERNEL_NAME\s*\()?"
    rb"[(&\s]*+(?P<name>(?:::)?(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*)\s*(?P<end>[<),])"
)
# The name at the end of a text, without its qualifiers
_LAST_NAME = re.compile(rb"(?:(?:^|[^\w:])(?:::)?(?:[A-Za-z_]\w*\s*::\s*)*)([A-Za-z_]\w*)\Z")
_NAME = re.compile(rb"[\s\\(&]*((?:\w+\s*::\s*)*)([A-Za-z_]\w*)\s*(?:<.*>)?[\s\\)]*", re.S)
_BLANK = b" \t\r\n\\"
_FARTHEST = 2000  # bytes of template arguments before a launch that are searched
_NO_CODE = frozenset(("comment", "string_content", "string_literal", "raw_string_literal", "raw_string_content"))
_KEYWORDS = frozenset((b"operator", b"return", b"template", b"typename", b"sizeof"))


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the kernels that a file launches and defines."""
    data = context.data
    if b"__global__" in data:
        for definition in context.draft.definitions:
            # There may be directives between the specifier and the name.
            if definition.kind == Kind.FUNCTION and b"__global__" in data[definition.start : definition.at]:
                yield BridgeEnd(definition.at, "is a kernel", definition.name, definition.name)
    for match in _SIGN.finditer(data):
        if not _is_code(context, match.start()):
            continue
        name = _launched_name(data, match.start())
        if name is not None:
            yield from _launched(context, *name)
    if b"Launch" in data:
        for match in _GIVEN.finditer(data):
            if _is_code(context, match.start()):
                at = match.start("name") + match["name"].rfind(b":") + 1
                yield from _launched(context, at, match.end("name"))


def _is_code(context: RuleContext, at: int) -> bool:
    path = context.path(at)
    return not context.in_comment(at) and not any(node.type in _NO_CODE for node in path[-3:])


def _launched_name(data: bytes, at: int) -> tuple[int, int] | None:
    """Return the extent of the name that is launched at `<<<`; None if there is none."""
    at = _skip_blanks_back(data, at)
    least = max(0, at - _FARTHEST)
    if at and data[at - 1 : at] == b")":
        opened = _opening(data, at, least, b"(", b")")
        inner = _skip_blanks_back(data, at - 1)
        if opened is None or not data[opened + 1 : inner].strip(_BLANK):
            return None
        # `(kernel<T, 4>)` is a kernel in brackets; with a name before the brackets it is the result of a call.
        before = _skip_blanks_back(data, opened)
        if before and (data[before - 1 : before].isalnum() or data[before - 1 : before] in (b"_", b">")):
            return None
        at, least = inner, opened + 1
    if data[at - 1 : at] == b">":
        angle = _opening(data, at, least, b"<", b">")
        if angle is None:
            return None
        at = _skip_blanks_back(data, angle)
    match = _LAST_NAME.search(data[max(least - 1, at - 200, 0) : at])
    if match is None or match[1] in _KEYWORDS:
        return None
    return at - len(match[1]), at


def _skip_blanks_back(data: bytes, at: int) -> int:
    """Return the offset after the last character before `at` that is not white space or a line continuation."""
    while at and data[at - 1] in _BLANK:
        at -= 1
    return at


def _opening(data: bytes, at: int, least: int, opens: bytes, closes: bytes) -> int | None:
    """Return where the bracket opens that closes right before an offset.

    For angle brackets, the content of round brackets is skipped.
    """
    depth = round_ = 0
    is_angle = opens == b"<"
    for place in range(at - 1, least - 1, -1):
        sign = data[place : place + 1]
        if is_angle and sign in (b")", b"("):
            round_ += 1 if sign == b")" else -1
        elif sign in (b";", b"{", b"}"):
            return None
        elif round_ == 0 and sign == closes and data[place - 1 : place] != b"-":
            depth += 1
        elif round_ == 0 and sign == opens:
            depth -= 1
            if depth == 0:
                return place
    return None


def _launched(context: RuleContext, at: int, end: int) -> Iterator[BridgeEnd]:
    """Yield the launch of a name.

    For a variable, also yield the kernel that was assigned to it. For a macro's parameter, yield what the file
    passes to the macro instead.
    """
    name = context.data[at:end]
    macro = _macro_around(context, at)
    if macro is not None and name in macro[1]:
        yield from _macro_arguments(context, macro[0], macro[1].index(name))
        return
    yield BridgeEnd(at, "launches", name.decode(), name.decode())
    body = context.data.rfind(b"\n}", 0, at) + 1  # start of the enclosing function, to find its variables
    before = context.data[body:at]
    if name not in before:
        return  # a function's own name: most launches
    given = rb"\b%s\s*(?:=|\{)\s*&?\s*(?:\w+\s*\?[^;]*|((?:::)?(?:\w+::)*[A-Za-z_]\w*)\s*[<;}])" % re.escape(name)
    for match in re.finditer(given, before):
        if match[1]:
            last = body + match.start(1) + match[1].rfind(b":") + 1
            word = context.data[last : body + match.end(1)].decode()
            yield BridgeEnd(last, "launches", word, name.decode())


def _macro_around(context: RuleContext, at: int) -> tuple[str, list[bytes]] | None:
    """Return the name and parameters of the macro whose body contains an offset."""
    for definition in context.draft.definitions:
        if definition.kind == Kind.MACRO and definition.start <= at < definition.end:
            written = definition.signature.partition("(")[2].partition(")")[0]
            return definition.name, [word.strip().encode() for word in written.split(",")]
    return None


def _macro_arguments(context: RuleContext, macro: str, place: int) -> Iterator[BridgeEnd]:
    """Yield the names that calls of a macro pass as the argument with index `place`."""
    for match in re.finditer(rb"\b%s\s*\(" % re.escape(macro.encode()), context.data):
        start, depth, number = match.end(), 0, 0
        for at in range(match.end(), min(len(context.data), match.end() + _FARTHEST)):
            sign = context.data[at]
            depth += (sign in b"([{<") - (sign in b")]}>")
            if (sign == 44 and depth == 0) or depth < 0:  # a comma, or the end
                if number == place:
                    yield from _argument(context, start, at)
                    break
                number, start = number + 1, at + 1
                if depth < 0:
                    break


def _argument(context: RuleContext, start: int, end: int) -> Iterator[BridgeEnd]:
    written = _NAME.fullmatch(context.data[start:end])
    if written and _is_code(context, start + written.start(2)) and _macro_around(context, start) is None:
        name = written[2].decode()
        yield BridgeEnd(start + written.start(2), "launches", name, name)
