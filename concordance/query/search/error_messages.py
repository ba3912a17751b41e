"""From a message that somebody was shown to the lines that raise it.

In: a question of several words. Out: places whose message (`extract/bridges/errors.py`) says most of it: the fixed
parts must stand in the question in their order, what is filled in between them may be anything. The files that say the
question's words best are looked through, so this costs the same in any repository. A question that only shares some
words with a message is none: most of it, or all of a message that is long enough, must be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.base.model import End
from concordance.extract.text.message_templates import GAP
from concordance.query.answers import rank_of
from concordance.query.index.repository import Index
from concordance.query.search import ranking

_LEAST = 4  # words of a question that may be a message
_FILES = 150  # that are looked through
_MOST = 0.6  # the share of a question's letters that a message must say …
_WHOLE, _ENOUGH = 0.9, 24  # … or the share of the message that is said, where that is so many letters
_NEAR = 0.8  # what says less than this share of what the best one says is another message
_BEGINS = re.compile(r"^(?:[\w.]*(?:Error|Exception|Warning|panic|fatal|error|Traceback)\b[\w ]*:\s*)+")
_EDGE = 4  # letters of a part that is cut off where a question begins or ends


class RaisedMessage(NamedTuple):
    """A line that raises a message."""

    path: str
    end: End
    share: float  # of the question that it says


def raised(index: Index, question: str, folder: str, most: int) -> list[RaisedMessage]:
    """The lines that raise what a question says, best first."""
    text = plain(question)
    if len(text.split()) < _LEAST:
        return []
    asked = ranking.asked(question, folder, index.words)
    found: list[RaisedMessage] = []
    for hit in ranking.hits(index.shelves, asked, index.ranks, _FILES):
        if hit.path in index.categories:
            found += _in_file(hit.path, index.facts.ends(hit.path), text)

    def order(one: RaisedMessage) -> tuple[float, int, str, int]:
        return -round(one.share, 2), rank_of(index.category_of(one.path)), one.path, one.end.line

    best = max((one.share for one in found), default=0.0)
    return sorted((one for one in found if one.share >= _NEAR * best), key=order)[:most]


def _in_file(path: str, ends: Iterable[End], text: str) -> Iterator[RaisedMessage]:
    for end in ends:
        if end.bridge == "errors":
            share = fit(end.text, text)
            if share:
                yield RaisedMessage(path, end, share)


def plain(question: str) -> str:
    """A message without what stands before it (`RuntimeError: `) and in one case, as it is compared."""
    return _BEGINS.sub("", " ".join(question.strip("\"'` ").split())).lower()


def fit(pattern: str, text: str) -> float:
    """Which share of a text's letters a message says; 0 where it is another one."""
    parts = [part.strip() for part in pattern.lower().split(GAP)]
    parts = [part for part in parts if any(map(str.isalnum, part))]  # a quote alone stands anywhere
    covered = at = 0
    for part in parts:
        place = text.find(part, at)
        if place >= 0:
            covered += len(part)
            at = place + len(part)
            continue
        cut = _cut(part, text[at:], not covered)
        if not cut:
            if len(part) > _EDGE and covered:
                break
            continue
        covered += cut
        at = len(text) if cut < len(part) and text.endswith(part[:cut]) else at + cut
    whole = sum(len(part) for part in parts)
    if covered >= _MOST * len(text) or (covered >= _WHOLE * whole and covered >= _ENOUGH):
        return covered / max(len(text), 1)
    return 0.0


def _cut(part: str, rest: str, first: bool) -> int:
    """How many letters of a part a question says that breaks off in it, or begins in it."""
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
