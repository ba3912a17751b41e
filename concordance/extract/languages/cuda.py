"""CUDA and HIP: C++ with kernels, which have `__global__` among their modifiers."""

from __future__ import annotations

from concordance.base.model import DocMarkup
from concordance.extract.cfamily import reader, test_conventions
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "cuda",
    "CUDA",
    extensions=(".cu", ".cuh", ".hip"),
    aliases=("cu",),
    tests=test_conventions.CONVENTIONS,
    doc_markup=DocMarkup.COMMANDS | DocMarkup.CALL_LINKS | DocMarkup.MEMBERS,
    doc_code="cpp",
)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one CUDA or HIP file into a `Draft`."""
    return reader.read(source, reader.CUDA, macros)
