"""Language plug-ins: one file per language says which files belong to it and how to parse them."""

from __future__ import annotations

from typing import Protocol

from concordance.base.model import Language
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source


class LanguageReader(Protocol):
    """A language. Most readers give `trees.read` a grammar and two queries; the others read their text themselves."""

    LANGUAGE: Language

    def read(self, source: Source) -> Draft:
        """Read one file: its definitions, imports, names and scopes."""


PROTOCOL = LanguageReader
