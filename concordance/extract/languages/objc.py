"""Objective-C: C with classes, protocols, categories, properties and messages."""

from __future__ import annotations

from concordance.base.model import DocMarkup
from concordance.extract.cfamily import reader
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "objc",
    "Objective-C",
    extensions=(".m",),
    aliases=("objective-c",),
    fence="objective-c",
    doc_markup=DocMarkup.COMMANDS | DocMarkup.CALL_LINKS,
    doc_code="objc",
)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one Objective-C file into a `Draft`."""
    return reader.read(source, reader.CPP, macros, objects=True)
