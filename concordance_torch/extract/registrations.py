"""Operator registrations in C++: `m.def("op(Tensor a) -> Tensor", &f)`, `m.impl("op", TORCH_FN(f))`.

In: the tokens of a file or of an expanded macro, and where the calls are. Out: schemas and kernels, under the names of
their operators. A fallthrough to the next dispatch key does not count as a kernel. If a template builds a function from
another (`wrapped<decltype(&f), &f>`), the inner function is the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.tokens import TokenRange, Tokens
from concordance_torch.extract.operator_schema import DEFAULT_NAMESPACE, full_name, parse_schema

_DEVICE = re.compile(r"k[A-Z]\w*")
DEFAULT_KEY = "CompositeImplicitAutograd"  # the dispatch key of a kernel that is registered together with its schema
_OPERATORS = ("at", "Tensor")  # namespaces of functions that call an operator
_PASSED = ("makeFallthrough", "makeNamedNotSupported")
_WRAPPING = frozenset(("TORCH_FN", "TORCH_FN_TYPE", "TORCH_BOX", "static_cast", "dispatch", "torch", "c10", "at",
                       "decltype", "CppFunction", "makeFromUnboxedFunction", "makeFromBoxedFunction"))  # fmt: skip


def find_registrations(tokens: Tokens, stretch: TokenRange, library: str, space: str, key: str) -> Iterator[BridgeEnd]:
    """Yield the registrations made through the variable `library` within a range of tokens."""
    for at in range(*stretch):
        if tokens.text[at] == library and tokens.is_(at + 1, ".") and tokens.is_(at + 3, "("):
            method = tokens.text[at + 2]
            if method in ("def", "impl"):
                yield from given(tokens, tokens.within(at + 3), space, key, method == "def")


def given(tokens: Tokens, arguments: list[TokenRange], space: str, key: str, defines: bool) -> Iterator[BridgeEnd]:
    """Yield the ends of one registration: a schema or a name, then optionally a kernel."""
    literal = _literal(tokens, arguments[0]) if arguments else None
    if literal is None:
        return
    at, text = literal
    schema = parse_schema(text)
    name = full_name(
        schema.local if schema else text, (schema.namespace if schema else "") or space or DEFAULT_NAMESPACE
    )
    if not name or ("::" not in text and not space):
        return
    if defines:
        yield BridgeEnd(tokens.at[at], "schema", name, text, (("schema", text),))
    given = arguments[1:]
    if len(given) > 1 and _is_key(tokens, given[0]):  # m.impl("op", torch::kCUDA, &f)
        key, given = tokens.text[given[0][1] - 1].removeprefix("k"), given[1:]
    for argument in given[:1]:
        kernel = _kernel(tokens, argument)
        if kernel is not None:
            place, written = kernel
            yield BridgeEnd(tokens.at[place], "kernel", name, written, (("key", _key(tokens, argument) or key),))


def _is_key(tokens: Tokens, stretch: TokenRange) -> bool:
    words = tokens.text[stretch[0] : stretch[1]]
    return "DispatchKey" in words or _DEVICE.fullmatch(words[-1]) is not None


def _literal(tokens: Tokens, stretch: TokenRange) -> tuple[int, str] | None:
    """Return the first string literal of an argument: where it begins, and its value."""
    texts = [place for place in range(*stretch) if tokens.kind[place] in ("string", "raw")]
    if not texts:
        return None
    end = texts[0]
    while end < stretch[1] and tokens.kind[end] in ("string", "raw"):
        end += 1
    spelt = tokens.literal((texts[0], end))
    return (texts[0], spelt) if spelt is not None else None


def _kernel(tokens: Tokens, stretch: TokenRange) -> tuple[int, str] | None:
    """Return a kernel's token (the last part of its name) and the name as written; for a lambda, its first token."""
    start, end = stretch
    if any(tokens.text[place] in _PASSED for place in range(start, end)):
        return None
    if tokens.is_(start, "["):
        return start, "[] (…)"
    inner = _inner(tokens, stretch)
    if inner is not None:
        return inner
    if "options" in tokens.text[start:end]:
        return None  # the kernel is passed in a chain of its own
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


def _inner(tokens: Tokens, stretch: TokenRange) -> tuple[int, str] | None:
    """Return the function that a template wraps: the last `&f` after `<` or `,`, ignoring `decltype`.

    If the template wraps the operator itself (`&at::add`, `&ATEN_FN(add)`), the template is the kernel: return None.
    """
    start, end = stretch
    innermost, place = None, start
    while place < end - 1:
        if tokens.text[place] == "decltype" and tokens.is_(place + 1, "("):
            place = tokens.closed(place + 1)
            continue
        if tokens.text[place] == "&" and tokens.text[place - 1] in ("<", ",") and tokens.is_name(place + 1):
            first = last = place + 1
            while last + 2 < end and tokens.text[last + 1] == "::" and tokens.is_name(last + 2):
                last += 2
            if not tokens.is_(last + 1, "(") and tokens.text[first] not in _OPERATORS:
                innermost = last, "".join(tokens.text[first : last + 1])
        place += 1
    return innermost


def _key(tokens: Tokens, stretch: TokenRange) -> str:
    """Return the key in `torch::dispatch(c10::DispatchKey::CPU, f)`."""
    start, end = stretch
    opened = next((at + 1 for at in range(start, end) if tokens.text[at] == "dispatch"), -1)
    if opened < 0 or not tokens.is_(opened, "("):
        return ""
    given = tokens.within(opened)
    name = tokens.text[given[0][1] - 1] if given else ""
    return name.removeprefix("k")
