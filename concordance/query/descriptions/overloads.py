"""Which definition speaks for a name that has several: in Python, the implementation behind `@overload`.

In: the symbols of a file, and the position of one of them. Out: the position of the definition by which the name is
described, and of the one whose documentation is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.model import Kind, Symbol, is_overload
from concordance.facts.codec import SymbolHead

_NAMESAKE = re.compile(r"\+\d+\Z")  # the end of the key of any definition of a name but the first


def implementation(symbols: Sequence[Symbol | SymbolHead], place: int) -> int:
    """Return the last definition of a name in its scope without `@overload`, if the given one has it; otherwise the
    given one."""
    if not is_overload(symbols[place].modifiers):
        return place
    same = _namesakes(symbols, place)
    return next((one for one in reversed(same) if not is_overload(symbols[one].modifiers)), place)


def documented(symbols: Sequence[Symbol | SymbolHead], place: int) -> int:
    """Return the definition whose documentation describes a name: the implementation, or else the first `@overload`
    with a docstring."""
    spoken = implementation(symbols, place)
    symbol = symbols[spoken]
    if symbol.doc or not (is_overload(symbol.modifiers) or _NAMESAKE.search(symbol.key)):
        return spoken
    stubs = (namesake for namesake in _namesakes(symbols, spoken) if is_overload(symbols[namesake].modifiers))
    return next((stub for stub in stubs if symbols[stub].doc), spoken)


def describes_branch(symbols: Sequence[Symbol | SymbolHead], place: int) -> bool:
    """True if a macro has another definition with a comment of its own: each says what holds in its branch."""
    symbol = symbols[place]
    if symbol.kind != Kind.MACRO or not symbol.doc:
        return False
    others = (symbols[other] for other in _namesakes(symbols, place))
    return any(other.doc and other.doc != symbol.doc for other in others)


def _namesakes(symbols: Sequence[Symbol | SymbolHead], place: int) -> list[int]:
    """Return all definitions of a name in its scope, in the order of the file."""
    symbol = symbols[place]
    return [one for one, other in enumerate(symbols) if other.name == symbol.name and other.parent == symbol.parent]
