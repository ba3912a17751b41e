"""Finds files by words: what a question says, beside what every file and every stretch of lines says.

In: a question as a person types it, a name or the description of a change. Out: `Hit`s, best first. A file's score is
the sum of what its path, names, documentation and text say, joined with its best stretches of lines, where words that
stand together in the question should stand together; then by what the file is for.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import tantivy

from concordance.facts.fulltext import Shelf
from concordance.facts.textwords import Words, stem

# How much a field counts. Found on the histories of several projects, and measured on others (docs/benchmarks.md).
_WEIGHTS = {"base": 0.8, "dir": 1.1, "names": 0.2, "docs": 0.2, "body": 0.6}
_COVERS = 0.4  # that a word stands in the file at all
_DEFINES = 0.6  # that the file defines a name as it is written
_DOTTED = 2.5  # that it defines it inside of what stands before the dot
_PIECE, _PAIR, _TRIPLE = 0.25, 0.4, 0.4  # a stretch of lines, two and three words of the question in a row in it
_LATER = (1.0, 0.5, 0.33, 0.25, 0.2)  # further stretches of one file
_DECAY = 20  # words after which a word of the question counts half: people say first what matters
_FILES, _PIECES, _PHRASES = 100, 200, 40
_TALK = 0.3  # what words about the change, and not about the code, count
_TALKED = """
    fix fixes fixed fixing add adds added adding remove removes removed see thanks report reported review patch bug
    bugs issue issues regression change changes changed update updates updated make makes made use uses used using
    allow allows allowed avoid avoids avoided prevent prevents prevented improve improved improves improvement
    refactor refactored cleanup clean rename renamed move moved revert reverted deprecate bump typo typos minor
    feature commit commits backport correct corrected ensure ensured instead now new old previously currently
    support supported supports implement implemented implementation introduce introduced enable enabled better
    simplify simplified work works working need needs needed like want case cases way code problem unused missing
    properly correctly incorrect handle handled handling summary close closes resolve resolves related doc docs
    documentation test tests crash crashed several various adjust adjusted small docstring comment comments explicit
    redundant both longer about cannot back still what actually because always unnecessary required pass without
    break usage message cause apply since how consistent between per look prefer drop call consider sure due even
    where during already just
"""
# What a file is for, against source: who describes a change means source first.
_FOR = {
    "source": 1.0, "build": 0.87, "configuration": 0.51, "test": 0.46, "benchmark": 0.41, "example": 0.41,
    "documentation": 0.46, "data": 0.3, "generated": 0.41, "vendored": 0.3,
}  # fmt: skip
_DOT = re.compile(r"\b([A-Za-z_]\w*)(?:\.|::|#)([A-Za-z_]\w*)\b")
_WORD = re.compile(r"\w+")
_TEST = re.compile(r"\btests?\b|\btest_|_test\b", re.I)


class Hit(NamedTuple):
    """A file, how well it fits, and the line of its best stretch (0: none)."""

    path: str
    score: float
    line: int


class Asked(NamedTuple):
    """A question as the index needs it."""

    text: str
    words: list[str]
    weight: dict[str, float]
    folder: str
    tests: bool  # whether it asks for tests


def asked(question: str, folder: str, words: Words) -> Asked:
    """Reads a question: each word once, the later the lighter, words about changes the lightest."""
    found = words.of(question).split()
    talk = frozenset(map(stem, _TALKED.split()))
    first: dict[str, int] = {}
    times: dict[str, int] = {}
    for place, word in enumerate(found):
        first.setdefault(word, place)
        times[word] = times.get(word, 0) + 1
    weight = {w: n**0.5 * (_TALK if w in talk else 1.0) / (1 + first[w] / _DECAY) for w, n in times.items()}
    tests = bool(_TEST.search(folder)) or (bool(_TEST.search(question)) and len(question.split()) <= 8)
    return Asked(question, found, weight, folder, tests)


def hits(shelves: list[Shelf], question: Asked, categories: dict[str, str], ranks: dict[str, float]) -> list[Hit]:
    """The files that fit, best first. `categories` says what each file is for, `ranks` how central it is (0 to 1)."""
    found = []
    for shelf in shelves:
        scores, lines, closeness = _Scorer(shelf, question).scores()
        for path, score in scores.items():
            category = categories.get(path, "data")
            factor = 1.0 if question.tests and category == "test" else _FOR.get(category, 0.5)
            # What says almost the same words as the question is meant, whatever it is for; prose quotes easily.
            close = 0.0 if category in ("documentation", "data") else closeness.get(path, 0.0)
            factor += (1 - factor) * min(1.0, max(0.0, (close - 0.2) / 0.4))
            found.append(Hit(path, score * factor * (1 + 0.1 * ranks.get(path, 0.0)), lines.get(path, 0)))
    return sorted(found, key=lambda hit: (-hit.score, hit.path))


def _columns(searcher: tantivy.Searcher, found: list[Any], *fields: str) -> list[list[int]]:
    """Numbers that are stored with what was found."""
    places = [at for _, at in found]
    return [[int(value or 0) for value in searcher.fast_field_values(field, places)] for field in fields]


class _Scorer:
    """Asks one shelf."""

    def __init__(self, shelf: Shelf, question: Asked) -> None:
        self.shelf, self.question = shelf, question
        self.paths: dict[int, str] = {}
        self.should = tantivy.Occur.Should

    def scores(self) -> tuple[dict[str, float], dict[str, int], dict[str, float]]:
        """By path: the score, the line of the best stretch, and how much of the question's phrases it says."""
        if not self.question.weight or not self.shelf.files.num_docs:
            return {}, {}, {}
        score: dict[int, float] = {}
        address: dict[int, tuple[bool, tantivy.DocAddress]] = {}
        found = self.shelf.files.search(self._inside(self._about_files(), False), _FILES, count=False).hits
        rows = zip(*_columns(self.shelf.files, found, "file", "size"), found, strict=True)
        for number, size, (points, at) in rows:
            score[number] = points + math.log(size + 200)
            address[number] = False, at
        pieces, phrases = self._about_pieces()
        found = self.shelf.pieces.search(self._inside(pieces, True), _PIECES, count=False).hits
        columns = _columns(self.shelf.pieces, found, "file", "size", "line")
        seen: dict[int, int] = {}
        best: dict[int, int] = {}
        for number, size, line, (points, at) in zip(*columns, found, strict=True):
            place = seen.get(number, 0)
            seen[number] = place + 1
            best.setdefault(number, line)
            if number not in score:
                score[number] = math.log(size + 200)
                address[number] = True, at
            if place < len(_LATER):
                score[number] += _PIECE * _LATER[place] * points
        said = self._said(phrases)
        paths = {number: self._path(*address[number]) for number in score}
        return (
            {paths[number]: points for number, points in score.items()},
            {paths[number]: line for number, line in best.items() if number in paths},
            {paths[number]: share for number, share in said.items() if number in paths},
        )

    def _path(self, piece: bool, at: tantivy.DocAddress) -> str:
        searcher = self.shelf.pieces if piece else self.shelf.files
        return str(searcher.doc(at)["path"][0])

    def _inside(self, parts: list[tuple[tantivy.Occur, tantivy.Query]], piece: bool) -> tantivy.Query:
        query = tantivy.Query.boolean_query(parts)
        if not self.question.folder:
            return query
        schema = self.shelf.piece_schema if piece else self.shelf.file_schema
        within = tantivy.Query.const_score_query(tantivy.Query.term_query(schema, "folder", self.question.folder), 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, within)])

    def _rare(self, searcher: tantivy.Searcher, field: str, word: str) -> float:
        """How much a word tells: the fewer have it, the more."""
        have = searcher.doc_freq(field, word)
        return math.log(1 + (searcher.num_docs - have + 0.5) / (have + 0.5)) if have else 0.0

    def _about_files(self) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        query, schema, files = tantivy.Query, self.shelf.file_schema, self.shelf.files
        parts = []
        for word, weight in self.question.weight.items():
            for field, counts in _WEIGHTS.items():
                term = query.term_query(schema, field, word, "freq")
                parts.append((self.should, query.boost_query(term, weight * counts)))
            rare = self._rare(files, "body", word)
            if rare:
                term = query.term_query(schema, "body", word, "freq")
                parts.append((self.should, query.const_score_query(term, _COVERS * weight * rare)))
        text = self.question.text
        written = [word for word in _WORD.findall(text) if len(word) > 2]
        names = {word.lower() for word in written if word.lower() != word or "_" in word}
        dotted = {f"{one}.{other}".lower() for one, other in _DOT.findall(text)}
        for field, wanted, counts in (("defs", names, _DEFINES), ("dotted", dotted, _DOTTED)):
            for word in sorted(wanted):
                have = files.doc_freq(field, word)
                if have:
                    term = query.term_query(schema, field, word, "freq")
                    points = counts * math.log(1 + files.num_docs / have)
                    parts.append((self.should, query.const_score_query(term, points)))
        return parts

    def _about_pieces(self) -> tuple[list[tuple[tantivy.Occur, tantivy.Query]], list[tuple[str, ...]]]:
        query, schema = tantivy.Query, self.shelf.piece_schema
        words, weight = self.question.words, self.question.weight
        parts = [
            (self.should, query.boost_query(query.term_query(schema, "text", word, "freq"), counts))
            for word, counts in weight.items()
        ]
        triples: list[tuple[str, ...]] = []
        for length, counts in ((2, _PAIR), (3, _TRIPLE)):
            rows = dict.fromkeys(zip(*(words[n:] for n in range(length)), strict=False))
            rows_now = [row for row in rows if len(set(row)) == length][:_PHRASES]
            for row in rows_now:
                phrase = query.phrase_query(schema, "text", list(row), 1)
                parts.append((self.should, query.boost_query(phrase, counts * min(weight[w] for w in row) / 0.5)))
            triples = rows_now
        return parts, triples

    def _said(self, phrases: list[tuple[str, ...]]) -> dict[int, float]:
        """By file: which share of the question's phrases one stretch of it says."""
        if not phrases:
            return {}
        query, schema = tantivy.Query, self.shelf.piece_schema
        parts = [
            (self.should, query.const_score_query(query.phrase_query(schema, "text", list(row), 1), 1.0))
            for row in phrases
        ]
        found = self.shelf.pieces.search(query.boolean_query(parts), 50, count=False).hits
        (numbers,) = _columns(self.shelf.pieces, found, "file")
        said: dict[int, float] = {}
        for number, (points, _) in zip(numbers, found, strict=True):
            said[number] = max(said.get(number, 0.0), points * min(1.0, len(phrases) / 3) / len(phrases))
        return said
