"""Plain text, and every language without a reader of its own: words, no structure."""

from __future__ import annotations

from concordance.extract.draft import Draft
from concordance.extract.source import Source
from concordance.model import Language

LANGUAGE = Language("text", "Plain text", extensions=(".txt", ".text", ".log"))


def read(source: Source) -> Draft:
    """One text file."""
    draft = Draft(source)
    draft.prose.append((1, source.text))
    return draft
