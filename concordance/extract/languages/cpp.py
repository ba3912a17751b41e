"""C++: namespaces, classes, templates, functions defined inside and outside classes, operators, aliases, macros."""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract.cfamily import reader
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "cpp",
    "C++",
    extensions=(
        ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".tcc", ".txx", ".ixx",
        ".cppm", ".inc",
    ),
    separator="::",
    has_macros=True,
    has_prototypes=True,
)  # fmt: skip


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one C++ file into a `Draft`."""
    return reader.read(source, reader.CPP, macros)
