"""CPython's C API: tables of methods, types and modules, and objects added to modules by calls."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.python_bindings.bindings import CPYTHON, CPYTHON_WORDS, find_bindings
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = C_FAMILY
WORDS = CPYTHON_WORDS


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what a file binds in tables, and the modules that it creates and returns."""
    return (end for bridge, end in context.once(find_bindings) if bridge == CPYTHON)
