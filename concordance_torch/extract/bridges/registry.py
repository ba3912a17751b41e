"""Operator registrations in C++: `TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); m.impl("op", &f); }`.

`TORCH_LIBRARY_IMPL(ns, Key, m)` registers for the dispatch key `Key`. `RegisterOperators().op("ns::op", &f)` is the
older way. A macro that registers may be defined in one file ("macro") and used in another ("uses"), so both are
reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.tokens import Tokens
from concordance.extract.reading.rule_context import RuleContext
from concordance_torch.extract.registrations import DEFAULT_KEY, find_registrations, given

LANGUAGES = C_FAMILY
_BLOCKS = (b"TORCH_LIBRARY", b"RegisterOperators")
WORDS = (*_BLOCKS, b".impl(#")
_BLOCK = re.compile(r"\w*TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?(?:_EXPAND)?")
_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\\r?\n|\\.)*\n")
_MACRO = re.compile(r"\s*#\s*define\s+(\w+)\(([^()]*)\)(.*)", re.S)
_NAME = re.compile(r"[A-Z][A-Z0-9_]+")
_USES_MACRO = re.compile(r"\.impl\s*\(|\b[A-Z][A-Z0-9_]{3,}\s*\(")
ARGUMENT_SEPARATOR = "\x1f"  # separates the arguments of a macro


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the operators that a file registers, and their kernels."""
    data = context.data
    if b".impl(#" in data:
        yield from _macros(context)
    blocks = [at for word in _BLOCKS if (at := data.find(word)) >= 0]
    if not blocks:
        return
    first = min(blocks)
    before = bytearray(b" " * first)  # before the first registration, only macro definitions matter
    for match in _DEFINE.finditer(data, 0, first):
        before[match.start() : match.end()] = match[0]
    yield from _registered(Tokens(bytes(before) + data[first:]), b"RegisterOperators" in data)


def _macros(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the macros that register, or that use other macros, which may register."""
    for match in _DEFINE.finditer(context.data):
        text = context.source.slice(match.start(), match.end())
        macro = _MACRO.match(text.replace("\\\r\n", "\n").replace("\\\n", "\n"))
        if macro is not None and _USES_MACRO.search(macro[3]):
            at = match.start() + text.index(macro[1])
            yield BridgeEnd(at, "macro", macro[1], " ".join(macro[3].split()), (("parameters", macro[2]),))


def _registered(tokens: Tokens, older: bool) -> Iterator[BridgeEnd]:
    for place, text in enumerate(tokens.text):
        if tokens.kind[place] != "name" or not tokens.is_(place + 1, "("):
            continue
        if _BLOCK.fullmatch(text):
            yield from _block(tokens, place)
        elif text == "op" and tokens.is_(place - 1, ".") and older:
            yield from given(tokens, tokens.within(place + 1), "", DEFAULT_KEY, True)


def _block(tokens: Tokens, place: int) -> Iterator[BridgeEnd]:
    named = [" ".join(tokens.text[start:end]) for start, end in tokens.within(place + 1)]
    opened = tokens.closed(place + 1)
    if len(named) < 2 or not tokens.is_(opened, "{") or not all(named):
        return
    is_kernels = "_IMPL" in tokens.text[place]
    key = named[1] if is_kernels and len(named) > 2 else DEFAULT_KEY
    inside = opened, tokens.closed(opened)
    yield from find_registrations(tokens, inside, named[-1], named[0], key)
    for at in range(*inside):
        if _NAME.fullmatch(tokens.text[at]) and tokens.is_(at + 1, "(") and tokens.text[at - 1] in ("{", ";", ")", "}"):
            arguments = ARGUMENT_SEPARATOR.join(
                " ".join(tokens.text[start:end]) for start, end in tokens.within(at + 1)
            )
            more = (("space", named[0]), ("key", key), ("holder", named[-1]))
            yield BridgeEnd(tokens.at[at], "uses", tokens.text[at], arguments, more)
