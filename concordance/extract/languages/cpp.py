"""C++: namespaces, classes, templates, functions in and out of line, operators, aliases, macros."""

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
    """One C++ file."""
    return reader.read(source, reader.CPP, macros)
