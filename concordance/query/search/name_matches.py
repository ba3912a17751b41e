"""Finds what a short question names: definitions, operators, notes, files, folders and documents, in one order.

In: a request of a few words, and the files that full-text search ranks best for it. Out: results with a score from 0 to
about 1, best first. Who types `autograd engine` has a class `Engine` below a folder `autograd` in mind, so each word
counts where it occurs: most in the name, less in the enclosing scope and in the path. The score of a candidate is the
share of the words that it covers, times how much of its name they make up, times factors for what it is: what users
import is better than a field, a local function or a namespace, source is better than tests.

Scoring every name of a repository would take seconds. Candidates are the definitions whose names are the words joined
(`batch norm`, `BatchNorm`, `batch_norm`) or one of them, the definitions in the best files, and all paths and titles
that contain the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.kinds import TYPE_KINDS, Kind
from concordance.base.model import Category
from concordance.facts.codec import SymbolHead
from concordance.facts.fulltext.words import stem
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.answers import category_rank, full_name, qualified, separator_of
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name, public_name
from concordance.query.search import ranking
from concordance.query.search.entities import ENTITIES
from concordance.query.search.request import FILE, FOLDER, SearchRequest, SearchResult

MAX_WORDS = 6  # longer questions are descriptions
_CHANGE = 3  # words, or parts of them, of a question that may describe a change: "fix cookies of the test client"
NAME_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_CAPITALS = re.compile(r"[A-Z][a-z0-9]*")
_INTERNAL = re.compile(r"(?:^|\.)(?:_?details?_?|_?internal|_?impl)\.")  # scopes that C++ keeps from its users
_TOPIC = re.compile(r"[a-z][\w-]*(?:\([\w/,-]+\))?!?: +\w+ ")  # "api: implement …", as many commit messages begin
_FILLERS = frozenset(
    ("a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "is", "are", "do", "does", "did", "by", "with",
     "from", "as", "at", "it", "its", "this", "that", "how", "what", "why", "where", "when", "which", "can", "i", "my",
     "work", "works", "write", "use", "get", "find", "be")
)  # fmt: skip
# Points of a word by where it occurs, and a factor if only the beginnings of two words agree.
_IN_NAME, _IN_SCOPE, _IN_PATH = 1.0, 0.85, 0.8
_BY_BEGINNING = 0.85
_SHORTEST_BEGINNING = 4  # letters of a word that count as the beginning of another
_SHORTENED = 3  # letters of a word that names shorten: `dir`, `env`, `arg`
# What the points of a name are multiplied with if little of it is in the question: one word, several words.
_LOOSE_ONE, _LOOSE = 0.1, 0.5
# How a single word matches a name.
_EXACT, _OTHER_CASE, _INITIALS, _BEGINS = 1.1, 1.0, 0.9, 0.6
_KINDS: dict[str, float] = {
    **dict.fromkeys(TYPE_KINDS, 1.0), Kind.FUNCTION: 0.95, Kind.MACRO: 0.95, Kind.TYPE: 0.9, Kind.OPERATOR: 0.9,
    Kind.METHOD: 0.88, Kind.PROPERTY: 0.8, Kind.MODULE: 0.8, Kind.CONSTANT: 0.7, Kind.VARIABLE: 0.65,
    Kind.ENUMERATOR: 0.6, Kind.TARGET: 0.6, Kind.HEADING: 0.8, Kind.FIELD: 0.5, Kind.NAMESPACE: 0.45, Kind.LABEL: 0.4,
    Kind.KEY: 0.35, FILE: 0.9, FOLDER: 0.85,
}  # fmt: skip
_CATEGORIES: dict[str, float] = {
    Category.SOURCE: 1.0, Category.DOCUMENTATION: 0.95, Category.BUILD: 0.8, Category.CONFIGURATION: 0.7,
    Category.GENERATED: 0.6, Category.EXAMPLE: 0.5, Category.BENCHMARK: 0.5, Category.TEST: 0.4, Category.DATA: 0.4,
    Category.VENDORED: 0.3,
}  # fmt: skip
_NOT_IMPORTED = 0.87  # public, but without a name that users import, in a language whose definitions have such names
_PRIVATE, _LOCAL, _DECLARED = 0.85, 0.5, 0.8  # private; private inside another definition; only declared
_EXPLAINS = 1.3  # a document, if the question asks how or why
_CENTRAL = 0.15  # bonus of the most central file
_DEPTH, _DOCUMENT_DEPTH = 0.985, 0.93  # for each folder around a file or folder; around a document
_INSTEAD = 0.85  # a definition with this share of the score of its file is shown instead of the file
_NEXT = 0.45  # a file's further results have at least this share of the score of its best
_LEAST = 0.3  # results below this score are left to full-text search
_MAX_PLACES = 400  # definitions of one name that are scored
_MAX_NAMES = 24  # definitions of one file that are scored
_MAX_PATHS = 300  # paths that are scored
_MAX_TITLE_LINE = 12  # lines in which a document has its title
_MAX_OPENED = 20  # files whose definitions are scored, and as many documents
_MAX_BEGINNING, _MAX_INITIALS = 60, 12
_FOLDER_FILES = frozenset(("__init__", "index", "mod", "lib"))  # files that represent their folder


@lru_cache(200_000)
def _stems(text: str) -> tuple[str, ...]:
    """Return the parts of a name or path, stemmed."""
    return tuple(stem(part.lower()) for part in NAME_PARTS.findall(text))


def _initials(parts: re.Pattern[str], name: str) -> str:
    """Return the initials of a name; those of `HTTPServer` are HS by its parts, and HTTPS by its capitals."""
    return "".join(part[0] for part in parts.findall(name)).upper()


class _Fit(NamedTuple):
    share: float  # how much of the question is covered, and where
    tight: float  # how much of the name is in the question


class QuestionWords:
    """The words of a question, and how well names contain them."""

    def __init__(self, question: str) -> None:
        words = re.findall(r"\w+", question)
        words = [word for word in words if len(word) > 1 or word.isupper()] or words
        self.typed = [word for word in words if word.lower() not in _FILLERS] or words
        self._fillers = {stem(word.lower()) for word in words if word not in self.typed}
        self.is_asking = ranking.is_asking(question)
        self.wants_tests = "test" in question.lower()
        self._known: dict[str, dict[str, float]] = {}
        self._joined = stem("".join(self.typed).lower())

    @cached_property
    def stems(self) -> list[str]:
        """The parts of all words, each once."""
        return list(dict.fromkeys(part for word in self.typed for part in _stems(word)))

    @cached_property
    def _pairs(self) -> dict[str, tuple[str, str]]:
        """Neighbours as one word: `content types` may be written `contenttypes`."""
        lower = [part.lower() for word in self.typed for part in NAME_PARTS.findall(word)]
        return {stem(one + other): (stem(one), stem(other)) for one, other in pairwise(lower)}

    def fit(self, name: str, scope: str, path: str) -> _Fit:
        """Return how well the words fit a name with what is around it; a share of 0 if none is in the name."""
        own = _stems(name)
        if not own or not self.stems:
            return _Fit(0.0, 0.0)
        whole = stem("".join(part.lower() for part in NAME_PARTS.findall(name)))
        if whole == self._joined:
            return _Fit(1.0, 1.0)
        values = dict.fromkeys(self.stems, 0.0)
        used = 0
        for part in own:
            matched = self._matching_words(part)
            for word, value in matched.items():
                values[word] = max(values[word], _IN_NAME * value)
            used += len(part) if matched else 0
        for letter, rest in pairwise(own):  # the capital of `ETag` and `OAuth` is no word of its own
            if len(letter) == 1 and stem(letter + rest) in self.stems:
                values[stem(letter + rest)], used = _IN_NAME, used + len(letter + rest)
        if not used and whole in self.stems:
            values[whole], used = _IN_NAME, len(whole)
        if not used:
            return _Fit(0.0, 0.0)
        used += sum(len(part) for part in own if part in self._fillers)  # how does it *find* the settings
        for text, counts in ((scope, _IN_SCOPE), (path, _IN_PATH)):
            if all(value >= counts for value in values.values()):
                break
            for part in _stems(text):
                for word, value in self._matching_words(part).items():
                    values[word] = max(values[word], counts * value)
        return _Fit(sum(values.values()) / len(values), used / sum(map(len, own)))

    def points(self, name: str, scope: str, path: str) -> float:
        """Return the points of a name for the words: 1 if it consists of them."""
        fit = self.fit(name, scope, path)
        least = _LOOSE_ONE if len(self.stems) == 1 else _LOOSE
        return fit.share * fit.share * (least + (1 - least) * fit.tight)

    def _matching_words(self, part: str) -> dict[str, float]:
        """Return the words of the question that a part of a name matches, each with its certainty."""
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = self._compare(part)
        return known

    def _compare(self, part: str) -> dict[str, float]:
        if part in self.stems:
            return {part: 1.0}
        if part in self._pairs:
            return dict.fromkeys(self._pairs[part], 1.0)
        return {
            word: _BY_BEGINNING
            for word in self.stems
            if (min(len(word), len(part)) >= _SHORTEST_BEGINNING and (word.startswith(part) or part.startswith(word)))
            or (len(part) == _SHORTENED and len(word) > 2 * _SHORTENED and word.startswith(part))
        }


def match_names(index: Index, request: SearchRequest, hits: Sequence[ranking.Hit]) -> list[SearchResult]:
    """Return what a question names, best first; empty for a description."""
    words = QuestionWords(request.question)
    reads_as_request = ranking.is_about_change(words.typed) or bool(_TOPIC.match(request.question))
    is_change = max(len(words.typed), len(words.stems)) >= _CHANGE and not words.is_asking and reads_as_request
    if not words.stems or len(words.typed) > MAX_WORDS or is_change:
        return []
    return _Matcher(index, request, words).best(hits)


class _Matcher:
    """Collects and scores the candidates of one question."""

    def __init__(self, index: Index, request: SearchRequest, words: QuestionWords) -> None:
        self.index, self.request, self.words = index, request, words
        self._found: dict[tuple[str, str], SearchResult] = {}

    def best(self, hits: Sequence[ranking.Hit]) -> list[SearchResult]:
        """Return the results, best first: each definition once, each file as itself or by its definitions."""
        if len(self.words.typed) == 1:
            self._one_word(self.words.typed[0])
        else:
            for name in _spellings(self.words.typed):
                self._score_places(self.index.facts.symbols_named(name))
            for word in self.words.typed:
                for name in dict.fromkeys((word, word.lower(), word[:1].upper() + word[1:], word.upper())):
                    self._score_places(self.index.facts.symbols_named(name))
        self._paths()
        self._titles()
        documents = [hit for hit in hits if self.index.category_of(hit.path) == Category.DOCUMENTATION]
        for hit in (*hits[:_MAX_OPENED], *documents[:_MAX_OPENED]):
            self._in_file(hit.path)
        rows = sorted(self._found.values(), key=lambda row: (-row.score, row.path.count("/"), row.path, row.line))
        defines: dict[str, float] = {}
        for row in rows:
            if row.symbol and row.kind != Kind.HEADING:
                defines.setdefault(row.path, row.score)
        best: dict[str, float] = {}
        kept = []
        for row in rows:
            least = _NEXT * best[row.path] if row.path in best else _LEAST
            if row.symbol:
                is_repeated = row.path in best and row.kind == Kind.HEADING
            else:
                is_repeated = row.path in best or defines.get(row.path, 0.0) >= _INSTEAD * row.score
            if row.score >= least and not is_repeated:
                best.setdefault(row.path, row.score)
                kept.append(row)
        return kept

    # --- candidates

    def _one_word(self, word: str) -> None:
        facts = self.index.facts
        self._score_places(facts.symbols_named(word), _EXACT)
        for name in dict.fromkeys((word.lower(), word[:1].upper() + word[1:], word.upper())):
            if name != word:
                self._score_places(facts.symbols_named(name), _OTHER_CASE)
        lower = word.lower()
        for path in ranking.files_defining(self.index.text_shards, lower, self.request.folder):
            if path in self.index.categories:
                same = (place for place in facts.symbols_in(path) if place.name.lower() == lower != place.name)
                self._score_places(same, _OTHER_CASE)
        if 2 <= len(word) <= 8:
            self._score_places(self._by_initials(word), _INITIALS)
        if len(word) >= 3:
            begin = dict.fromkeys((word, lower, word[0].upper() + word[1:]))
            longer = [place for name in begin for place in facts.symbols_starting_with(name, _MAX_BEGINNING)]
            self._score_places(longer, _BEGINS)

    def _by_initials(self, word: str) -> list[SymbolPlace]:
        """Return types and functions by the initials of their names: `FSDP` for FullyShardedDataParallel."""
        letters = word.upper()
        if not (letters.isascii() and letters.isalpha()) or (len(letters) < 3 and word != letters):
            return []
        names = [
            name for name in self.index.facts.names_with_initials(letters)
            if letters in (_initials(_CAPITALS, name), _initials(NAME_PARTS, name)) and name != word
        ]  # fmt: skip
        kinds = (*TYPE_KINDS, Kind.FUNCTION)
        return [p for name in names[:_MAX_INITIALS] for p in self.index.facts.symbols_named(name) if p.kind in kinds]

    def _paths(self) -> None:
        """Score the files and folders whose paths contain the words."""
        wanted = [word[: max(_SHORTEST_BEGINNING, len(word) - 3)] for word in self.words.stems]
        paths = _lower_paths(self.index)
        matched = Counter(row for word in wanted for row in paths if word in row.lower)
        least = max(1, len(wanted) - 1)  # one of several words may be missing
        rows = [(-count, row.path.count("/"), row) for row, count in matched.items() if count >= least]
        for _, _, row in sorted(rows)[:_MAX_PATHS]:
            if self.request.covers(row.path):
                self._add_path(row.path, row.is_folder)

    def _add_path(self, path: str, is_folder: bool, title: str = "", line: int = 0) -> None:
        """Score a file by its name or its title, or a folder."""
        folders, _, name = path.rpartition("/")
        name = name if is_folder else name.partition(".")[0] or name
        if not is_folder and name in _FOLDER_FILES and folders:
            folders, _, name = folders.rpartition("/")
        points = max(self.words.points(name, "", folders), self.words.points(title, "", path))
        category = Category.SOURCE if is_folder else self.index.category_of(path)
        kind = FOLDER if is_folder else FILE
        depth = _DOCUMENT_DEPTH if category == Category.DOCUMENTATION and not self.words.is_asking else _DEPTH
        score = points * self._kind_factor(kind, category, path) * depth ** path.count("/")
        self._add(SearchResult(path, line or 1, "", kind, score, ""))

    def _titles(self) -> None:
        """Score what has a page with a title of its own, such as an operator or a note."""
        for kind in plugins.load_all(ENTITIES):
            for subject, title, path, line in kind.titled(self.index, self.request.question):
                points = self.words.points(title.rpartition("::")[2], "", path)
                score = points * self._kind_factor(Kind.OPERATOR, self.index.category_of(path), path)
                if self.request.covers(path):
                    self._add(SearchResult(path, line, subject, kind.TO, score, "", title))

    def _in_file(self, path: str) -> None:
        """Score a file's definitions and headings; a document's first heading is its title."""
        if not self.request.covers(path):
            return
        opened = self.index.open_file(path)
        any_of = re.compile("|".join(map(re.escape, self.words.stems)), re.IGNORECASE)
        named = [symbol for symbol in opened.defined if any_of.search(symbol.name)]
        title = None
        if opened.file.category == Category.DOCUMENTATION:
            title = next((symbol for symbol in opened.defined if symbol.kind == Kind.HEADING), None)
            self._add_path(path, False, *((title.name, title.line) if title else _first_words(opened)))
        best = sorted(named, key=lambda head: (-sum(w in head.name.lower() for w in self.words.stems), len(head.name)))
        for symbol in best[:_MAX_NAMES]:
            if symbol is not title:
                self._add_symbol(path, symbol)

    def _add_symbol(self, path: str, symbol: SymbolHead) -> None:
        name = qualified(symbol, separator_of(self.index.open_file(path).file.language))
        scope = name[: -len(symbol.name)] if name.endswith(symbol.name) else ""
        points = self.words.points(symbol.name, scope, path)
        if points:
            score = points * self._kind_factor(symbol.kind, self.index.category_of(path), path)
            score *= self._visibility_factor(path, symbol.key, symbol.public, symbol.declaration)
            shown = public_name(self.index, path, symbol.key) or name
            self._add(SearchResult(path, symbol.line, name, symbol.kind, score, "", shown))

    def _score_places(self, places: Iterable[SymbolPlace], match: float = 0.0) -> None:
        """Score definitions; `match` is how surely the question is their name, 0 to see by its words."""
        kept = [place for place in places if place.place >= 0 and self.request.covers(place.path)]
        if len(kept) > _MAX_PLACES:
            kept.sort(key=lambda p: (category_rank(p.category), -self.index.ranks.get(p.path, 0.0), p.path, p.place))
        for place in kept[:_MAX_PLACES]:
            name = full_name(place)
            if match:
                share = match * (min(1.0, len(self.words.typed[0]) / len(place.name)) ** 0.5 if match == _BEGINS else 1)
            else:
                share = self.words.points(place.name, name[: -len(place.name)], place.path)
            score = share * self._kind_factor(place.kind, place.category, place.path)
            score *= self._visibility_factor(place.path, place.key, place.public, place.declaration)
            result = SearchResult(place.path, place.line, name, place.kind, score, "", display_name(self.index, place))
            self._add(result)

    def _add(self, result: SearchResult) -> None:
        if not self.request.has(result.kind) or _is_constructor(result):
            return
        known = self._found.get((result.path, result.symbol))
        if known is None or result.score > known.score:
            self._found[result.path, result.symbol] = result

    # --- what a candidate is

    def _kind_factor(self, kind: str, category: str, path: str) -> float:
        """Return the factor for what a candidate is, and for where it is."""
        factor = 1.0 if category == Category.TEST and self.words.wants_tests else _CATEGORIES.get(category, 0.4)
        if self.words.is_asking and category == Category.DOCUMENTATION:
            factor *= _EXPLAINS
        of_kind = 1.0 if self.request.kinds else _KINDS.get(kind, 0.5)
        return factor * of_kind * (1 + _CENTRAL * self.index.ranks.get(path, 0.0))

    def _visibility_factor(self, path: str, key: str, is_public: bool, is_declared: bool) -> float:
        """Return the factor for how a definition is seen from outside."""
        if is_public and not _INTERNAL.search(key):
            imported = self.index.language_of(path) != "python" or public_name(self.index, path, key)
            factor = 1.0 if imported else _NOT_IMPORTED
        else:
            factor = _LOCAL if "." in key and not is_public else _PRIVATE
        return factor * (_DECLARED if is_declared or path.endswith(".pyi") else 1.0)


def _is_constructor(result: SearchResult) -> bool:
    """True for a constructor or destructor that has the name of its class, which is a result itself."""
    names = re.split(r"::|\.", result.symbol) if result.kind == Kind.METHOD else []
    return len(names) > 1 and names[-1].lstrip("~") == names[-2]


def _first_words(opened: OpenFile) -> tuple[str, int]:
    """Return the first line of a plain text that begins with a word: its title; ("", 0) if there is none."""
    for number, line in enumerate((opened.lines() or [])[:_MAX_TITLE_LINE], 1):
        if line[:1].isalnum():
            return line.strip(), number
    return "", 0


def _spellings(words: Sequence[str]) -> Iterator[str]:
    """Yield the ways to write neighbouring words as one name."""
    for length in range(len(words), 1, -1):
        for start in range(len(words) - length + 1):
            some = words[start : start + length]
            capital = [word[:1].upper() + word[1:] for word in some]
            snake = "_".join(some)
            yield from dict.fromkeys(
                (snake, "".join(capital), some[0].lower() + "".join(capital[1:]), snake.lower(), snake.upper(),
                 "".join(some).lower(), some[0].upper() + "".join(capital[1:]), f"{snake.lower()}_")
            )  # fmt: skip


class _PathRow(NamedTuple):
    lower: str  # without the ending
    path: str
    is_folder: bool


@shared_until(ANY_UPDATE)
def _lower_paths(index: Index) -> list[_PathRow]:
    """Return every file and folder with its path in lower case."""
    folders: set[str] = set()
    rows = []
    for path in index.categories:
        stem_, _, _ = path.rpartition(".") if "." in path.rpartition("/")[2][1:] else (path, "", "")
        rows.append(_PathRow(stem_.lower(), path, False))
        above = path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    return rows + [_PathRow(folder.lower(), folder, True) for folder in sorted(folders)]
