"""What the linker must know of C-family symbols beside their names: further columns of a file's flow.

In: symbols, and the definitions they were made of. Out: bits for what they are, the class that an outside definition
belongs to, how many arguments a function takes, and a digest of its parameters' types, by which a declaration and its
definition are told from an overload.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from zlib import crc32

from concordance.base.model import Kind, Symbol, packed
from concordance.extract.reading.draft import Draft

DECLARES = 1
LOCAL = 2  # seen by its own file alone
SCOPED = 4  # an enum whose names are its own
INLINE = 8  # a namespace whose names are those of the one around, too
FRIEND = 16  # stands in a class, and belongs to the namespace around
ALIAS = 32  # another name of a namespace
SPECIAL = 64  # a template for some arguments only
VIRTUAL = 128
_FUNCTIONS = frozenset((Kind.FUNCTION, Kind.METHOD))
_STATIC = frozenset((Kind.FUNCTION, Kind.VARIABLE, Kind.CONSTANT))
_VIRTUAL = frozenset(("virtual", "override", "final", "= 0", "=0"))
_UNSAID = re.compile(r"\b\w+::|\s+|\b(?:struct|class|enum|typename)\b")
_MANY = 255


def columns(draft: Draft, symbols: Sequence[Symbol], special: set[int], word: Callable[[str], int]) -> dict[str, bytes]:
    """The columns, by their names in the flow; `word` gives a name's place among the names."""
    within = {d.place: word("::".join(d.within)) + 1 for d in draft.definitions if d.within}
    arity, forms = [], []
    for symbol in symbols:
        function = symbol.kind in _FUNCTIONS
        arity.append(_arity(symbol) if function else 0)
        forms.append(_form(symbol) if function else 0)
    return {
        "symbol_flags": bytes([_flags(row) | (SPECIAL if n in special else 0) for n, row in enumerate(symbols)]),
        "symbol_within": packed([within.get(n, 0) for n in range(len(symbols))]),
        "symbol_arity": packed(arity),
        "symbol_form": packed(forms),
    }


def _flags(symbol: Symbol) -> int:
    modifiers = symbol.modifiers
    flags = DECLARES if symbol.declaration else 0
    kind = symbol.kind
    if not symbol.public and "private" not in modifiers:
        flags |= LOCAL
    if modifiers:
        if "static" in modifiers and kind in _STATIC:
            flags |= LOCAL
        if "inline" in modifiers and kind == Kind.NAMESPACE:
            flags |= INLINE
        if "friend" in modifiers:
            flags |= FRIEND
        if kind == Kind.METHOD and not _VIRTUAL.isdisjoint(modifiers):
            flags |= VIRTUAL
    if kind == Kind.NAMESPACE and "=" in symbol.signature:
        flags |= ALIAS
    if kind == Kind.ENUM and symbol.signature.startswith(("enum class", "enum struct")):
        flags |= SCOPED
    return flags


def _arity(symbol: Symbol) -> int:
    """The fewest arguments that a function takes, and 256 times the most."""
    least = most = 0
    for parameter in symbol.parameters:
        if parameter.kind == "*":
            most = _MANY
        else:
            most = min(most + 1, _MANY)
            least += not parameter.default
    return min(least, _MANY) | most << 8


@lru_cache(1 << 12)
def _said(annotation: str) -> str:
    return _UNSAID.sub("", annotation)


def _form(symbol: Symbol) -> int:
    """A digest of a function's parameters' types, the same for a declaration and its definition; odd where it is
    for objects that do not change."""
    said = ",".join([_said(parameter.annotation) for parameter in symbol.parameters])
    return crc32(said.encode("utf-8", "replace")) >> 8 << 1 | ("const" in symbol.modifiers)
