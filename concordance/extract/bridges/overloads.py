"""Functions of a C++ file that share their name: what each takes, so that a table's signature can tell them apart."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look
from concordance.model import Kind

LANGUAGES = C_FAMILY
WORDS = (b"Tensor",)


def ends(look: Look) -> Iterator[Said]:
    """The overloads that a file defines."""
    found: dict[str, list[tuple[int, str]]] = {}
    for one in look.draft.definitions:
        if one.kind == Kind.FUNCTION and not one.declaration:
            types = " ; ".join(parameter.annotation for parameter in one.parameters)
            found.setdefault(one.name, []).append((one.at, types))
    for name, overloads in found.items():
        if len(overloads) > 1:
            for at, types in overloads:
                yield Said(at, "takes", name, types)
