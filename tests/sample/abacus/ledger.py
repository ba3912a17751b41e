"""The ledger: numbers that are added up, and what they come to.

A ledger uses the Compensated Summation Algorithm (CSA), so that small numbers are not lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Iterable

try:
    from ._native import sum_exact
except ImportError:
    sum_exact = None

if TYPE_CHECKING:
    from .rounding import Rounding

LIMIT = 10**9


class Overflow(ValueError):
    """The sum left the range of the ledger."""


@dataclass
class Ledger:
    """A list of entries with a running sum.

    Args:
        name (str): what the ledger is for
        entries: the numbers so far
    """

    name: str = "ledger"
    entries: list[float] = field(default_factory=list)

    def add(self, *numbers: float, rounding: Rounding | None = None) -> float:
        """Adds numbers and returns the new sum.

        Args:
            numbers: what to add
            rounding: how to round the sum

        Returns:
            float: the sum of all entries

        Raises:
            Overflow: if the sum is above ``LIMIT``
        """
        self.entries.extend(n for n in numbers if n)
        self.last = total = self.total
        if total > LIMIT:
            raise Overflow(f"{self.name}: {total:,}")
        return rounding(total) if rounding else total

    @property
    def total(self) -> float:
        # The native sum is exact; Python's loses small numbers.
        return sum_exact(self.entries) if sum_exact else _sum(self.entries)


def _sum(numbers: Iterable[float]) -> float:
    total = error = 0.0
    for number in numbers:
        corrected = number - error
        following = total + corrected
        error = (following - total) - corrected
        total = following
    return total
