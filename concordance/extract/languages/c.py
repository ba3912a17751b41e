"""C: structs, unions, enums, functions and their prototypes, variables, typedefs, macros."""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract import cfamily
from concordance.extract.draft import Draft
from concordance.extract.macros import Macros
from concordance.extract.source import Source

LANGUAGE = Language("c", "C", extensions=(".c", ".h"), separator="::", has_macros=True, has_prototypes=True)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """One C file."""
    return cfamily.read(source, cfamily.C, macros)
