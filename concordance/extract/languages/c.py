"""C: structs, unions, enums, functions and their prototypes, variables, typedefs, macros."""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract.cfamily import reader
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language("c", "C", extensions=(".c", ".h"), separator="::", has_macros=True, has_prototypes=True)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one C file into a `Draft`."""
    return reader.read(source, reader.C, macros)
