"""CPython's C API: tables of methods, types and modules, and what is added to modules by calls."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look
from concordance.extract.pybound import CPYTHON, CPYTHON_WORDS, bound

LANGUAGES = C_FAMILY
WORDS = CPYTHON_WORDS


def ends(look: Look) -> Iterator[Said]:
    """What a file binds in tables, and the modules that it makes and hands on."""
    return (said for bridge, said in bound(look) if bridge == CPYTHON)
