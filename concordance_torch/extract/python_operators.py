"""Names of operators in Python: `torch.ops.aten.add.Tensor`, `aten.add` where `aten` is that module, `"aten::add"`.

In: a file, and a stretch of it. Out: full names, with whether an overload was named. A file's own names for modules of
operators (`aten = torch.ops.aten`, `from … import aten`) are known from its text and its imports.
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
    """An operator as it is named somewhere."""

    name: str  # "aten::add.Tensor"; of the overload without a name, "aten::add"
    at: int  # in the stretch
    overloaded: bool  # whether one overload is meant


class Spaces:
    """What a file calls the modules of operators."""

    def __init__(self, look: RuleContext) -> None:
        text = look.source.slice(0, len(look.data))
        self._known = {match[1]: match[2] for match in _ASSIGNED.finditer(text)}
        for name, meaning in look.bound.items():
            if name in ("aten", "prims", "quantized") or meaning.startswith("torch.ops."):
                self._known.setdefault(name, meaning.rpartition(".")[2])

    @property
    def written(self) -> re.Pattern[bytes]:
        """Finds what may be an operator: its name, and that of an overload."""
        heads = "|".join([_OPS + r"[A-Za-z_]\w*", *map(re.escape, sorted(self._known))])
        return re.compile(rf"(?<![\w.])(?:{heads})\.([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?".encode())

    def named(self, text: str) -> list[NamedOperator]:
        """The operators that a stretch of the text names, in its order."""
        found = []
        for match in _DOTTED.finditer(text):
            space = match[2] if match[1] else self._known.get(match[2], "")
            if space:
                found.append(_named(space, match[3], match[4] or "", match.start()))
        quoted = _QUOTED.finditer(text)
        found.extend(_named(match[1], match[2], match[3] or "", match.start()) for match in quoted)
        return sorted(found, key=lambda one: one.at)


def _named(space: str, base: str, overload: str, at: int) -> NamedOperator:
    full = f"{space}::{base}"
    return NamedOperator(f"{full}.{overload}" if overload not in ("", "default") else full, at, bool(overload))
