"""Objective-C: C with classes, protocols, categories, properties and messages."""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract.cfamily import reader
from concordance.extract.cfamily.macros import Macros
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language("objc", "Objective-C", extensions=(".m",), separator="::", has_macros=True, has_prototypes=True)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """Parse one Objective-C file into a `Draft`."""
    return reader.read(source, reader.CPP, macros, objects=True)
