"""Answers a search: definitions of a name that was typed, then files with their best line.

In: what a person typed. Out: rows, best first. Whoever types a name wants its definition: exact names come first, then
names that begin with it; an unknown name is replaced by the most similar ones. A known error message leads to the line
that raises it. Everything else is full-text search with one row per file. Words in quotes must occur literally in a
line, unless they are a small part of a long question: then somebody just quotes something.

Prefixes limit a search: `fn:` to functions, `class:` to types, `file:` to files, `kw:` to headings, keys and concepts,
`in:` to a folder. The search field in the browser and the terminal accept the same prefixes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind
from concordance.facts.codec import SymbolHead
from concordance.facts.fulltext.words import CHUNK
from concordance.facts.read import SymbolPlace, files_defining_similar
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.answers import category_rank, full_name, qualified, separator_of
from concordance.query.index.open_file import MAX_LINE_LENGTH, OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name, public_name
from concordance.query.names.resolver import UnknownName, resolve_symbols, similar_names
from concordance.query.search import ranking
from concordance.query.search.error_messages import find_raising_lines

CONCEPT = "concept"
PREFIXES: dict[str, frozenset[str]] = {
    "fn": frozenset(EXECUTABLE_KINDS), "class": frozenset((*TYPE_KINDS, Kind.TYPE)), "file": frozenset(("file",)),
    "kw": frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, CONCEPT)),
}  # fmt: skip
# A C++ name (`class::x`) or an address (`file://…`) is not a prefix.
_PREFIX = re.compile(r'(?<!\S)(fn|class|file|kw|in):(?![:/])("[^"]*"|[^\s"]*)')
_MAX_WORDS = 12  # longer questions are descriptions, which may quote what looks like a prefix
_NAME = re.compile(r"[^\W\d]\w*")
_QUALIFIED = re.compile(r"~?[^\W\d]\w*(?:(?:\.|::|#)~?[^\W\d]\w*)+(?:\(\))?")
_SHORT_PHRASE = re.compile(r"\w+(?: \w+){1,3}")
_QUOTED = re.compile(r'"([^"]+)"')
_PROSE = frozenset((Kind.HEADING, Kind.LABEL, Kind.KEY))
_HOLDERS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD, Kind.ENUMERATOR))
_WEAK = _PROSE | {Kind.NAMESPACE, Kind.TARGET}  # kinds with many definitions, or whose names are prose
_OF_CODE = EXECUTABLE_KINDS | TYPE_KINDS
_ALIKE = 0.75  # least similarity of a name to one that was mistyped
_KIND_ORDER = {
    Kind.CLASS: 0,
    Kind.STRUCT: 0,
    Kind.INTERFACE: 0,
    Kind.ENUM: 0,
    Kind.FUNCTION: 1,
    Kind.MACRO: 1,
    Kind.TYPE: 1,
}
_FOLDER_FILES = frozenset(("__init__", "index", "mod", "lib"))  # files that represent their folder
_BEGINNING = 60  # definitions whose names begin with the question
_OF_KIND = 40  # files that are searched for definitions of a kind
_NAMED = 50  # definitions of a file whose lines are looked at
_QUOTES = 200  # files that are ranked by all words of a question, not only by the quoted ones
# Base scores: any matching name ranks above any text.
_EXACT, _FILE, _SAME, _INITIALS, _BEGINS, _NEAR, _SPOKEN = 5000.0, 4000.0, 4000.0, 3000.0, 2000.0, 1000.0, 900.0
_RAISED = 6000.0  # whoever quotes a message wants the line that raises it
_PARTS = re.compile(r"[A-Z][a-z0-9]*")
_INITIALLED = 5  # definitions found by initials, at most: two letters fit many names
_CONCEPTS = 3


class SearchResult(NamedTuple):
    """One result of a search."""

    path: str
    line: int
    symbol: str  # the innermost symbol that contains the line; "" if none
    kind: str  # of the symbol; "file" if none
    score: float  # only the order is meaningful
    snippet: str  # the line; "" if the file has changed since it was indexed
    called: str = ""  # the symbol's public name, or its qualified one


def find_results(index: Index, wish: SearchRequest) -> list[SearchResult]:
    """Return the places that fit a question, best first."""
    quoted = _QUOTED.findall(wish.question)
    besides = _QUOTED.sub(" ", wish.question).split()
    if quoted and len(besides) <= 4:
        return _quoting(index, wish, quoted)
    found = _raising(index, wish) if not wish.kinds else []
    found += islice(_by_name(index, wish), wish.limit - len(found))
    if not found and _NAME.fullmatch(wish.question):
        found = list(islice(_mistyped(index, wish), wish.limit))
    if len(found) < wish.limit:
        found += islice(_by_words(index, wish, {spot.path for spot in found}), wish.limit - len(found))
    return found or _nearly(index, wish)


def _raising(index: Index, wish: SearchRequest) -> list[SearchResult]:
    """Return the lines that raise the message in the question."""
    found = []
    for one in find_raising_lines(index, wish.question, wish.folder, wish.limit):
        opened = index.open_file(one.path)
        line = (opened.line(one.end.line) or "").strip()[:MAX_LINE_LENGTH]
        spot = SearchResult(one.path, one.end.line, "", "file", _RAISED + one.share, line)
        found.append(_around(index, opened, spot, wish.kinds))
    return found


# --- by name


def _paths(index: Index, wish: SearchRequest) -> Iterator[SearchResult]:
    """Yield files by their path, the end of it, or their name without its ending."""
    asked = wish.question.strip("/")
    if not wish.has("file") or re.search(r"\s", asked):
        return
    names, stems = _by_last_name(index)
    if re.search(r"[/.]", asked):
        paths = [path for path in names.get(asked.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{asked}")]
    else:
        paths = stems.get(asked, [])

    def order(path: str) -> tuple[object, ...]:
        return category_rank(index.category_of(path)), -index.ranks.get(path, 0.0), path.count("/"), path

    for path in sorted(paths, key=order):
        if _is_below(path, wish.folder):
            lines = index.open_file(path).lines() or []
            first = next((number for number, line in enumerate(lines, 1) if line.strip()), 1)
            yield SearchResult(
                path, first, "", "file", _FILE, lines[first - 1].strip()[:MAX_LINE_LENGTH] if lines else ""
            )


@shared_until(ANY_UPDATE)
def _by_last_name(index: Index) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return all paths by file name, and by `_stem`."""
    names: dict[str, list[str]] = {}
    stems: dict[str, list[str]] = {}
    for path in index.categories:
        names.setdefault(path.rpartition("/")[2], []).append(path)
        stems.setdefault(_stem(path), []).append(path)
    return names, stems


def _stem(path: str) -> str:
    """Return a file's name without its ending; the folder's name for a file that represents its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _FOLDER_FILES else stem


def _by_name(index: Index, wish: SearchRequest) -> Iterator[SearchResult]:
    """Yield definitions and files of the name that was typed, then names that begin with it."""
    question = wish.question
    if _SHORT_PHRASE.fullmatch(question):
        yield from _places(index, [p for name in _join_words(question) for p in index.facts.named(name)], wish, _SAME)
        return
    is_name = bool(_NAME.fullmatch(question))
    same: list[SymbolPlace] = []
    if _QUALIFIED.fullmatch(question):
        with suppress(UnknownName):
            yield from _places(index, resolve_symbols(index, question), wish, _EXACT, ranked=True)
    elif is_name:
        same = index.facts.named(question) or _in_another_case(index, wish)
        yield from _places(index, (place for place in same if place.kind not in _WEAK), wish, _EXACT)
    yield from islice(_paths(index, wish), 3 if is_name else None)
    yield from _places(index, (place for place in same if place.kind in _WEAK), wish, _SAME)
    if is_name and 2 <= len(question) <= 8:
        yield from islice(_places(index, _initialled(index, question), wish, _INITIALS), _INITIALLED)
    if CONCEPT in wish.kinds:
        yield from _concepts(index, wish)
    if is_name and len(question) >= 3:
        begin = dict.fromkeys((question, question.lower(), question[0].upper() + question[1:]))
        longer = {place.id: place for name in begin for place in index.facts.starting(name, _BEGINNING)}
        # A word that many names begin with may be meant as a plain word.
        yield from islice(_places(index, longer.values(), wish, _BEGINS), max(3, wish.limit // 2))


def _initialled(index: Index, question: str) -> Iterator[SymbolPlace]:
    """Yield types and functions by the initials of their names: `FSDP` for FullyShardedDataParallel."""
    letters = question.upper()
    if not (letters.isascii() and letters.isalpha()) or (len(letters) < 3 and question != letters):
        return
    for name in index.facts.initialled(letters):
        if "".join(part[0] for part in _PARTS.findall(name)) == letters and name != question:
            yield from (place for place in index.facts.named(name) if place.kind in _OF_CODE)


def _mistyped(index: Index, wish: SearchRequest) -> Iterator[SearchResult]:
    """Yield definitions of names similar to a mistyped one; nothing if all parts of it are known words."""
    if all(ranking.is_known_word(index.text_shards, part) for part in index.words.of(wish.question).split()):
        return
    paths = [path for path in files_defining_similar(index.text_shards, wish.question) if path in index.categories]
    names = {place.name for path in paths for place in index.facts.symbols_in(path)}
    meant = get_close_matches(wish.question.lower(), {name.lower() for name in names}, 2, _ALIKE)
    places = [p for name in sorted(names) if name.lower() in meant for p in index.facts.named(name)]
    yield from islice(_places(index, places, wish, _NEAR), max(3, wish.limit // 2))


def _concepts(index: Index, wish: SearchRequest) -> Iterator[SearchResult]:
    """Yield words and phrases that files are about, each with the file that fits it best."""
    known = {term: None for text in (wish.question, wish.question.lower()) for term in index.facts.terms_like(text, 3)}
    for number, term in enumerate(list(known)[:_CONCEPTS]):
        plain = SearchRequest(term, frozenset(("file",)), wish.folder, 1)
        for spot in islice(_by_words(index, plain, set()), 1):
            yield spot._replace(symbol=term, kind=CONCEPT, score=_SPOKEN - number, called=term)


def _in_another_case(index: Index, wish: SearchRequest) -> list[SymbolPlace]:
    """Return definitions of a name that is spelled in another case: `DataLoader` for `dataloader`."""
    lower = wish.question.lower()
    paths = [path for path in ranking.files_defining(index.text_shards, lower, wish.folder) if path in index.categories]
    return [place for path in paths for place in index.facts.symbols_in(path) if place.name.lower() == lower]


def _join_words(question: str) -> list[str]:
    """Return the ways to write some words as one name."""
    words = question.split()
    capital = [word[:1].upper() + word[1:] for word in words]
    camel = words[0].lower() + "".join(capital[1:])
    snake = "_".join(words)
    return list(dict.fromkeys((snake, "".join(capital), camel, snake.lower(), snake.upper(), "".join(words).lower())))


def _places(
    index: Index, places: Iterable[SymbolPlace], wish: SearchRequest, score: float, ranked: bool = False
) -> Iterator[SearchResult]:
    """Yield definitions as results: definitions before declarations, source before the rest, central files first."""
    tests = "test" in wish.question.lower() or "test" in wish.folder.lower()

    def order(place: SymbolPlace) -> tuple[object, ...]:
        return (
            place.kind in _PROSE, place.declaration or ".pyi" in place.path,
            0 if tests else category_rank(place.category), place.kind in _HOLDERS, len(place.name), not place.public,
            _KIND_ORDER.get(Kind(place.kind), 2), -index.ranks.get(place.path, 0.0), place.path, place.line,
        )  # fmt: skip

    rows = [p for p in places if p.place >= 0 and wish.has(p.kind) and _is_below(p.path, wish.folder)]
    for number, place in enumerate(rows if ranked else sorted(rows, key=order)):
        line = index.open_file(place.path).line(place.line) or ""
        best = max(score - number, score - 999)
        yield SearchResult(place.path, place.line, full_name(place), place.kind, best, line, display_name(index, place))


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")


def _nearly(index: Index, wish: SearchRequest) -> list[SearchResult]:
    """Search again with every unknown word replaced by the most similar name."""
    found: list[SearchResult] = []
    if _NAME.fullmatch(wish.question):
        for number, name in enumerate(similar_names(index, wish.question)):
            found += _places(index, index.facts.named(name), wish, _NEAR - 300 * number)
        return found[: wish.limit]
    near = {}
    for word in dict.fromkeys(re.findall(r"[^\W\d]\w{3,}", wish.question)):
        known = any(ranking.is_known_word(index.text_shards, part) for part in index.words.of(word).split())
        names = [] if known else similar_names(index, word)
        if names:
            near[word] = names[0]
    if not near:
        return []
    corrected = re.sub(r"\w+", lambda match: near.get(match[0], match[0]), wish.question)
    return list(islice(_by_words(index, wish._replace(question=corrected), set()), wish.limit))


# --- by words


def _by_words(index: Index, wish: SearchRequest, excluded: set[str]) -> Iterator[SearchResult]:
    """Yield a result for each file that fits and was not seen yet, or for its best definition of the wanted kinds."""
    asked = ranking.parse_question(wish.question, wish.folder, index.words)
    most = max(wish.limit, _OF_KIND) + len(excluded)
    all_ = ranking.rank_files(index.text_shards, asked, index.ranks, most)
    # A build that finishes meanwhile may have added files to the text index that this store does not know.
    hits = [hit for hit in all_ if hit.path not in excluded and hit.path in index.categories]
    if wish.kinds and "file" not in wish.kinds:
        yield from _of_kind(index, hits, asked, wish.kinds)
        return
    for hit in hits:
        opened = index.open_file(hit.path)
        line, snippet = _best_line(index, opened, asked, hit)
        yield _around(index, opened, SearchResult(hit.path, line, "", "file", hit.score, snippet), wish.kinds)


def _best_line(index: Index, opened: OpenFile, query: ranking.SearchQuery, hit: ranking.Hit) -> tuple[int, str]:
    """Return the line of the best passage that fits a question best; for short questions, definitions count too."""
    lines = opened.lines()
    if not lines:
        return max(1, hit.line), ""

    def says(number: int) -> float:
        return _fit(index, query, lines[number - 1][:MAX_LINE_LENGTH])

    stretch = range(hit.line, min(hit.line + CHUNK, len(lines) + 1)) if hit.line else range(1, 1)
    scored = [(says(number), -number) for number in stretch]
    if len(query.weight) <= 4:
        scored += [
            (says(symbol.line) + _defines(index, query, symbol), -symbol.line)
            for symbol in _named(opened, list(query.weight))
            if symbol.line <= len(lines)
        ]
    most, place = max(scored, default=(0.0, -1))
    number = -place if most else max(1, hit.line)
    return number, lines[number - 1].strip()[:MAX_LINE_LENGTH]


def _named(opened: OpenFile, words: list[str]) -> list[SymbolHead]:
    """Return the symbols whose names contain the most of the words; among equals, the shortest names come first."""
    any_of = re.compile("|".join(map(re.escape, words)), re.IGNORECASE).search
    counted = [(-sum(w in s.name.lower() for w in words), len(s.name), s) for s in opened.defined if any_of(s.name)]
    return [symbol for *_, symbol in sorted(counted, key=lambda row: row[:2])[:_NAMED]]


def _defines(index: Index, query: ranking.SearchQuery, symbol: SymbolHead) -> float:
    """Return the bonus of a definition over a use: largest if its name has just the words asked for."""
    words = set(index.words.of(symbol.name).split())
    counts = 1.0 if symbol.kind in _HOLDERS else 2.0
    return counts * sum(query.weight.get(word, 0.0) for word in words) / math.sqrt(max(1, len(words)))


def _fit(index: Index, query: ranking.SearchQuery, text: str) -> float:
    """Return how much of a question a text contains."""
    return sum(query.weight.get(word, 0.0) for word in set(index.words.of(text).split()))


def _around(index: Index, opened: OpenFile, result: SearchResult, kinds: frozenset[str]) -> SearchResult:
    """Add the innermost symbol that contains a result, unless files are asked for."""
    if "file" in kinds:
        return result
    place = opened.symbol_at(result.line)
    found = index.facts.place(opened.ids.id_at(place)) if place >= 0 else None
    if found is None or found.kind not in FUNCTION_KINDS:  # perhaps a constant or a field, which has no scope
        own = next((n for n, symbol in enumerate(opened.defined) if symbol.line == result.line), place)
        found = found if own == place else index.facts.place(opened.ids.id_at(own))
    if found is None:
        return result
    return result._replace(symbol=full_name(found), kind=found.kind, called=display_name(index, found))


def _of_kind(
    index: Index, hits: list[ranking.Hit], query: ranking.SearchQuery, kinds: frozenset[str]
) -> list[SearchResult]:
    """Return the best definition of the given kinds in each file, by its name and documentation."""
    whole = sum(query.weight.values()) or 1.0
    found = []
    for hit in hits[:_OF_KIND]:
        opened = index.open_file(hit.path)

        def fit(symbol: SymbolHead) -> float:
            return _fit(index, query, symbol.name) + 0.3 * _fit(index, query, symbol.doc[:MAX_LINE_LENGTH])

        best = max((symbol for symbol in opened.defined if symbol.kind in kinds), key=fit, default=None)
        share = fit(best) / whole if best is not None else 0.0
        if best is not None and share:
            name = qualified(best, separator_of(opened.file.language))
            score = hit.score * share**0.5
            shown = public_name(index, hit.path, best.key) or name
            found.append(SearchResult(hit.path, best.line, name, best.kind, score, opened.line(best.line) or "", shown))
    return sorted(found, key=lambda spot: (-spot.score, spot.path))


def _quoting(index: Index, wish: SearchRequest, phrases: list[str]) -> list[SearchResult]:
    """Return the files that contain all of the given phrases, each with the first line that contains the first one."""
    places = [ranking.files_with_phrase(index.text_shards, phrase, wish.folder, index.words) for phrase in phrases]
    asked = ranking.parse_question(wish.question, wish.folder, index.words)
    scores = {hit.path: hit.score for hit in ranking.rank_files(index.text_shards, asked, index.ranks, _QUOTES)}
    both = [path for path in places[0] if path in index.categories and all(path in others for others in places)]
    both.sort(key=lambda path: (-scores.get(path, 0.0), category_rank(index.category_of(path)), path))
    found: list[SearchResult] = []
    for path in both:
        opened = index.open_file(path)
        lines = opened.lines() or []
        said = [_first(lines, phrase, starts[path]) for phrase, starts in zip(phrases, places, strict=True)]
        if all(said) and len(found) < wish.limit:
            spot = SearchResult(
                path, said[0], "", "file", scores.get(path, 0.0), lines[said[0] - 1].strip()[:MAX_LINE_LENGTH]
            )
            spot = _around(index, opened, spot, wish.kinds)
            found += [spot] if wish.has(spot.kind) else []
    return found


def _first(lines: list[str], phrase: str, starts: list[int]) -> int:
    """Return the first line of the given passages that contains a phrase; 0 if none does."""
    wanted = " ".join(phrase.lower().split())
    for start in sorted(starts):
        for number in range(start, min(start + CHUNK, len(lines) + 1)):
            if wanted in " ".join(lines[number - 1].lower().split()):
                return number
    return 0


# Parsing a question with prefixes.


class SearchRequest(NamedTuple):
    """A question and what it is limited to."""

    question: str
    kinds: frozenset[str]  # empty: all
    folder: str
    limit: int

    def has(self, kind: str) -> bool:
        """True if results of this kind are wanted."""
        return not self.kinds or kind in self.kinds


def parse_filters(text: str, kind: str, folder: str, limit: int) -> SearchRequest:
    """Parse a question; `kind` and `folder` apply unless the question itself sets them."""
    kinds = {kind} if kind else set()
    if len(text.split()) > _MAX_WORDS:
        return SearchRequest(text, frozenset(kinds), folder, limit)
    asked: list[str] = []
    at = 0
    for found in _PREFIX.finditer(text):
        asked.append(text[at : found.start()])
        at = found.end()
        if found[1] == "in":
            folder = found[2].strip('"')
        else:
            kinds |= PREFIXES[found[1]]
            asked.append(found[2])
    asked.append(text[at:])
    return SearchRequest(" ".join("".join(asked).split()), frozenset(kinds), folder, limit)
