"""Abacus: adding up numbers exactly."""

from .ledger import Ledger, Overflow
from .rounding import *

__all__ = ["Ledger", "Overflow"] + rounding.__all__
__version__ = "1.0"
