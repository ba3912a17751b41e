"""Objective-C: C with classes, protocols, categories, properties and messages."""

from __future__ import annotations

from concordance.base.model import DocMarkup, Language
from concordance.extract.cfamily import reader
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "objc",
    "Objective-C",
    extensions=(".m",),
    separator="::",
    has_macros=True,
    has_prototypes=True,
    aliases=("objective-c",),
    fence="objective-c",
    has_semicolons=True,
    import_verb="includes",
    doc_markup=DocMarkup.COMMANDS | DocMarkup.CALL_LINKS,
    doc_code="objc",
    environment=reader.ENVIRONMENT,
    environment_marks=(b"env", b"ENV", b"Env"),
)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one Objective-C file into a `Draft`."""
    return reader.read(source, reader.CPP, macros, objects=True)
