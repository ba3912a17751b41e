"""From a question in words to places: names that are asked for, then files with their best line.

In: what a person typed. Out: rows, best first. Who types a name wants its definition: exact names come first, then
names that begin so; a name that nobody has is taken for the nearest ones. Everything else is full text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.extract.engine import language_of
from concordance.facts.read import Place
from concordance.facts.textwords import CHUNK

from . import search
from .answers import qualified
from .index import Index, rank_of
from .names import nearest

_NAME = re.compile(r"[^\W\d][\w.:]*$")
_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']{3,})'|`([^`]+)`")
_BEGINNING = 20  # names that begin like the question


class Spot(NamedTuple):
    """One answer."""

    path: str
    line: int
    symbol: str
    kind: str
    score: float
    snippet: str


def spots(index: Index, question: str, kind: str, folder: str, limit: int) -> list[Spot]:
    """The places that fit a question."""
    found = list(_by_name(index, question, kind, folder)) if _NAME.match(question) else []
    phrases = [" ".join(filter(None, match)).lower() for match in _QUOTED.findall(question)]
    asked = search.asked(question, folder, index.words)
    seen = {spot.path for spot in found}
    for hit in search.hits(index.shelves, asked, index.categories, index.ranks):
        if len(found) >= limit:
            break
        if hit.path not in seen:
            spot = _spot(index, hit, asked, phrases, kind)
            if spot is not None:
                found.append(spot)
    if not found and _NAME.match(question):  # a typing error
        for name in nearest(index, re.split(r"[.:]+", question)[-1]):
            found += _places(index, index.facts.named(name), kind, folder, 1.0)
    return found[:limit]


def _by_name(index: Index, question: str, kind: str, folder: str) -> Iterator[Spot]:
    """Definitions of the name that was typed, and of names that begin with it."""
    last = re.split(r"[.:]+", question)[-1]
    exact = dict.fromkeys((last, last.lower(), last.upper(), last[:1].upper() + last[1:]))
    same = [place for name in exact if name for place in index.facts.named(name)]
    before = [part for part in re.split(r"[.:]+", question)[:-1] if part]
    if before:
        same = [place for place in same if _is_inside(index, place, before)] or same
    yield from _places(index, same, kind, folder, 100.0)
    begin = dict.fromkeys((last, last[:1].upper() + last[1:])) if len(last) >= 3 else ()
    longer = [place for name in begin for place in index.facts.starting(name, _BEGINNING)]
    yield from _places(index, longer, kind, folder, 50.0)


def separator_of(index: Index, path: str) -> str:
    """What stands between the parts of a name in a file's language."""
    return language_of(index.language_of(path)).separator


def _is_inside(index: Index, place: Place, before: list[str]) -> bool:
    """Whether what stands before a name is around it: classes, namespaces, files or folders."""
    symbol = index.opened(place.path).symbols[place.place]
    around = [*re.split(r"[/.]", place.path), *qualified(symbol, ".").split(".")]
    return all(part in around for part in before)


def _places(index: Index, places: Iterable[Place], kind: str, folder: str, score: float) -> Iterator[Spot]:
    rows = [p for p in places if (not kind or p.kind == kind) and (not folder or p.path.startswith(f"{folder}/"))]
    rows.sort(key=lambda p: (p.declaration, rank_of(index.category_of(p.path)), -index.ranks.get(p.path, 0.0), p.path))
    for place in rows:
        opened = index.opened(place.path)
        name = qualified(opened.symbols[place.place], separator_of(index, place.path))
        centre = index.ranks.get(place.path, 0.0)
        yield Spot(place.path, place.line, name, place.kind, score + centre, opened.line(place.line) or "")


def _spot(index: Index, hit: search.Hit, asked: search.Asked, phrases: list[str], kind: str) -> Spot | None:
    """A file's best line for a question; none where it does not say a phrase, or has no such symbol."""
    opened = index.opened(hit.path)
    lines = opened.lines() or []
    if phrases:
        where = next((n for n, line in enumerate(lines, 1) if all(p in line.lower() for p in phrases)), 0)
        if not where:
            return None
        return _around(index, Spot(hit.path, where, "", "file", hit.score, lines[where - 1].strip()), kind)
    first = max(1, hit.line)
    best, most = first, -1.0
    for number in range(first, min(first + CHUNK, len(lines) + 1)):
        words = set(index.words.of(lines[number - 1]).split())
        weight = sum(asked.weight[word] for word in words if word in asked.weight)
        if weight > most:
            best, most = number, weight
    snippet = lines[best - 1].strip() if best <= len(lines) else ""
    return _around(index, Spot(hit.path, best, "", "file", hit.score, snippet), kind)


def _around(index: Index, spot: Spot, kind: str) -> Spot | None:
    """A spot with the innermost symbol around it; with a kind, the innermost of that kind."""
    symbols = index.opened(spot.path).symbols
    inside = [s for s in symbols if s.start_line <= spot.line <= s.end_line and (not kind or s.kind == kind)]
    if not inside:
        return None if kind and kind != "file" else spot
    symbol = min(inside, key=lambda s: (s.end_line - s.start_line, s.key))
    return spot._replace(symbol=qualified(symbol, separator_of(index, spot.path)), kind=symbol.kind)
