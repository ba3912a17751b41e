"""C++: namespaces, classes, templates, functions defined inside and outside classes, operators, aliases, macros."""

from __future__ import annotations

from concordance.base.model import DocMarkup
from concordance.extract.cfamily import reader, test_conventions
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "cpp",
    "C++",
    extensions=(
        ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".tcc", ".txx", ".ixx",
        ".cppm", ".inc",
    ),
    aliases=("c++", "cxx", "cc", "h", "hpp"),
    tests=test_conventions.CONVENTIONS,
    doc_markup=DocMarkup.COMMANDS | DocMarkup.CALL_LINKS | DocMarkup.MEMBERS,
    doc_code="cpp",
)  # fmt: skip


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one C++ file into a `Draft`."""
    return reader.read(source, reader.CPP, macros)
