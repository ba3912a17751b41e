"""Finds the lines that raise a given error message.

In: a question of several words. Out: places whose message template (`extract/bridges/errors.py`) matches most of it:
the fixed parts must occur in the question in their order; anything may be filled in between. Only the files that
full-text search ranks best are searched, so that the cost does not grow with the repository; if none of them has it,
those with a few of its words in a row. Sharing some words is not enough: the template must cover most of the question,
or the question most of a template that is long enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.base.model import End
from concordance.extract.text.message_templates import PLACEHOLDER
from concordance.query.answers import category_rank
from concordance.query.index.repository import Index
from concordance.query.search import ranking

_MIN_WORDS = 4  # a question with fewer words cannot be a message
_MAX_FILES = 150  # files that are searched
_ROW, _MAX_ROWS = 3, 30  # words in a row, and rows, by which other files are found if none of those has the message
_MIN_COVERAGE = 0.6  # the share of the question's letters that a message must cover …
_WHOLE, _ENOUGH = 0.9, 24  # … or the share of the message that is covered, and its least length
_MIN_RELATIVE_COVERAGE = 0.8  # a message that covers less than this share of what the best one does is a different one
_BEGINS = re.compile(r"^(?:[\w.]*(?:Error|Exception|Warning|panic|fatal|error|Traceback)\b[\w ]*:\s*)+")
_EDGE = 4  # letters that must be left of a part that is cut off at the start or end of a question


class RaisedMessage(NamedTuple):
    """A line that raises a message."""

    path: str
    end: End
    share: float  # share of the question that it covers


def find_raising_lines(index: Index, question: str, folder: str, limit: int) -> list[RaisedMessage]:
    """Return the lines that raise the message in a question, best first."""
    text = normalise_message(question)
    if len(text.split()) < _MIN_WORDS:
        return []
    asked = ranking.parse_question(question, folder, index.words)
    hits = ranking.rank_files(index.text_shards, asked, index.ranks, _MAX_FILES)
    lines = list(_in_files(index, [hit.path for hit in hits], text)) or list(
        _in_files(index, _files_with_rows(index, asked), text)
    )

    def order(raised: RaisedMessage) -> tuple[float, int, str, int]:
        return -round(raised.share, 2), category_rank(index.category_of(raised.path)), raised.path, raised.end.line

    best = max((raised.share for raised in lines), default=0.0)
    return sorted((raised for raised in lines if raised.share >= _MIN_RELATIVE_COVERAGE * best), key=order)[:limit]


def _files_with_rows(index: Index, query: ranking.SearchQuery) -> Iterator[str]:
    """Yield the files with a few words of a question in a row: common words rank many other files above them."""
    rows = zip(*(query.words[n : n + _MAX_ROWS] for n in range(_ROW)), strict=False)
    paths_by_row = [ranking.files_with_words(index.text_shards, row, query.folder) for row in rows]
    yield from dict.fromkeys(path for paths in paths_by_row if len(paths) <= _MAX_FILES for path in paths)


def _in_files(index: Index, paths: Iterable[str], text: str) -> Iterator[RaisedMessage]:
    for path in paths:
        if path in index.categories:
            yield from _in_file(path, index.facts.ends(path), text)


def _in_file(path: str, ends: Iterable[End], text: str) -> Iterator[RaisedMessage]:
    for end in ends:
        if end.bridge == "errors":
            share = message_coverage(end.text, text)
            if share:
                yield RaisedMessage(path, end, share)


def normalise_message(question: str) -> str:
    """Normalise a message for comparison: without a prefix such as `RuntimeError: `, in lower case."""
    return _BEGINS.sub("", " ".join(question.strip("\"'` ").split())).lower()


def message_coverage(pattern: str, text: str) -> float:
    """Return the share of a text's letters that a message covers; 0 if it is a different message."""
    parts = [part.strip() for part in pattern.lower().split(PLACEHOLDER)]
    parts = [part for part in parts if any(map(str.isalnum, part))]  # punctuation alone matches anywhere
    covered = at = 0
    for part in parts:
        place = text.find(part, at)
        if place >= 0:
            covered += len(part)
            at = place + len(part)
            continue
        cut = _shorten(part, text[at:], not covered)
        if not cut:
            if len(part) > _EDGE and covered:
                break
            continue
        covered += cut
        at = len(text) if cut < len(part) and text.endswith(part[:cut]) else at + cut
    whole = sum(len(part) for part in parts)
    if covered >= _MIN_COVERAGE * len(text) or (covered >= _WHOLE * whole and covered >= _ENOUGH):
        return covered / max(len(text), 1)
    return 0.0


def _shorten(part: str, rest: str, first: bool) -> int:
    """Return how many letters of a part match if the question ends within it, or begins within it."""
    for length in range(min(len(part), len(rest)), _EDGE - 1, -1):
        if rest.endswith(part[:length]):
            return length
    if first:
        for length in range(min(len(part), len(rest)), _EDGE - 1, -1):
            if rest.startswith(part[-length:]):
                return length
        if rest in part:
            return len(rest)
    return 0
