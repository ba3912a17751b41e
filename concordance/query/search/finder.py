"""Answers a search: what the question names first, then files with their best line.

In: what a person typed. Out: results, best first. A known error message leads to the line that raises it. A qualified
name or a path leads to what has it; the words of a short question to what they name (`name_matches`). Everything else
is full-text search with one row per file. A name or word that occurs nowhere is replaced by the most similar one, and
the answer says so. Words in quotes must occur literally in a line, unless they are only a small part of a long
question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import Kind
from concordance.facts.codec import SymbolHead
from concordance.facts.fulltext.index import files_with_similar
from concordance.facts.fulltext.words import CHUNK
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.answers import category_rank, full_name, qualified, separator_of
from concordance.query.index.open_file import MAX_LINE_LENGTH, OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name, public_name
from concordance.query.names.resolver import UnknownName, resolve_symbols, similar_names
from concordance.query.search import ranking
from concordance.query.search.entities import ENTITIES
from concordance.query.search.error_messages import find_raising_lines
from concordance.query.search.name_matches import MAX_WORDS, NAME_PARTS, match_names
from concordance.query.search.request import CONCEPT, FILE, FOLDER, SearchRequest, SearchResult

_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"^(?!#!|\W*(?:flake8|pylint|mypy|eslint|prettier|clang-format)\b|\W*-\*-).*[^\W\d_]{2}")
_QUALIFIED = re.compile(r"~?[^\W\d]\w*(?:(?:\.|::|#)~?[^\W\d]\w*)+(?:\(\))?")
_PATH = re.compile(r"\S*[/.]\S*")
_QUOTED = re.compile(r'"([^"]+)"')
_HOLDERS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD, Kind.ENUMERATOR))
_ALIKE = 0.75  # least similarity of a name to one that was mistyped
_VERY_ALIKE = 0.85  # a name that is less similar competes with the words of texts
_LEAST_CORRECTED = 4  # letters of a word that is corrected
_OF_KIND = 40  # files that are searched for definitions of a kind
_HITS = 200  # files that full-text search ranks, of which names are taken
_NAMED = 50  # definitions of a file whose lines are looked at
_QUOTES = 200  # files that are ranked by all words of a question, not only by the quoted ones
_CONCEPTS = 3
# Scores of the groups of results. A name that fits has up to 1 point or a little more, as `name_matches` says, and its
# file's text half a point more; a file that only its text leads to has at most half a point.
_RAISED, _QUALIFIES, _IS_PATH = 5.0, 4.0, 3.0
_MATCHES_CONCEPT = 0.3
_TEXT, _OF_NAMED = 0.5, 0.7
_MAX_FOLDERS = 50


class Findings(NamedTuple):
    """The results of a search."""

    results: list[SearchResult]
    corrected: str = ""  # the question without typing errors; "" if it was searched as it is


def find_results(index: Index, request: SearchRequest) -> Findings:
    """Return the places that fit a question, best first."""
    quoted = _QUOTED.findall(request.question)
    unquoted = _QUOTED.sub(" ", request.question).split()
    if quoted and len(unquoted) <= 4:
        return Findings(_quoting(index, request, quoted))
    results = _raising(index, request) if not request.kinds else []
    results += _by_qualified_name(index, request)
    results += _by_path(index, request)
    corrected = "" if results else correct_spelling(index, request.question)
    results += _by_words(
        index, request._replace(question=corrected or request.question), {result.path for result in results}
    )
    return Findings(_without_repetition(index, results, request.limit), corrected if results else "")


def _without_repetition(index: Index, results: list[SearchResult], limit: int) -> list[SearchResult]:
    """Return the first results with the lines they are on; a definition or file that was listed is not repeated."""
    kept: dict[tuple[str, str], SearchResult] = {}
    paths: set[str] = set()
    for result in results:
        if len(kept) == limit:
            break
        if (result.path, result.symbol) in kept or (result.kind == FILE and result.path in paths):
            continue
        kept[result.path, result.symbol] = result
        paths.add(result.path)
    return [
        result if result.snippet or result.kind == FOLDER else _with_line(index, result) for result in kept.values()
    ]


def _with_line(index: Index, result: SearchResult) -> SearchResult:
    """Add the line of a result; for a file that is found by its name, the first line that says something about it."""
    opened = index.open_file(result.path)
    lines = opened.lines() or []
    number = result.line
    if result.kind == FILE:
        imports = {row.line for row, _ in opened.import_targets}
        rest = [n for n, line in enumerate(lines[number - 1 :], number) if _WORD.search(line)]
        number = next((n for n in rest if n not in imports), next(iter(rest), number))
    text = lines[number - 1].strip() if number <= len(lines) else ""
    return result._replace(line=number, snippet=text if len(text) <= MAX_LINE_LENGTH else f"{text[:MAX_LINE_LENGTH]} …")


def _raising(index: Index, request: SearchRequest) -> list[SearchResult]:
    """Return the lines that raise the message in the question."""
    results = []
    for raised in find_raising_lines(index, request.question, request.folder, request.limit):
        opened = index.open_file(raised.path)
        line = (opened.line(raised.end.line) or "").strip()[:MAX_LINE_LENGTH]
        spot = SearchResult(raised.path, raised.end.line, "", FILE, _RAISED + raised.share, line)
        results.append(_with_symbol(index, opened, spot, request.kinds))
    return results


# --- by name


def _by_qualified_name(index: Index, request: SearchRequest) -> Iterator[SearchResult]:
    """Yield what a qualified name refers to: the definitions that have it, and what has a page under this name."""
    if not _QUALIFIED.fullmatch(request.question):
        return
    places: list[SymbolPlace] = []
    with suppress(UnknownName):
        places = resolve_symbols(index, request.question)
    public = [place for place in places if display_name(index, place) == request.question]
    pages = [
        SearchResult(path, line, subject, kind.TO, _QUALIFIES, "", title)
        for kind in plugins.load_all(ENTITIES)
        for subject, title, path, line in kind.titled(index, request.question)
        if request.has(kind.TO) and request.covers(path)
    ]
    yield from (_result(index, place) for place in public if request.has(place.kind) and request.covers(place.path))
    yield from pages
    for place in places:
        # The keys are rows of the table that the page is about.
        is_repeated = place in public or (pages and place.kind == Kind.KEY)
        if place.place >= 0 and not is_repeated and request.has(place.kind) and request.covers(place.path):
            yield _result(index, place)


def _result(index: Index, place: SymbolPlace) -> SearchResult:
    return SearchResult(
        place.path, place.line, full_name(place), place.kind, _QUALIFIES, "", display_name(index, place)
    )


def _by_path(index: Index, request: SearchRequest) -> Iterator[SearchResult]:
    """Yield files and folders by their path or the end of it."""
    asked = request.question.strip("/")
    if not _PATH.fullmatch(request.question) or not asked:
        return
    files, folders = paths_by_name(index)
    last = asked.rpartition("/")[2]

    def order(path: str) -> tuple[object, ...]:
        return category_rank(index.category_of(path)), -index.ranks.get(path, 0.0), path.count("/"), path

    paths = [path for path in files.get(last, ()) if f"/{path}".endswith(f"/{asked}") and request.covers(path)]
    if request.has(FOLDER):
        ends = (path for path in folders.get(last, ()) if f"/{path}".endswith(f"/{asked}") and request.covers(path))
        for path in sorted(ends, key=lambda path: (path.count("/"), path)):
            yield SearchResult(path, 1, "", FOLDER, _IS_PATH, "")
    for path in sorted(paths, key=order) if request.has(FILE) else ():
        yield SearchResult(path, 1, "", FILE, _IS_PATH, "")


@shared_until(ANY_UPDATE)
def paths_by_name(index: Index) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return all files and all folders by the last part of their paths."""
    files: dict[str, list[str]] = {}
    folders: dict[str, list[str]] = {}
    seen: set[str] = set()
    for path in index.categories:
        above, _, name = path.rpartition("/")
        files.setdefault(name, []).append(path)
        while above and above not in seen:
            seen.add(above)
            outer, _, name = above.rpartition("/")
            folders.setdefault(name, []).append(above)
            above = outer
    return files, folders


# --- typing errors


def correct_spelling(index: Index, question: str) -> str:
    """Return a short question with every word that occurs nowhere replaced by the most similar name; "" if none is."""
    words = re.findall(r"\w+", question)
    if len(words) > MAX_WORDS or not re.fullmatch(r"[\w ]+", question):
        return ""
    near = {word: _most_similar(index, word) for word in dict.fromkeys(words) if _is_unknown(index, word)}
    near = {word: name for word, name in near.items() if name}
    return re.sub(r"\w+", lambda match: near.get(match[0], match[0]), question) if near else ""


def _is_unknown(index: Index, word: str) -> bool:
    """True if a word occurs nowhere, neither as a name nor in any text or path."""
    parts = index.words.of(word).split()
    return (
        len(word) >= _LEAST_CORRECTED
        and bool(_NAME.fullmatch(word))
        and not all(ranking.is_known_word(index.text_shards, part) for part in parts)
        and not index.facts.symbols_starting_with(word, 1)
        and not ranking.files_defining(index.text_shards, word.lower(), "")
    )


def _most_similar(index: Index, word: str) -> str:
    """Return the name that is most similar to a mistyped one, in the case that was typed if possible; "" if none is."""
    paths = [path for path in files_with_similar(index.text_shards, word) if path in index.categories]
    names: dict[str, int] = {}
    for place in (place for path in paths for place in index.facts.symbols_in(path)):
        names[place.name] = min(category_rank(place.category), names.get(place.name, 99))
    best = _nearest(names, word)
    if best is None or -best[0] < _VERY_ALIKE:  # a word of some names, as in `RedirectResponse`, or of documents
        paths = files_with_similar(index.text_shards, index.words.of(word), "body")
        lines = (line for path in paths if path in index.categories for line in index.open_file(path).lines() or ())
        words = (part.lower() for line in lines for part in NAME_PARTS.findall(line[:MAX_LINE_LENGTH]))
        other = _nearest(dict.fromkeys((part for part in words if len(part) >= _LEAST_CORRECTED), 0), word)
        best = other if best is None or (other is not None and other[0] < best[0]) else best
    return best[3] if best is not None else next(iter(similar_names(index, word)), "")


def _nearest(names: dict[str, int], word: str) -> tuple[float, int, int, str] | None:
    """Return the name that is most similar to a mistyped one, after its negative likeness; `names` with their ranks."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word.lower())

    def likeness(name: str) -> float:
        matcher.set_seq1(name.lower())
        return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0

    def same_case(name: str) -> int:
        return sum(one == other for one, other in zip(name, word, strict=False))

    scored = ((-round(likeness(name), 2), -same_case(name), rank, name) for name, rank in names.items())
    return min((row for row in scored if -row[0] >= _ALIKE), default=None)


# --- by words


def _by_words(index: Index, request: SearchRequest, listed: Container[str] = ()) -> list[SearchResult]:
    """Return what the words name, and the files that fit them and are not listed yet, best first."""
    asked = ranking.parse_question(request.question, request.folder, index.words)
    # A build that finishes meanwhile may have added files to the text index that this store does not know.
    ranked = ranking.rank_files(index.text_shards, asked, index.ranks, max(request.limit, _HITS))
    hits = [hit for hit in ranked if hit.path in index.categories]
    best = max((hit.score for hit in hits), default=1.0)
    text = {hit.path: _TEXT * hit.score / best for hit in hits}
    named = match_names(index, request, hits)
    for hit in hits[:_MAX_FOLDERS]:  # a folder is as good as the best file in it
        above = hit.path.rpartition("/")[0]
        while above and above not in text:
            text[above] = text[hit.path]
            above = above.rpartition("/")[0]
    rows = [row._replace(score=row.score * (1 + _OF_NAMED * text.get(row.path, 0.0))) for row in named]
    if CONCEPT in request.kinds:
        rows += _concepts(index, request)
    if request.kinds and FILE not in request.kinds:
        rows += [row._replace(score=text[row.path]) for row in _of_kind(index, hits, asked, request.kinds)]
        return sorted(rows, key=lambda row: (-row.score, row.path))
    known = {row.path for row in rows}
    rest = [hit for hit in hits if hit.path not in known and hit.path not in listed]
    rows += [SearchResult(hit.path, hit.line, "", FILE, text[hit.path], "") for hit in rest]
    rows.sort(key=lambda row: (-row.score, row.path))
    by_text, fits = {hit.path for hit in rest}, {hit.path: hit for hit in hits}
    for place, row in enumerate(rows[: request.limit]):
        if row.kind == FILE and row.path in fits:
            opened = index.open_file(row.path)
            line, snippet = _best_line(index, opened, asked, fits[row.path])
            result = row._replace(line=line, snippet=snippet)
            if row.path in by_text:
                rows[place] = _with_symbol(index, opened, result, request.kinds)
            elif len(asked.weight) > 1 and _fit(index, asked, snippet) >= sum(asked.weight.values()):
                rows[place] = result  # a line with all words says more than the first one of a file that they name
    return rows


def _concepts(index: Index, request: SearchRequest) -> Iterator[SearchResult]:
    """Yield words and phrases that files are about, each with the file that fits it best."""
    known = {
        term: None for text in (request.question, request.question.lower()) for term in index.facts.terms_like(text, 3)
    }
    for number, term in enumerate(list(known)[:_CONCEPTS]):
        plain = SearchRequest(term, frozenset((FILE,)), request.folder, 1)
        for spot in islice(_by_words(index, plain), 1):
            yield spot._replace(symbol=term, kind=CONCEPT, score=_MATCHES_CONCEPT - number / 100, called=term)


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
            for symbol in _best_named(opened, list(query.weight))
            if symbol.line <= len(lines)
        ]
    most, place = max(scored, default=(0.0, -1))
    number = -place if most else max(1, hit.line)
    return number, lines[number - 1].strip()[:MAX_LINE_LENGTH]


def _best_named(opened: OpenFile, words: list[str]) -> list[SymbolHead]:
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


def _with_symbol(index: Index, opened: OpenFile, result: SearchResult, kinds: frozenset[str]) -> SearchResult:
    """Add the innermost symbol that contains a result, unless files are asked for."""
    if FILE in kinds:
        return result
    place = opened.symbol_at(result.line)
    owner = index.facts.place(opened.ids.id_at(place)) if place >= 0 else None
    if owner is None or owner.kind not in FUNCTION_KINDS:  # perhaps a constant or a field, which has no scope
        own = next((n for n, symbol in enumerate(opened.defined) if symbol.line == result.line), place)
        owner = owner if own == place else index.facts.place(opened.ids.id_at(own))
    if owner is None:
        return result
    return result._replace(symbol=full_name(owner), kind=owner.kind, called=display_name(index, owner))


def _of_kind(
    index: Index, hits: list[ranking.Hit], query: ranking.SearchQuery, kinds: frozenset[str]
) -> list[SearchResult]:
    """Return the best definition of the given kinds in each file, by its name and documentation."""
    whole = sum(query.weight.values()) or 1.0
    results = []
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
            results.append(
                SearchResult(hit.path, best.line, name, best.kind, score, opened.line(best.line) or "", shown)
            )
    return sorted(results, key=lambda spot: (-spot.score, spot.path))


def _quoting(index: Index, request: SearchRequest, phrases: list[str]) -> list[SearchResult]:
    """Return the files that contain all of the given phrases, each with the first line that contains the first one."""
    places = [ranking.files_with_phrase(index.text_shards, phrase, request.folder, index.words) for phrase in phrases]
    asked = ranking.parse_question(request.question, request.folder, index.words)
    scores = {hit.path: hit.score for hit in ranking.rank_files(index.text_shards, asked, index.ranks, _QUOTES)}
    matching = [path for path in places[0] if path in index.categories and all(path in others for others in places)]
    matching.sort(key=lambda path: (-scores.get(path, 0.0), category_rank(index.category_of(path)), path))
    results: list[SearchResult] = []
    for path in matching:
        opened = index.open_file(path)
        lines = opened.lines() or []
        quotes = [_first_line(lines, phrase, starts[path]) for phrase, starts in zip(phrases, places, strict=True)]
        if all(quotes) and len(results) < request.limit:
            spot = SearchResult(
                path, quotes[0], "", FILE, scores.get(path, 0.0), lines[quotes[0] - 1].strip()[:MAX_LINE_LENGTH]
            )
            spot = _with_symbol(index, opened, spot, request.kinds)
            results += [spot] if request.has(spot.kind) else []
    return results


def _first_line(lines: list[str], phrase: str, starts: list[int]) -> int:
    """Return the first line of the given passages that contains a phrase; 0 if none does."""
    wanted = " ".join(phrase.lower().split())
    for start in sorted(starts):
        for number in range(start, min(start + CHUNK, len(lines) + 1)):
            if wanted in " ".join(lines[number - 1].lower().split()):
                return number
    return 0
