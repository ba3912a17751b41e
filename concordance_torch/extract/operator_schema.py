"""Parser for operator schemas: `aten::add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor`.

In: a text. Out: its parts, or None if the text is not a schema. YAML tables, `TORCH_LIBRARY` and `torch.library` all
use this syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"\s*(?:([A-Za-z_]\w*)::)?([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?\s*")
_FULL = re.compile(_NAME.pattern + r"\(")
_ARGUMENT = re.compile(r"(.+?)\s*([A-Za-z_]\w*)?\s*(?:=.*)?$", re.S)
_ALIAS = re.compile(r"\([a-z0-9*!| ]+(?:->[^)]*)?\)")
_WRITTEN = re.compile(r"\w+\([^)]*!")
_LONGEST = 400  # characters of an argument: `_ARGUMENT` takes cubic time, and real ones have fewer than 100
DEFAULT_NAMESPACE = "aten"  # the namespace of a name written without one


@dataclass(frozen=True)
class Schema:
    """An operator's name, parameters and return type (`returns`, "" if not written)."""

    namespace: str  # "" if none is written
    base: str
    overload: str
    types: tuple[str, ...]  # "Tensor", "int[2]", "Scalar?", without alias annotations
    names: tuple[str, ...]
    returns: str
    is_out: bool = False  # whether it has a keyword-only argument that it writes its result to

    @property
    def local(self) -> str:
        """The name without its namespace: "add.Tensor"."""
        return f"{self.base}.{self.overload}" if self.overload else self.base

    @property
    def name(self) -> str:
        """The full name: "aten::add.Tensor"."""
        return f"{self.namespace or DEFAULT_NAMESPACE}::{self.local}"


def full_name(text: str, namespace: str = DEFAULT_NAMESPACE) -> str:
    """Return an operator's name with its namespace; "" if the text is not an operator's name."""
    match = _NAME.fullmatch(text)
    if match is None:
        return ""
    return f"{match[1] or namespace}::{match[2]}" + (f".{match[3]}" if match[3] else "")


def parse_schema(text: str) -> Schema | None:
    """Return the parts of a schema, or None if the text is not one."""
    match = _FULL.match(text)
    if match is None:
        return None
    depth, at = 1, match.end()
    starts, commas = at, list[int]()
    while at < len(text) and depth:
        char = text[at]
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 1:
            commas.append(at)
        at += 1
    if depth:
        return None
    stretches = zip([starts, *(comma + 1 for comma in commas)], [*commas, at - 1], strict=True)
    arguments = [text[start:end].strip() for start, end in stretches]
    types, names = [], []
    named = is_out = False
    for argument in arguments:
        if argument in ("", "*"):
            named |= argument == "*"
            continue
        if len(argument) > _LONGEST:
            return None
        is_out |= named and _WRITTEN.match(argument) is not None
        one = _ARGUMENT.match(_ALIAS.sub("", argument))
        if one is None:
            return None
        types.append(one[1].replace(" ", ""))
        names.append(one[2] or "")
    rest = text[at:].strip()
    if rest and not rest.startswith("->"):
        return None
    returns = rest.removeprefix("->").strip()
    return Schema(match[1] or "", match[2], match[3] or "", tuple(types), tuple(names), returns, is_out)
