"""The languages that have a reader: their names, and how files of each are recognised."""

from __future__ import annotations

from functools import cache

from concordance.base import plugins
from concordance.base.model import Language

LANGUAGES = "concordance.extract.languages"


@cache
def readers() -> tuple[str, ...]:
    """The languages that have a reader of their own; every other text is read as plain text."""
    return plugins.names(LANGUAGES)


def languages() -> tuple[Language, ...]:
    """How each of those is recognised."""
    return tuple(plugins.load(LANGUAGES, name).LANGUAGE for name in readers())


@cache
def language_of(name: str) -> Language:
    """How a language's names are written; that of plain text, where it has no reader."""
    found: Language = plugins.load(LANGUAGES, name if name in readers() else "text").LANGUAGE
    return found
