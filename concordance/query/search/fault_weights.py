"""How likely a file of each kind is at fault, whatever a report says about it.

In: a file of the index. Out: a weight from 0 to 1. A report of a crash quotes tests, documents, declarations and the
classes of exceptions, but what is changed in the end is mostly code that runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import TYPE_KINDS, Category
from concordance.facts.codec import SymbolHead
from concordance.query.index.repository import Index
from concordance.query.search.ranking import CATEGORY_WEIGHT

EXCEPTION = re.compile(r"(?:Error|Exception|Warning|Interrupt)$")
_DECLARED = 0.4  # factor of a file that only declares what another one implements
_EXCEPTIONS = 0.6  # … and of one that defines the project's exceptions: they are symptoms
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
_BUILT = re.compile(r"(?:^|/)(?:dist|bundles?)/|\.min\.\w+$")
_FORMS = re.compile(r"^\.github/")  # the form of a project's reports has the words of all reports
_LEAST = 3  # exceptions that make a file one of exceptions


class FaultWeights:
    """The weights of the files of one index, each computed once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[str, tuple[float, float]] = {}

    def of(self, path: str) -> float:
        """Return the weight of a file."""
        category, factor = self._both(path)
        return category * factor

    def beyond_category(self, path: str) -> float:
        """Return the weight of a file without that of its category, for evidence that has it already."""
        return self._both(path)[1]

    def _both(self, path: str) -> tuple[float, float]:
        if path not in self._known:
            self._known[path] = self._compute(path)
        return self._known[path]

    def _compute(self, path: str) -> tuple[float, float]:
        category = CATEGORY_WEIGHT[self._index.category_of(path)]
        if _FORMS.search(path):
            return category, CATEGORY_WEIGHT[Category.DATA]
        if self._index.category_of(path) != Category.SOURCE:
            return category, 1.0
        if _BUILT.search(path):
            return category, CATEGORY_WEIGHT[Category.GENERATED]
        defined = self._index.open_file(path).defined
        functions = [symbol.name.lower() for symbol in defined if symbol.kind in FUNCTION_KINDS]
        if 2 * sum(name.startswith("test") for name in functions) > len(functions):
            return category, CATEGORY_WEIGHT[Category.TEST]
        if _DECLARATIONS.search(path):
            return category, _DECLARED
        return category, _EXCEPTIONS if _is_of_exceptions(defined) else 1.0


def _is_of_exceptions(defined: Sequence[SymbolHead]) -> bool:
    """True if most of what a file defines at its top level are exceptions."""
    top = [symbol for symbol in defined if symbol.parent < 0 and symbol.kind in FUNCTION_KINDS | TYPE_KINDS]
    exceptions = sum(symbol.kind in TYPE_KINDS and EXCEPTION.search(symbol.name) is not None for symbol in top)
    return exceptions >= _LEAST and 2 * exceptions > len(top)
