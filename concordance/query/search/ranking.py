"""Full-text ranking: finds the files that best fit the words of a question.

In: a question as a person types it, be it a name or the description of a change. Out: `Hit`s, best first. A file's
score is the sum over its path, names, documentation and text, plus its best passages, in which words that are adjacent
in the question should be adjacent too; it is then weighted by the file's category. The weights were tuned on the
histories of some projects and measured on others (`bench/search.py`); small changes of them make little difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from concordance.base.model import Category
from concordance.facts.fulltext.index import FieldQuery, IndexShard
from concordance.facts.fulltext.words import WordNormalizer, stem

_WEIGHTS = {"base": 0.8, "dir": 1.1, "names": 0.2, "docs": 0.2, "body": 0.5}
_COVERS = 0.4  # the file contains a word at all
_DEFINES = 0.6  # the file defines a name as it is spelled
_DOTTED = 2.5  # it defines a name inside of what precedes the dot
_PIECE, _PAIR, _TRIPLE = 0.22, 0.6, 0.6  # a passage; two and three adjacent words of the question in it
_PASSAGE_WEIGHTS = (1.0, 0.5, 0.33, 0.25, 0.2)  # weights of a file's passages, best first
_DECAY = 20  # words after which the weight of a word is halved: people say first what matters
_WORDS, _PHRASES = 120, 40  # words and phrases of a question that count; later ones add cost but little information
_FILES, _PIECES = 200, 300  # files and passages of a shard that are scored
_MAX_COVERING = 50  # passages that may contain almost the whole question
_QUOTES = 1000  # passages that may contain a phrase
_DEFINING = 5  # files that define a name
_CENTRAL = 0.1  # bonus of the most central file
_CHANGE_WEIGHT = 0.3  # weight of words that are about the change, not about the code
_CHANGE_REQUEST_WORDS = """
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
# Weight of each category: descriptions of changes are about source first.
CATEGORY_WEIGHT: dict[str, float] = {
    Category.SOURCE: 1.0, Category.BUILD: 0.87, Category.CONFIGURATION: 0.51, Category.TEST: 0.46,
    Category.BENCHMARK: 0.41, Category.EXAMPLE: 0.41, Category.DOCUMENTATION: 0.46, Category.DATA: 0.3,
    Category.GENERATED: 0.41, Category.VENDORED: 0.3,
}  # fmt: skip
_QUOTING = frozenset((Category.DOCUMENTATION, Category.DATA))  # prose: a changelog has the words of every change
_TEST = re.compile(r"(?:^|[\W_])(?:unit|e2e)?tests?(?:ing)?(?:$|[\W_])", re.IGNORECASE)
_ASKS = re.compile(r"(?:how|what|why|where|when|which)\b", re.IGNORECASE)
_EXPLAINS = 0.9  # weight of documents for a question, which they often answer
_DOT = re.compile(r"\b([A-Za-z_]\w*)(?:\.|::|#)([A-Za-z_]\w*)\b")
_WORD = re.compile(r"\w+")


class Hit(NamedTuple):
    """A file that fits a question."""

    path: str
    score: float
    line: int  # the first line of its best passage; 0 if none stands out


class SearchQuery(NamedTuple):
    """A question as the full-text index needs it."""

    text: str
    words: list[str]
    weight: dict[str, float]
    folder: str
    tests: bool  # True if it asks for tests
    asks: bool  # True if it is a question, such as "how does X work"


def parse_question(question: str, folder: str, words: WordNormalizer) -> SearchQuery:
    """Parse a question: each word once, later words weigh less, words about changes least."""
    normalised = words.of(question).split()[:_WORDS]
    first: dict[str, int] = {}
    times: dict[str, int] = {}
    for place, word in enumerate(normalised):
        first.setdefault(word, place)
        times[word] = times.get(word, 0) + 1
    fillers = _change_request_stems()
    weight = {w: n**0.5 * (_CHANGE_WEIGHT if w in fillers else 1.0) / (1 + first[w] / _DECAY) for w, n in times.items()}
    tests = bool(_TEST.search(folder)) or (bool(_TEST.search(question)) and len(question.split()) <= 8)
    return SearchQuery(question, normalised, weight, folder, tests, is_asking(question))


def is_asking(question: str) -> bool:
    """True if a question begins with how, what, why and so on."""
    return bool(_ASKS.match(question))


def is_about_change(words: Iterable[str]) -> bool:
    """True if one of the words is about a change, not about the code."""
    return any(stem(word.lower()) in _change_request_stems() for word in words)


@cache
def _change_request_stems() -> frozenset[str]:
    return frozenset(map(stem, _CHANGE_REQUEST_WORDS.split()))


def rank_files(shards: list[IndexShard], question: SearchQuery, ranks: dict[str, float], limit: int) -> list[Hit]:
    """Return the files that fit, best first; `ranks` is the centrality of each file, from 0 to 1."""
    scorers = [_Scorer(shard, question, limit) for shard in shards if shard.count] if question.weight else []
    own = max((scorer.source_coverage() for scorer in scorers), default=0.0)
    hits = [hit for scorer in scorers for hit in scorer.hits(ranks, limit, own)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.path))[:limit]


def files_with_phrase(
    shards: list[IndexShard], phrase: str, folder: str, words: WordNormalizer
) -> dict[str, list[int]]:
    """Return the files that may contain a phrase literally, with the first lines of the candidate passages."""
    return files_with_words(shards, words.of(phrase).split()[:_WORDS], folder)


def files_with_words(shards: list[IndexShard], words: Iterable[str], folder: str = "") -> dict[str, list[int]]:
    """Return the files with some words of the index in a row, with the first lines of the passages."""
    row = tuple(words)
    files: dict[str, list[int]] = {}
    for shard in shards:
        for piece in shard.pieces([FieldQuery("text", row, 1.0)] if row else [], folder, _QUOTES):
            files.setdefault(shard.path(piece), []).append(piece.line)
    return files


def files_defining(shards: list[IndexShard], name: str, folder: str) -> list[str]:
    """Return some of the files that define a name, ignoring case."""
    wanted = [FieldQuery("defs", (name.lower(),), 1.0, flat=True)]
    return [shard.path(file) for shard in shards for file in shard.files(wanted, folder, _DEFINING)]


def is_known_word(shards: list[IndexShard], word: str) -> bool:
    """True if any file contains a word."""
    return any(shard.rare(field, word) for shard in shards for field in ("body", "base", "dir"))


class _Scorer:
    """Scores the files of one index shard."""

    def __init__(self, shard: IndexShard, question: SearchQuery, limit: int) -> None:
        self.shard, self.question = shard, question
        self._triples = self._rows(3, _TRIPLE)
        self._coverage = self._phrase_coverage(self._triples)
        self._files = shard.files(self._about_files(), question.folder, max(_FILES, limit))

    def source_coverage(self) -> float:
        """Return the largest share of the question's three-word sequences that a passage of a source contains."""
        sources = (file.number for file in self._files if file.purpose == Category.SOURCE)
        return max((self._coverage.get(number, 0.0) for number in sources), default=0.0)

    def hits(self, ranks: dict[str, float], limit: int, own: float) -> list[Hit]:
        """Return the best files of the shard; `own` is the coverage of the sources in all shards."""
        folder = self.question.folder
        score: dict[int, float] = {}
        line: dict[int, int] = {}
        seen: dict[int, int] = {}
        for piece in self.shard.pieces([*self._about_pieces(), *self._rows(2, _PAIR), *self._triples], folder, _PIECES):
            place = seen[piece.number] = seen.get(piece.number, -1) + 1
            line.setdefault(piece.number, piece.line)
            if place < len(_PASSAGE_WEIGHTS):
                score[piece.number] = score.get(piece.number, 0.0) + _PIECE * _PASSAGE_WEIGHTS[place] * piece.score
        hits = []
        for file in self._files:
            points = file.score + score.get(file.number, 0.0) + math.log(file.size + 200)
            covers = self._coverage.get(file.number, 0.0)
            hits.append((points * self._factor(file.purpose, covers if covers > own else 0.0), file))
        # Looking up paths is slow, so it is done only for files that centrality can still lift among the best.
        least = sorted((points for points, _ in hits), reverse=True)[:limit][-1:] or [0.0]
        best = [(self.shard.path(file), points, file) for points, file in hits if points * (1 + _CENTRAL) >= least[0]]
        rows = ((path, points * (1 + _CENTRAL * ranks.get(path, 0.0)), file) for path, points, file in best)
        return [Hit(path, points, line.get(file.number, 0)) for path, points, file in rows]

    def _factor(self, purpose: Category, coverage: float) -> float:
        """Return the weight of a category; a file that contains almost the whole question, and more of it than any
        source, counts fully, unless it is prose: a test or a bundle that quotes a source is not what is looked for."""
        factor = CATEGORY_WEIGHT[purpose]
        if self.question.asks and purpose == Category.DOCUMENTATION:
            factor = _EXPLAINS
        if self.question.tests:
            factor = 1.0 if purpose == Category.TEST else factor * CATEGORY_WEIGHT[Category.TEST]
        return factor if purpose in _QUOTING else factor + (1 - factor) * min(1.0, max(0.0, (coverage - 0.2) / 0.4))

    def _about_files(self) -> list[FieldQuery]:
        wanted = []
        for word, weight in self.question.weight.items():
            wanted += [FieldQuery(field, (word,), weight * counts) for field, counts in _WEIGHTS.items()]
            rare = self.shard.rare("body", word)
            if rare:
                wanted.append(FieldQuery("body", (word,), _COVERS * weight * rare, flat=True))
        text = self.question.text
        names = {
            word.lower() for word in _WORD.findall(text) if len(word) > 2 and (word.lower() != word or "_" in word)
        }
        dotted = {f"{one}.{other}".lower() for one, other in _DOT.findall(text)}
        for field, written, counts in (("defs", names, _DEFINES), ("dotted", dotted, _DOTTED)):
            for word in sorted(written)[:_WORDS]:
                rare = self.shard.rare(field, word)
                if rare:
                    wanted.append(FieldQuery(field, (word,), counts * rare, flat=True))
        return wanted

    def _about_pieces(self) -> list[FieldQuery]:
        return [FieldQuery("text", (word,), weight) for word, weight in self.question.weight.items()]

    def _rows(self, length: int, counts: float) -> list[FieldQuery]:
        """Return queries for words that are adjacent in the question."""
        words, weight = self.question.words, self.question.weight
        rows = dict.fromkeys(zip(*(words[n:] for n in range(length)), strict=False))
        rows_now = [row for row in rows if len(set(row)) == length][:_PHRASES]
        return [FieldQuery("text", row, counts * min(weight[word] for word in row)) for row in rows_now]

    def _phrase_coverage(self, triples: list[FieldQuery]) -> dict[int, float]:
        """Return, by file, the largest share of the question's three-word sequences that one passage contains."""
        coverage: dict[int, float] = {}
        each = 1 / max(3, len(triples))
        wanted = [field_query._replace(weight=each, flat=True) for field_query in triples]
        for piece in self.shard.pieces(wanted, self.question.folder, _MAX_COVERING):
            coverage[piece.number] = max(coverage.get(piece.number, 0.0), piece.score)
        return coverage
