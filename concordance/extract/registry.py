"""The languages that have a reader: their names, and how files of each are recognised."""

from __future__ import annotations

from functools import cache

from concordance.base import plugins
from concordance.base.model import Language

LANGUAGES = "concordance.extract.languages"


@cache
def readers() -> tuple[str, ...]:
    """Return the names of the languages with a reader of their own; all other text is read as plain text."""
    return plugins.names(LANGUAGES)


def languages() -> tuple[Language, ...]:
    """Return the `Language` description of every reader, which says how its files are recognised."""
    return tuple(plugins.load(LANGUAGES, name).LANGUAGE for name in readers())


@cache
def language_of(name: str) -> Language:
    """Return the description of a language, or that of plain text if it has no reader."""
    found: Language = plugins.load(LANGUAGES, name if name in readers() else "text").LANGUAGE
    return found
