"""Guards against texts that a parser would take far too long to read: repetition, token soup, deep nesting.

The problem: the parser library recovers from a syntax error by copying what it has skipped so far, so a file that
repeats one token (`->`, a quote, `/* `), or most of whose tokens fit no rule, costs the square of its size, and more
in some grammars: 8 KB of `()` in a shell script take 0.3 s, twice as many four times as long. The obvious remedy, a
budget, fails: a time limit depends on the machine, a step of the progress callback may take as long as the whole
file, and the Python binding ignores that callback if it is given bytes and crashes if it is given a function that
reads them.

What is done instead, for repetition (`without_repetition`). In: a file's text. Out: a text of the same length and
lines in which repetitive ranges are blank, and these ranges. A range is repetitive if it is exactly periodic with at
least four periods. To find such ranges, the end of every block of the text is searched in the rest of that block; if
it occurs there, the distance is the period, and the range is extended in both directions. The two ends of a range
are kept, so that a comment, string or initialiser around it is still opened and closed. This does not depend on the
language or on what is repeated.

For token soup (`is_unparsable`). In: the bytes of a file and its grammar. Out: whether parsing it would take too
long. The text is first parsed in pieces, which takes linear time whatever it contains, and the skipped tokens are
counted, up to a limit. Pieces are cut at line ends, regardless of structure. This costs few tokens: if a block is
cut in two, the parser still recognises the statements in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from concordance.extract.reading import trees

_PIECE = 2048  # bytes; a text of up to this size is always parsed
# How many tokens may be skipped: a fixed number, plus one per so many bytes. Of the scripts and TOML files of four
# large repositories, the worst reaches six tenths of the limit.
_SKIPPED = 1000
_BYTES_PER_SKIPPED = 128
NOT_READ = "not read: too many tokens that fit no statement"
_DEEPEST = 1000  # levels of nested nodes
_STEP = 1000  # bytes between two places at which the depth of a tree is measured
TOO_DEEP = f"not read: nested more than {_DEEPEST:,} deep"

# Sizes of blocks, and of the block ends that are searched. A long end finds periods that contain shorter repetitions.
_BLOCKS = ((2048, 64), (16_384, 1024))
_SHORTEST = 2048  # characters of a range with many periods; lines and tables drawn by people are shorter
_SHORT = 8192  # characters of a range with fewer periods; those in generated tests and tables are shorter
_MANY = 64
_KEPT_CHARACTERS = (
    16  # characters kept at each end; few, because text that opens a comment many times is scanned as often
)
_TEXT = re.compile(r"[^\r\n]+")


class Repetition(NamedTuple):
    """A range that was blanked out, in characters."""

    start: int
    end: int


def without_repetition(text: str) -> tuple[str, list[Repetition]]:
    """Return the text with repetitive ranges blanked out, and these ranges; almost always the text is unchanged."""
    stretches = _repetitive_ranges(text)
    if not stretches:
        return text, []
    reached = 0
    pieces: list[str] = []
    for start, end in stretches:
        pieces += (text[reached:start], _blanked(text[start:end]))
        reached = end
    return "".join((*pieces, text[reached:])), stretches


def _blanked(text: str) -> str:
    """Replace everything except line ends by spaces."""
    if "\r" in text:
        return _TEXT.sub(lambda match: " " * (match.end() - match.start()), text)
    return "\n".join([" " * len(line) for line in text.split("\n")])  # three times as fast


def _repetitive_ranges(text: str) -> list[Repetition]:
    """Return the repetitive ranges of a text, without the ends that are kept.

    White space is left alone, because it costs little to parse.
    """
    ranges: list[Repetition] = []
    for size, tail in _BLOCKS:
        reached = 0
        for end in range(size, len(text) + 1, size):
            before = text.rfind(text[end - tail : end], end - size, end - 1) if end > reached else -1
            if before < 0:
                continue
            period = end - tail - before
            start, reached = _extend_range(text, before, end, period)
            shortest = max(_SHORTEST, 4 * period, min(_SHORT, _MANY * period))
            if reached - start >= shortest and not text[start:reached].isspace():
                # Blank whole periods, so that the kept ends join up as if nothing were missing: `0, 0`, not `0, , 0`.
                blank = (reached - start - 2 * _KEPT_CHARACTERS) // period * period
                ranges.append(Repetition(start + _KEPT_CHARACTERS, start + _KEPT_CHARACTERS + blank))
    stretches: list[Repetition] = []
    for repetition in sorted(ranges):
        if stretches and repetition.start <= stretches[-1].end:
            last = stretches.pop()
            stretches.append(Repetition(last.start, max(last.end, repetition.end)))
        else:
            stretches.append(repetition)
    return stretches


def _extend_range(text: str, start: int, end: int, period: int) -> tuple[int, int]:
    """Return the bounds of a periodic range, extended in both directions as far as the text repeats."""
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


# Texts that a parser skips too much of, or that nest too deep.


def is_unparsable(data: bytes, grammar: trees.Grammar) -> bool:
    """True if the parser would skip so many tokens that its time would grow with the square of the size."""
    if len(data) <= _PIECE:
        return False
    tools = trees.compile_grammar(grammar)
    most = _SKIPPED + len(data) // _BYTES_PER_SKIPPED
    skipped = 0
    for piece in _pieces(data):
        root = tools.parser.parse(piece).root_node
        if root.has_error:
            captures = trees.captures(tools.errors, root)
            skipped += sum(map(_skipped, captures.get("error", ()))) + len(captures.get("missing", ()))
            if skipped > most:
                return True
    return False


def is_too_deep(root: Node) -> bool:
    """True if a tree is nested so deeply that querying it takes far too long: time grows with the square of the depth.

    A deeply nested construct is also long, so it is enough to measure at places closer together than the limit.
    """
    cursor = root.walk()
    for at in range(root.start_byte, root.end_byte, _STEP):
        cursor.reset(root)
        depth = 0
        while cursor.goto_first_child_for_byte(at) is not None:
            depth += 1
            if depth > _DEEPEST:
                return True
    return False


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = min(len(data), start + _PIECE)
        cut = data.rfind(b"\n", start, end) + 1 if end < len(data) else 0
        end = cut or end
        yield data[start:end]
        start = end


def _skipped(error: Node) -> int:
    """Count the tokens in an error that belong to no construct, and a quarter of its constructs.

    Only a quarter, because cutting the text into pieces breaks some constructs.
    """
    bare = sum(1 for child in error.children if child.child_count == 0)
    return bare + (error.child_count - bare) // 4
