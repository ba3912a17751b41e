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
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from concordance.extract.reading import trees

_PIECE = 2048  # bytes; also the size up to which a text is parsed in any case
# How many tokens may be skipped: so many in any file, and one for so many bytes. Of the scripts and TOML files of four
# large repositories, the one that comes nearest to the limit has six tenths of it.
_SKIPPED = 1000
_BYTES_PER_SKIPPED = 128
NOT_READ = "not read: too many tokens that fit no statement"
_DEEPEST = 1000  # nodes in one another
_STEP = 1000  # bytes between two places at which the depth of a tree is measured
TOO_DEEP = f"not read: nested more than {_DEEPEST:,} deep"

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


# ---
# Tells a text that a parser would take far too long to read from one that it reads in linear time.
#
# The problem: the parser library recovers from a syntax error by copying what it has skipped so far, so a text of
# which it skips most tokens costs the square of its size: 8 KB of `()` in a shell script take 0.3 s, twice as many
# four times as long. It offers no budget that is the same on every machine: a time limit depends on the machine, and
# its Python binding ignores a progress callback where it is given bytes, and crashes where it is given a function
# that reads them.
#
# In: the bytes of a file and its grammar. Out: whether to parse it. The text is parsed in pieces first, which is
# linear whatever is in it, and the tokens that are skipped are counted, up to a limit. Pieces are cut at the ends of
# lines with no regard to structure. That costs few tokens: where a block is cut in two, the parser still reads the
# statements in it.


def is_unparsable(data: bytes, grammar: trees.Grammar) -> bool:
    """True if the parser would skip so many tokens that the time for it grows with the square of the size."""
    if len(data) <= _PIECE:
        return False
    tools = trees.compiled(grammar)
    most = _SKIPPED + len(data) // _BYTES_PER_SKIPPED
    skipped = 0
    for piece in _pieces(data):
        root = tools.parser.parse(piece).root_node
        if root.has_error:
            found = trees.captures(tools.errors, root)
            skipped += sum(map(_skipped, found.get("error", ()))) + len(found.get("missing", ()))
            if skipped > most:
                return True
    return False


def is_too_deep(root: Node) -> bool:
    """True if a tree nests so deep that asking it takes far too long: that costs the square of the depth.

    What nests deep is wide, too, so that it is enough to look at places that lie apart by less than the limit.
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
    """The tokens in an error that belong to no construct, and a part of the constructs: cutting breaks some of them."""
    bare = sum(1 for child in error.children if child.child_count == 0)
    return bare + (error.child_count - bare) // 4
