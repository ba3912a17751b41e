"""pybind11 and nanobind: names that a file binds on Python's modules and classes."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look
from concordance.extract.pybound import PYBIND, PYBIND_WORDS, bound

LANGUAGES = C_FAMILY
WORDS = PYBIND_WORDS


def ends(look: Look) -> Iterator[Said]:
    """What a file binds in chains of calls."""
    return (said for bridge, said in bound(look) if bridge == PYBIND)
