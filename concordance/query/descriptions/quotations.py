"""Authors' words in a sentence of ours: their first sentence as pieces, and the lines on which it stands.

In: a documentation comment, or the words of a file. Out: pieces between quotation marks, with a `Cite` of the very
lines, so that `verify` finds it when they change. What says nothing of what it stands on (a list of owners, a note to
a tool, a name alone) is no description, and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.blocks import Cite, Mono, Piece
from concordance.query.index.repository import Index
from concordance.query.markup import first_sentence as said_first

LONGEST = 240  # characters of a sentence in a table
_ENOUGH = 40  # letters by which a line is known
_NEXT = 8  # lines over which they may be spread
_NOTE = re.compile(
    r"\A\W*(?:TODO|FIXME|XXX|HACK|NOTE\b|NB\b|DO NOT (?:EDIT|MODIFY)|NOLINT|noqa|"
    r"mypy:|type:|pylint|flake8|clang-|eslint|Owner\(s\)|@(?:file|author|"
    r"copyright|package|generated|lint|nolint|param|return|see)\b|\$\{|vim?:|usage:|-\*-|begin\b|end\b|---|===|<)",
    re.I,
)
_CODE = re.compile(r"(?::[\w:+-]{1,60}:)?(?P<ticks>`{1,30})(?P<code>.+?)(?P=ticks)_{0,2}|\\[ac] +(?P<word>[\w:]+)")
_TARGET = re.compile(r"\A~?(?:(?:[^<]*+<(?=[^<]*+<))*+([^<]*?)(?<!\s)\s*+<[^<>]*+>|(.*))\Z", re.S)


def first_line(index: Index, path: str) -> str:
    """The first line of a file that has words on it; "" where none is of a length that people write."""
    line = next((line.strip() for line in index.opened(path).lines() or [] if re.search(r"\w", line)), "")
    return line if len(line) <= 120 else ""


def lines_of(index: Index, path: str, words: str, near: int = 1) -> tuple[int, int]:
    """The lines on which some words stand, from the line `near` on or right before it; (0, 0) where they are not found.

    Words may have been taken out of their markup and set on one line, so letters are compared, and the end is where
    the last of them stand.
    """
    lines = index.opened(path).lines() or []
    wanted = _letters(words)
    if not wanted or near > len(lines):
        return (0, 0)
    start = _letters(next(line for line in words.split("\n") if _letters(line)))[:_ENOUGH]
    word = _WORD.search(words)
    for at in (*range(near - 1, min(len(lines), near + 400)), *range(near - 2, max(-1, near - 80), -1)):
        if word is not None and word[0] not in lines[at]:
            continue  # most lines; the letters of the others are compared
        found = _letters(lines[at])
        following = "".join(map(_letters, lines[at : at + _NEXT])) if found and start.startswith(found) else ""
        if start in found or following.startswith(start):
            return (at + 1, _end(lines, at, len(wanted)))
    return (0, 0)


_WORD = re.compile(r"[^\W_]{3,}")
_MARKUP = re.compile(r"[\s(]*:[\w:+-]+:(?=`)|\s*<[^<>]*>(?=`)|\]\([^()]*\)|[\W_]+")


def _letters(words: str) -> str:
    return _MARKUP.sub("", words)


def _end(lines: Sequence[str], at: int, count: int) -> int:
    """The number of the line on which so many letters end."""
    last = at
    while last < len(lines) and count > 0:
        count -= len(_letters(lines[last]))
        last += 1
    return max(last, at + 1)


def cited(index: Index, path: str, words: str, near: int = 1) -> Cite:
    """Where some words stand in a file: their lines, or the file where they were put together from several places."""
    first, last = lines_of(index, path, words, near)
    return Cite(path, first, 0 if last == first else last)


def is_statement(words: str) -> bool:
    """Whether a sentence says something: three words at least, and no note to a tool or to oneself."""
    return len(re.findall(r"[^\W\d_]{2,}", words)) >= 3 and not _NOTE.match(words)


_INSTRUCTS = re.compile(
    r"(?:Please|To|See|If|First|Run|Install|In order|Before|You|For|Use|Follow|Check|Make sure|Clone|Download|We|When|"
    r"Warning|Usage|Keep|Note)\b"
)


def instructs(sentence: str) -> bool:
    """Whether a sentence tells its reader what to do, or speaks of something aside, and not of what there is."""
    return _INSTRUCTS.match(sentence) is not None


def first_sentence(doc: str, language: str, name: str = "") -> str:
    """The first sentence of some documentation, as it fits into a table; `name` is what it is of."""
    return _shortened(said_first(doc, language, name).rstrip(" :"))


def _shortened(words: str) -> str:
    """A sentence that fits; a longer one ends with dots, behind a whole word."""
    if len(words) <= LONGEST:
        return words
    cut = words[:LONGEST].rpartition(" ")[0].rstrip(" ,;:")
    return f"{cut.rpartition('`')[0].rstrip() if cut.count('`') % 2 else cut} …"


def spoken(words: str) -> list[Piece]:
    """A sentence as pieces: what its author set as code is code."""
    found: list[Piece] = []
    last = 0
    for match in _CODE.finditer(words):
        found.append(_plain(words[last : match.start()]))
        said = match["word"] or match["code"].strip()
        if match["ticks"] == "`" and match.group().startswith((":", "`")):
            target = _TARGET.match(said)
            said = (target[1] or target[2] if target else said).strip().removeprefix("~") or said
        found.append(Mono(said))
        last = match.end()
    found.append(_plain(words[last:]))
    return [piece for piece in found if piece]


def _plain(words: str) -> str:
    """Words without marks of emphasis and links."""
    words = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])", r"\1", words)
    words = re.sub(r"(?<!\w)(\*\*|__|\*)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", words)
    return re.sub(r"</?[a-zA-Z][^<>]*>", "", re.sub(r"::\s*\Z", ":", words))


def quote(index: Index, path: str, sentence: str, rests_on: str, near: int = 1) -> list[Piece]:
    """A sentence between quotation marks, resting on the words that it was taken from."""
    return ["“", *spoken(sentence), "”", cited(index, path, rests_on, near)]


def ended(pieces: Sequence[Piece]) -> list[Piece]:
    """A line as a sentence: with a full stop, where it does not end with another's words."""
    shown = [piece for piece in pieces if not isinstance(piece, Cite)]
    return [*pieces] if shown and shown[-1] == "”" else [*pieces, "."]


def plain(pieces: Sequence[Piece]) -> str:
    """The letters of pieces, for what is compared or measured."""
    return "".join(piece if isinstance(piece, str) else getattr(piece, "label", "") for piece in pieces)
