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
    found = Rates({}, {})
    paths = sorted(row[1] for row in index.bases)
    for path, (links, imports) in index.summaries.of("rates", paths, partial(_counted, index)).items():
        language = index.language_of(path)
        if links:
            found.links.setdefault(language, Counter()).update({Trust(trust): times for trust, times in links})
        if imports:
            found.imports.setdefault(language, Counter()).update(dict(imports))
    return found


def _counted(index: Index, path: str) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Of one file, expressions by the trust of their best link, which is the first, and imports by where they lead."""
    links = index.facts.links(path)
    best = dict(zip(reversed(unpacked(links.use)), reversed(links.trust), strict=True))
    return list(Counter(best.values()).items()), list(Counter(str(one.origin) for one in links.imports).items())
