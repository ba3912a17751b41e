"""How much of the names and imports was resolved, by language.

In: an index. Out: counts from the store: of each expression that leads somewhere, how sure its best link is; of each
import, where it comes from; and how many uses lead nowhere that is known.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from concordance.model import Trust, unpacked

from .index import Index


class Rates(NamedTuple):
    """Counts by language."""

    links: dict[str, Counter[Trust]]
    imports: dict[str, Counter[str]]


@lru_cache(1)
def rates(index: Index) -> Rates:
    """Reads the links of all files."""
    found = Rates({}, {})
    for _, path, language, _ in sorted(index.bases, key=lambda row: row[1]):
        links = index.facts.links(path)
        if links.trust:
            counts = found.links.setdefault(language, Counter())
            last = -1
            for use, trust in zip(unpacked(links.use), links.trust, strict=True):
                if use != last:  # the first of an expression is its best
                    counts[Trust(trust)] += 1
                    last = use
        if links.imports:
            origins = found.imports.setdefault(language, Counter())
            for target in links.imports:
                origins[target.origin] += 1
    return found
