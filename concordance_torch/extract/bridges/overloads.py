"""Functions of C++ that may be kernels: what each takes, so that a table's schema can tell overloads apart.

Which of a file's functions of a name it is, is told by its number among them: a macro may make several in one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Kind
from concordance.extract.bridge_ends import BridgeEnd
from concordance.extract.reading.rule_context import C_FAMILY, RuleContext

LANGUAGES = C_FAMILY
WORDS = (b"Tensor",)
_KERNELS = ("Tensor", "Scalar", "ArrayRef")


def ends(look: RuleContext) -> Iterator[BridgeEnd]:
    """The overloads that a file defines, and functions of tensors, which may have overloads in other files."""
    found: dict[str, list[tuple[int, str]]] = {}
    for one in look.draft.definitions:
        if one.kind in (Kind.FUNCTION, Kind.METHOD) and not one.declaration:
            types = " ; ".join(parameter.annotation for parameter in one.parameters)
            found.setdefault(one.name, []).append((one.at, types))
    for name, overloads in found.items():
        for number, (at, types) in enumerate(overloads):
            if len(overloads) > 1 or any(word in types for word in _KERNELS):
                yield BridgeEnd(at, "takes", name, types, (("number", str(number)),))
