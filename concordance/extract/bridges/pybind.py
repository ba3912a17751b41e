"""pybind11 and nanobind: names that a file binds on Python modules and classes."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.python_bindings.bindings import PYBIND, PYBIND_WORDS, find_bindings
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = C_FAMILY
WORDS = PYBIND_WORDS


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what a file binds in chains of calls."""
    return (end for bridge, end in context.once(find_bindings) if bridge == PYBIND)
