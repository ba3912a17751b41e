"""Attributes of C-family symbols that the linker needs beyond names: further columns of a file's flow.

In: symbols, and the definitions they were made from. Out: flags, the class that an out-of-class definition belongs to,
the number of arguments a function takes, and a digest of its parameter types. The digest pairs a declaration with its
definition and distinguishes it from overloads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from zlib import crc32

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import Kind, Symbol, pack_column
from concordance.extract.reading.draft import Draft
from concordance.extract.reading.flow import argument_range

DECLARES = 1
LOCAL = 2  # visible in its own file only
SCOPED = 4  # an enum whose enumerators are in its own scope
INLINE = 8  # a namespace whose names also belong to the enclosing one
FRIEND = 16  # written in a class, but belongs to the enclosing namespace
ALIAS = 32  # an alias of a namespace
SPECIAL = 64  # a template specialisation
VIRTUAL = 128
# A test of googletest whose body is a method of a class derived from the fixture.
_FIXTURE_TEST = re.compile(r"(?:TEST_[FP]|TYPED_TEST(?:_P)?)\(\s*(\w+)")
_STATIC = frozenset((Kind.FUNCTION, Kind.VARIABLE, Kind.CONSTANT))
_VIRTUAL = frozenset(("virtual", "override", "final", "= 0", "=0"))
_QUALIFIERS = re.compile(r"\b\w+::|\s+|\b(?:struct|class|enum|typename)\b")


def columns(draft: Draft, symbols: Sequence[Symbol], special: set[int], word: Callable[[str], int]) -> dict[str, bytes]:
    """Return the columns by their names in `Flow`; `word` returns a name's index among the flow's names."""
    within = {d.place: word("::".join(d.within)) + 1 for d in draft.definitions if d.within}
    arity, forms = [], []
    for symbol in symbols:
        function = symbol.kind in FUNCTION_KINDS
        arity.append(argument_range(symbol) if function else 0)
        forms.append(_form(symbol) if function else 0)
    return {
        "symbol_flags": bytes([_flags(row) | (SPECIAL if n in special else 0) for n, row in enumerate(symbols)]),
        "symbol_within": pack_column([within.get(n, 0) for n in range(len(symbols))]),
        "symbol_arity": pack_column(arity),
        "symbol_form": pack_column(forms),
    }


def fixture_of(name: str) -> str:
    """Return the class whose members a test sees, given its name as written, `TEST_F(Class, name)`; "" if none."""
    match = _FIXTURE_TEST.match(name)
    return match[1] if match is not None else ""


def fixtures(draft: Draft) -> dict[int, tuple[str, ...]]:
    """Return the name of the fixture of each test that has one, by its place."""
    return {d.place: (fixture,) for d in draft.definitions if (fixture := fixture_of(d.name))}


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


@lru_cache(1 << 12)
def _plain_type(annotation: str) -> str:
    return _QUALIFIERS.sub("", annotation)


def _form(symbol: Symbol) -> int:
    """Return a digest of a function's parameter types, the same for all its declarations; odd if `const`."""
    types = ",".join([_plain_type(parameter.annotation) for parameter in symbol.parameters])
    return crc32(types.encode("utf-8", "replace")) >> 8 << 1 | ("const" in symbol.modifiers)
