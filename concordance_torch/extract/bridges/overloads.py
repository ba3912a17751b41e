"""C++ functions that may be kernels, with their parameter types, so that a schema can tell overloads apart.

An overload is identified by its index among the file's functions of that name, because a macro may define several on
one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Kind
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = C_FAMILY
WORDS = (b"Tensor",)
_KERNELS = ("Tensor", "Scalar", "ArrayRef")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the overloads that a file defines, and functions of tensors, which may have overloads in other files."""
    functions: dict[str, list[tuple[int, str]]] = {}
    for definition in context.draft.definitions:
        if definition.kind in (Kind.FUNCTION, Kind.METHOD) and not definition.declaration:
            types = " ; ".join(parameter.annotation for parameter in definition.parameters)
            functions.setdefault(definition.name, []).append((definition.at, types))
    for name, overloads in functions.items():
        for number, (at, types) in enumerate(overloads):
            if len(overloads) > 1 or any(word in types for word in _KERNELS):
                yield BridgeEnd(at, "takes", name, types, (("number", str(number)),))
