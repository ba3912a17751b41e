"""C: structs, unions, enums, functions and their prototypes, variables, typedefs, macros."""

from __future__ import annotations

from concordance.base.model import DocMarkup
from concordance.extract.cfamily import reader, test_conventions
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "c",
    "C",
    extensions=(".c", ".h"),
    tests=test_conventions.CONVENTIONS,
    doc_markup=DocMarkup.COMMANDS | DocMarkup.CALL_LINKS | DocMarkup.MEMBERS | DocMarkup.KERNEL_DOC,
    doc_code="c",
)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one C file into a `Draft`."""
    return reader.read(source, reader.C, macros)
