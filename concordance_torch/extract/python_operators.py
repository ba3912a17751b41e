"""Finds operators named in Python: `torch.ops.aten.add.Tensor`, `aten.add` (if `aten` is that module), `"aten::add"`.

In: a file, and a part of its text. Out: full operator names, with whether an overload was given. The file's own names
for operator namespaces (`aten = torch.ops.aten`, `from … import aten`) are taken from its text and its imports.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.extract.reading.rule_context import RuleContext

_OPS = r"torch\.(?:_ops\.)?ops\."
_ASSIGNED = re.compile(rf"(?m)^[ \t]*(\w+)\s*(?::[^=\n]+)?=\s*{_OPS}(\w+)[ \t]*(?:#.*)?$")
_DOTTED = re.compile(rf"(?<![\w.])({_OPS})?([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?(?![\w.])")
_QUOTED = re.compile(r"[\"']([A-Za-z_]\w*)::([A-Za-z_]\w*)(?:\.(\w+))?[\"']")


class NamedOperator(NamedTuple):
    """An operator named in the text."""

    name: str  # "aten::add.Tensor"; for the default overload, "aten::add"
    at: int  # offset in the given text
    overloaded: bool  # whether a specific overload is named


class OperatorNamespaces:
    """The names that a file uses for operator namespaces."""

    def __init__(self, context: RuleContext) -> None:
        text = context.source.slice(0, len(context.data))
        self._known = {match[1]: match[2] for match in _ASSIGNED.finditer(text)}
        for name, full_name in context.bound.items():
            if name in ("aten", "prims", "quantized") or full_name.startswith("torch.ops."):
                self._known.setdefault(name, full_name.rpartition(".")[2])

    @property
    def written(self) -> re.Pattern[bytes]:
        """A pattern for possible operators: the groups are the name and the overload."""
        heads = "|".join([_OPS + r"[A-Za-z_]\w*", *map(re.escape, sorted(self._known))])
        return re.compile(rf"(?<![\w.])(?:{heads})\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?".encode())

    def named(self, text: str) -> list[NamedOperator]:
        """Return the operators that a text names: dotted and quoted ones, in order."""
        operators = []
        for match in _DOTTED.finditer(text):
            space = match[2] if match[1] else self._known.get(match[2], "")
            if space:
                operators.append(_make_operator(space, match[3], match[4] or "", match.start()))
        quoted = _QUOTED.finditer(text)
        operators.extend(_make_operator(match[1], match[2], match[3] or "", match.start()) for match in quoted)
        return sorted(operators, key=lambda operator: operator.at)


def _make_operator(space: str, base: str, overload: str, at: int) -> NamedOperator:
    full = f"{space}::{base}"
    return NamedOperator(f"{full}.{overload}" if overload not in ("", "default") else full, at, bool(overload))
