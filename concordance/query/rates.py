"""How much of the names and imports was resolved, by language.

In: an index. Out: counts from the store: of each expression that leads somewhere, how sure its best link is; of each
import, where it comes from; and how many uses lead nowhere that is known.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import NamedTuple

from concordance.model import Trust, unpacked

from .index import Index
from .reads import shared


class Rates(NamedTuple):
    """Counts by language."""

    links: dict[str, Counter[Trust]]
    imports: dict[str, Counter[str]]


@shared
def rates(index: Index) -> Rates:
    """Reads the links of all files."""
    links: dict[tuple[str, int], int] = {}
    imports: dict[tuple[str, str], int] = {}
    languages = {row[1]: row[2] for row in index.bases}
    rows = index.summaries.of("rates", sorted(languages), partial(_counted, index))
    for path, (trusts, origins) in rows.items():
        language = languages[path]
        for trust, times in trusts:
            links[language, trust] = links.get((language, trust), 0) + times
        for origin, times in origins:
            imports[language, origin] = imports.get((language, origin), 0) + times
    found = Rates({}, {})
    for (language, trust), times in links.items():
        found.links.setdefault(language, Counter())[Trust(trust)] = times
    for (language, origin), times in imports.items():
        found.imports.setdefault(language, Counter())[origin] = times
    return found


def _counted(index: Index, path: str) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Of one file, expressions by the trust of their best link, which is the first, and imports by where they lead."""
    links = index.facts.links(path)
    best = dict(zip(reversed(unpacked(links.use)), reversed(links.trust), strict=True))
    return list(Counter(best.values()).items()), list(Counter(str(one.origin) for one in links.imports).items())
