"""Takes out long stretches of a text that repeat one piece, so that no reader has to get through them.

The problem: a parser recovers from a syntax error by looking at what it skipped before, which makes a file of one
repeated token (`->`, a quote, `/* `) cost the square of its size, and more in some grammars. The parser library offers
no budget that is the same on every machine: a step of its progress callback may take as long as the file is, and a time
limit depends on the machine.

What is done instead. In: a file's text. Out: a text of the same length and lines in which such stretches are blank, and
where they are. A stretch is exactly periodic, four periods or more. To find them, the end of every block of the text is
looked for in the block before it; where it stands there, their distance is the period, and the stretch is followed in
both directions. A stretch keeps its ends, so that a comment, string or initialiser around it still opens and closes.
Nothing depends on the language or on which piece is repeated.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Sizes of blocks, and of the ends that are looked for. A long end shows periods in which short ones repeat.
_BLOCKS = ((2048, 64), (16_384, 1024))
_SHORTEST = 2048  # characters of a stretch, if it has many periods: people draw lines and write tables that are shorter
_SHORT = 8192  # characters of a stretch of fewer periods: generated tests and tables have shorter ones
_MANY = 64
_KEPT = 16  # characters at each end of a stretch: few, for a comment that is opened often is scanned as often
_TEXT = re.compile(r"[^\r\n]+")


class Repetition(NamedTuple):
    """A stretch that was blanked, in characters."""

    start: int
    end: int


def without_repetition(text: str) -> tuple[str, list[Repetition]]:
    """The text with repetitive stretches blanked, and where they are; nearly always the text itself."""
    stretches = _stretches(text)
    if not stretches:
        return text, []
    reached = 0
    pieces: list[str] = []
    for start, end in stretches:
        pieces += (text[reached:start], _blanked(text[start:end]))
        reached = end
    return "".join((*pieces, text[reached:])), stretches


def _blanked(text: str) -> str:
    """As many spaces, with the line ends."""
    if "\r" in text:
        return _TEXT.sub(lambda match: " " * (match.end() - match.start()), text)
    return "\n".join([" " * len(line) for line in text.split("\n")])  # a third of the time


def _stretches(text: str) -> list[Repetition]:
    """Where a text repeats itself, without the ends that are kept; white space costs little as it is."""
    found: list[Repetition] = []
    for size, tail in _BLOCKS:
        reached = 0
        for end in range(size, len(text) + 1, size):
            before = text.rfind(text[end - tail : end], end - size, end - 1) if end > reached else -1
            if before < 0:
                continue
            period = end - tail - before
            start, reached = _followed(text, before, end, period)
            shortest = max(_SHORTEST, 4 * period, min(_SHORT, _MANY * period))
            if reached - start >= shortest and not text[start:reached].isspace():
                # Whole periods, so that what is kept goes on as if nothing were missing: `0, 0` and not `0, , 0`.
                blank = (reached - start - 2 * _KEPT) // period * period
                found.append(Repetition(start + _KEPT, start + _KEPT + blank))
    stretches: list[Repetition] = []
    for one in sorted(found):
        if stretches and one.start <= stretches[-1].end:
            last = stretches.pop()
            stretches.append(Repetition(last.start, max(last.end, one.end)))
        else:
            stretches.append(one)
    return stretches


def _followed(text: str, start: int, end: int, period: int) -> tuple[int, int]:
    """The start and end of a periodic stretch, extended in both directions as far as the text repeats itself."""
    step = period
    while step:  # many periods at a time, then fewer
        if start >= step and text[start - step : start] == text[start : start + step]:
            start -= step
            step = min(2 * step, (end - start) // period * period)
        else:
            step = step // 2 // period * period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    step = (end - start) // period * period
    while step:
        if text[end : end + step] == text[end - step : end]:
            end += step
        else:
            step = step // 2 // period * period
    while end < len(text) and text[end] == text[end - period]:
        end += 1
    return start, end
