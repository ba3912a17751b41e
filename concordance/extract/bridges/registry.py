"""Registrations of operators in C++: `TORCH_LIBRARY(ns, m) { m.def("op(Tensor a) -> Tensor"); m.impl("op", &f); }`.

What `TORCH_LIBRARY_IMPL(ns, Key, m)` registers is for that dispatch key. `RegisterOperators().op("ns::op", &f)` is the
older way. A kernel that only passes on to the next key is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.ctokens import Stretch, Tokens
from concordance.extract.look import C_FAMILY, Look
from concordance.extract.operatorschema import DEFAULT, full_name, parsed

LANGUAGES = C_FAMILY
WORDS = (b"TORCH_LIBRARY", b"RegisterOperators")
_BLOCK = re.compile(r"\w*TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?(?:_EXPAND)?")
_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\\r?\n|\\.)*\n")
_DEVICE = re.compile(r"k[A-Z]\w*")
_ANY = "CompositeImplicitAutograd"  # what a kernel is for that is given with the schema
_PASSED = ("makeFallthrough", "makeNamedNotSupported", "makeFromBoxedFunction")
_WRAPPING = frozenset(("TORCH_FN", "TORCH_FN_TYPE", "TORCH_BOX", "static_cast", "dispatch", "torch", "c10", "at",
                       "decltype", "CppFunction", "makeFromUnboxedFunction"))  # fmt: skip


def ends(look: Look) -> Iterator[Said]:
    """The operators that a file registers, and their kernels."""
    data = look.data
    first = min(at for word in WORDS if (at := data.find(word)) >= 0)
    before = bytearray(b" " * first)  # of what stands before the first, only macros matter
    for match in _DEFINE.finditer(data, 0, first):
        before[match.start() : match.end()] = match[0]
    yield from _registered(Tokens(bytes(before) + data[first:]), b"RegisterOperators" in data)


def _registered(tokens: Tokens, older: bool) -> Iterator[Said]:
    for place, text in enumerate(tokens.text):
        if tokens.kind[place] != "name" or not tokens.is_(place + 1, "("):
            continue
        if _BLOCK.fullmatch(text):
            yield from _block(tokens, place)
        elif text == "op" and tokens.is_(place - 1, ".") and older:
            yield from _given(tokens, tokens.within(place + 1), "", _ANY, True)


def _block(tokens: Tokens, place: int) -> Iterator[Said]:
    given = [" ".join(tokens.text[start:end]) for start, end in tokens.within(place + 1)]
    opened = tokens.closed(place + 1)
    if len(given) < 2 or not tokens.is_(opened, "{") or not all(given):
        return
    is_kernels = "_IMPL" in tokens.text[place]
    key = given[1] if is_kernels and len(given) > 2 else _ANY
    for at in range(opened, tokens.closed(opened)):
        if tokens.text[at] == given[-1] and tokens.is_(at + 1, ".") and tokens.is_(at + 3, "("):
            method = tokens.text[at + 2]
            if method in ("def", "impl"):
                yield from _given(tokens, tokens.within(at + 3), given[0], key, method == "def")


def _given(tokens: Tokens, arguments: list[Stretch], space: str, key: str, defines: bool) -> Iterator[Said]:
    """One registration: a schema or a name, then perhaps a kernel."""
    found = _literal(tokens, arguments[0]) if arguments else None
    if found is None:
        return
    at, text = found
    schema = parsed(text)
    name = full_name(schema.local if schema else text, (schema.namespace if schema else "") or space or DEFAULT)
    if not name or ("::" not in text and not space):
        return
    if defines:
        yield Said(tokens.at[at], "schema", name, text, (("schema", text),))
    given = arguments[1:]
    if len(given) > 1 and _is_key(tokens, given[0]):  # m.impl("op", torch::kCUDA, &f)
        key, given = tokens.text[given[0][1] - 1].removeprefix("k"), given[1:]
    for argument in given[:1]:
        kernel = _kernel(tokens, argument)
        if kernel is not None:
            place, written = kernel
            yield Said(tokens.at[place], "kernel", name, written, (("key", _key(tokens, argument) or key),))


def _is_key(tokens: Tokens, stretch: Stretch) -> bool:
    words = tokens.text[stretch[0] : stretch[1]]
    return "DispatchKey" in words or _DEVICE.fullmatch(words[-1]) is not None


def _literal(tokens: Tokens, stretch: Stretch) -> tuple[int, str] | None:
    """The first text of an argument, where it begins, and what it spells."""
    texts = [place for place in range(*stretch) if tokens.kind[place] in ("string", "raw")]
    if not texts:
        return None
    end = texts[0]
    while end < stretch[1] and tokens.kind[end] in ("string", "raw"):
        end += 1
    spelt = tokens.literal((texts[0], end))
    return (texts[0], spelt) if spelt is not None else None


def _kernel(tokens: Tokens, stretch: Stretch) -> tuple[int, str] | None:
    """The last part of the name of a kernel, and the name as it is written; of a function without one, its place."""
    start, end = stretch
    if any(tokens.text[place] in _PASSED for place in range(start, end)):
        return None
    if tokens.is_(start, "["):
        return start, "[] (…)"
    if "options" in tokens.text[start:end]:
        return None  # the kernel is handed on in a chain of its own
    place = end - 1
    names = [at for at in range(start, end) if tokens.kind[at] == "name" and tokens.text[at] not in _WRAPPING]
    while place > start and tokens.text[place] == ")":
        place -= 1
    if tokens.text[place] == ">":  # f<true>
        opened = next((at for at in names if tokens.template(at + 1) == place + 1), -1)
        place = opened if opened >= 0 else place
    if not tokens.is_name(place) or tokens.text[place] in _WRAPPING:
        return None
    first = place
    while first - 2 >= start and tokens.text[first - 1] == "::" and tokens.is_name(first - 2):
        first -= 2
    return place, "".join(tokens.text[first : place + 1])


def _key(tokens: Tokens, stretch: Stretch) -> str:
    """The key of `torch::dispatch(c10::DispatchKey::CPU, f)`."""
    start, end = stretch
    opened = next((at + 1 for at in range(start, end) if tokens.text[at] == "dispatch"), -1)
    if opened < 0 or not tokens.is_(opened, "("):
        return ""
    given = tokens.within(opened)
    name = tokens.text[given[0][1] - 1] if given else ""
    return name.removeprefix("k")
