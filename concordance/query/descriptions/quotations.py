"""Quotes the author's first sentence with a citation of the lines it comes from.

In: a documentation comment, or the text of a file. Out: pieces in quotation marks, with a `Cite` of the exact lines, so
that `verify` notices when they change. Text that does not describe anything (a list of owners, an instruction to a
tool, only a name) is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.blocks import Cite, Mono, Piece
from concordance.query.index.repository import Index
from concordance.query.markup import first_sentence as said_first
from concordance.query.markup.summary import GENERATED

MAX_SENTENCE = 240  # characters of a sentence in a table at most
_MIN_LETTERS = 40  # letters that identify the line where a quotation starts
_NEXT = 8  # lines over which these letters may be spread
_NOTE = re.compile(
    r"\A\W*(?:TODO|FIXME|XXX|HACK|NOTE\b|NB\b|DO NOT (?:EDIT|MODIFY)|NOLINT|noqa|"
    r"mypy:|type:|pylint|flake8|clang-|eslint|Owner\(s\)|@(?:file|author|"
    r"copyright|package|generated|lint|nolint|param|return|see|import|typedef|template|license)\b|hello\b|\$\{|vim?:|usage:|-\*-|begin\b|end\b|see\b|---|===|<)",
    re.I,
)
_NOT_PROSE = re.compile(r"\A\s*\||[;{}]\s*\Z|\b(?:of|to|the|an|and|at|or|with|from|into|by|than|as|that|which)\s*\Z")
_CODE = re.compile(
    r"(?::(?:[\w+-]{1,40}:){1,3})?(?P<ticks>`{1,30})(?P<code>.+?)(?P=ticks)_{0,2}|\\[ac] +(?P<word>[\w:]+)"
)
_TARGET = re.compile(r"\A~?(?:(?:[^<]*+<(?=[^<]*+<))*+([^<]*?)(?<!\s)\s*+<[^<>]*+>|(.*))\Z", re.S)


def first_line(index: Index, path: str) -> str:
    """Return the first line of a file that contains words, "" if it is too long to be written by hand."""
    line = next((line.strip() for line in index.open_file(path).lines() or [] if re.search(r"\w", line)), "")
    line = line.strip("\N{NO-BREAK SPACE}\ufeff")
    return line if len(line) <= 120 else ""


def find_lines(index: Index, path: str, words: str, near: int = 1) -> tuple[int, int]:
    """Return the first and last line of a quotation, searched for from line `near` on, then before it; (0, 0) if none.

    The words may have been stripped of their markup and joined to one line, so only letters are compared, and the last
    line is found by counting letters.
    """
    lines = index.open_file(path).lines() or []
    wanted = _letters(words)
    if not wanted or near > len(lines):
        return (0, 0)
    start = _letters(next(line for line in words.split("\n") if _letters(line)))[:_MIN_LETTERS]
    word = _WORD.search(words)
    for at in (*range(near - 1, min(len(lines), near + 400)), *range(near - 2, max(-1, near - 80), -1)):
        if word is not None and word[0] not in lines[at]:
            continue  # rules out most lines quickly; letters are compared only in the others
        letters = _letters(lines[at])
        following = "".join(map(_letters, lines[at : at + _NEXT])) if letters and start.startswith(letters) else ""
        if start in letters or following.startswith(start):
            return (at + 1, _end(lines, at, len(wanted)))
    return (0, 0)


_WORD = re.compile(r"[^\W_]{3,}")
_MARKUP = re.compile(r"[\s(]*:[\w:+-]+:(?=`)|\s*<[^<>]*>(?=`)|\]\([^()]*\)|[\W_]+")


def _letters(words: str) -> str:
    return _MARKUP.sub("", words)


def _end(lines: Sequence[str], at: int, count: int) -> int:
    """Return the number of the line on which `count` letters from line index `at` on end."""
    last = at
    while last < len(lines) and count > 0:
        count -= len(_letters(lines[last]))
        last += 1
    return max(last, at + 1)


def cite_words(index: Index, path: str, words: str, near: int = 1) -> Cite:
    """Return a citation of the lines of the given words, or of the whole file if they are not found in one place."""
    first, last = find_lines(index, path, words, near)
    return Cite(path, first, 0 if last == first else last)


def is_statement(words: str) -> bool:
    """True if a sentence says something: it has three words or more, is finished, and is no note to a tool, to-do,
    pointer, row of a table or code that somebody disabled."""
    enough = len(re.findall(r"[^\W\d_]{2,}|\AA\b(?=.*\.\Z)", words)) >= 3
    if not enough or _NOT_PROSE.search(words):
        return False
    return not _NOTE.match(words) or GENERATED.search(words) is not None


_INSTRUCTS = re.compile(
    r"(?:Please|To|See|If|First|Run|Install|In order|Before|You|For|Use|Follow|Check|Make sure|Clone|Download|We|When|"
    r"Warning|Usage|Keep|Note|(?:In )?[Tt]his (?:readme|document(?:ation)?|page|section|chapter|part|guide|tutorial))\b"
)


def is_instruction(sentence: str) -> bool:
    """True if a sentence tells readers what to do, speaks of its own document, or is an aside, rather than a
    description."""
    return _INSTRUCTS.match(sentence) is not None


_ASIDE = re.compile(r"(?:If you|Please|You (?:must|should|need|can|may)|Note that|Warning|See|Do not|Don't)\b")


def is_aside(sentence: str) -> bool:
    """True if the first sentence about a definition speaks to those who change or use it, and not of what it is."""
    return _ASIDE.match(sentence) is not None


def first_sentence(doc: str, language: str, name: str = "") -> str:
    """Return the first sentence of a documentation comment, short enough for a table; `name` is what it documents."""
    return _shortened(said_first(doc, language, name).rstrip(" :"))


def _shortened(words: str) -> str:
    """Return a sentence cut to `MAX_SENTENCE` characters, after a whole word and with an ellipsis."""
    if len(words) <= MAX_SENTENCE:
        return words
    cut = words[:MAX_SENTENCE].rpartition(" ")[0].rstrip(" ,;:")
    return f"{cut.rpartition('`')[0].rstrip() if cut.count('`') % 2 else cut} …"


def sentence_pieces(words: str) -> list[Piece]:
    """Return a sentence as pieces, with code as `Mono`."""
    pieces: list[Piece] = []
    last = 0
    for match in _CODE.finditer(words):
        pieces.append(_strip_markup(words[last : match.start()]))
        shown = match["word"] or match["code"].strip()
        if match["ticks"] == "`" and match.group().startswith((":", "`")):
            target = _TARGET.match(shown)
            shown = (target[1] or target[2] if target else shown).strip().removeprefix("~") or shown
        pieces.append(Mono(shown))
        last = match.end()
    pieces.append(_strip_markup(words[last:]))
    return [piece for piece in pieces if piece]


def _strip_markup(words: str) -> str:
    """Return text without the markup of emphasis, links and HTML."""
    words = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])", r"\1", words)
    # The star in a shape, (*, C), is none.
    words = re.sub(r"(?<!\w)(\*\*|__|\*)(?=[^\s,;.)\]])(.+?)(?<=[^\s,;(\[])\1(?!\w)", r"\2", words)
    return re.sub(r"</?[a-zA-Z](?![^\s<>]*@)[^<>]*>", "", re.sub(r"::\s*\Z", ":", words))


def quote_sentence(index: Index, path: str, sentence: str, rests_on: str, near: int = 1) -> list[Piece]:
    """Return a sentence in quotation marks, with a citation of the text that it was taken from."""
    return ["“", *sentence_pieces(sentence), "”", cite_words(index, path, rests_on, near)]


def as_sentence(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces as a sentence: with a capital letter, and with a full stop unless it ends with a quotation."""
    sentence = list(pieces)
    if sentence and type(sentence[0]) is str and sentence[0][:1].islower():
        sentence[0] = sentence[0][0].upper() + sentence[0][1:]
    last = next((piece for piece in reversed(sentence) if not isinstance(piece, Cite)), "")
    if not (type(last) is str and last.endswith((".", "!", "?", "”"))):
        sentence.append(".")
    return sentence


def plain_text(pieces: Sequence[Piece]) -> str:
    """Return the text of pieces, for comparing or measuring."""
    return "".join(piece if isinstance(piece, str) else getattr(piece, "label", "") for piece in pieces)
