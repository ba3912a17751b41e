"""How much of the names and imports was resolved, by language.

In: an index. Out: counts from the store: of each expression that leads somewhere, how sure its best link is; of each
import, where it comes from; and how many uses lead nowhere that is known.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any, NamedTuple

from concordance.base.model import Trust, unpacked
from concordance.query.index.file_counts import Rows
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import lasting, shared, unless


class Rates(NamedTuple):
    """Counts by language."""

    links: dict[str, Counter[Trust]]
    imports: dict[str, Counter[str]]


class _Sums:
    """The sums over all files, with the rows that they were made of."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[str, Any]] = {}  # by path, its language and what was counted of it
        self._links: Counter[tuple[str, int]] = Counter()
        self._imports: Counter[tuple[str, str]] = Counter()

    def renew(self, languages: dict[str, str], rows: Rows) -> None:
        """Counts those rows that are others."""
        for path in self._rows.keys() - rows.keys():
            self._count(-1, *self._rows.pop(path))
        for path, row in rows.items():
            had = self._rows.get(path)
            if had is None or had[1] is not row or had[0] != languages[path]:
                if had is not None:
                    self._count(-1, *had)
                self._rows[path] = languages[path], row
                self._count(1, *self._rows[path])

    def _count(self, sign: int, language: str, row: Any) -> None:
        trusts, origins = row
        for trust, times in trusts:
            self._links[language, trust] += sign * times
        for origin, times in origins:
            self._imports[language, origin] += sign * times

    def rates(self) -> Rates:
        """The sums by language."""
        found = Rates({}, {})
        for (language, trust), times in self._links.items():
            if times:
                found.links.setdefault(language, Counter())[Trust(trust)] = times
        for (language, origin), times in self._imports.items():
            if times:
                found.imports.setdefault(language, Counter())[origin] = times
        return found


@lasting(unless())
def _sums(index: Index) -> _Sums:
    return _Sums()


@shared
def rates(index: Index) -> Rates:
    """Reads the links of all files."""
    languages = {row[1]: row[2] for row in index.bases}
    _sums(index).renew(languages, index.summaries.of("rates", sorted(languages), partial(_counted, index)))
    return _sums(index).rates()


def _counted(index: Index, path: str) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
    """Of one file, expressions by the trust of their best link, which is the first, and imports by where they lead."""
    links = index.facts.links(path)
    best = dict(zip(reversed(unpacked(links.use)), reversed(links.trust), strict=True))
    return list(Counter(best.values()).items()), list(Counter(str(one.origin) for one in links.imports).items())
