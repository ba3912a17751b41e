"""Finds design patterns and idioms in a file's code; each module of this folder has the patterns of some languages.

In: a file's draft and facts. Out: one row per place that shows a pattern. A pattern is recognised from definitions
(their bases, decorators, members) or from code that can mean nothing else; nothing is guessed. A module names the
finders of each language in `TABLES`, in the order in which pages list them; adding a file registers it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol

from concordance.base import plugins
from concordance.base.model import PatternPlace
from concordance.extract.reading.pattern_context import Finder, PatternContext

PACKAGE = "concordance.extract.patterns"
_NAMESAKE = re.compile(r"\+\d+")  # the suffix that distinguishes the keys of overloads


class PatternModule(Protocol):
    """Patterns of one or more languages."""

    @property
    def TABLES(self) -> Mapping[str, Sequence[tuple[str, Finder]]]:
        """For each language, the names of its patterns with the function that finds each."""


PROTOCOL = PatternModule


@cache
def patterns_of_language(language: str) -> tuple[tuple[str, Finder], ...]:
    """Return the patterns of a language, each with its finder."""
    return tuple(row for module in plugins.load_all(PACKAGE) for row in module.TABLES.get(language, ()))


def find_patterns(context: PatternContext) -> tuple[PatternPlace, ...]:
    """Return the places that show patterns, pattern by pattern, each in the order of the source."""
    table = patterns_of_language(context.language)
    return tuple(place for name, find in table for place in _places(context, name, find))


def _places(context: PatternContext, name: str, find: Finder) -> Iterator[PatternPlace]:
    """Yield the places of one pattern. Overloads of a name count as one, so what reads the same is listed once."""
    listed = set()
    for place in sorted(find(context)):
        about = _NAMESAKE.sub("", context.symbols[place.symbol].key) if place.symbol >= 0 else f"+{place.subject}"
        if (about, place.detail) not in listed:
            listed.add((about, place.detail))
            yield PatternPlace(name, *place)
