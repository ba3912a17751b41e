"""Makes a file's symbols comparable with those of another revision.

In: a file's facts and text. Out: `ComparableSymbol`s. A symbol's own text is what follows its signature, without its
documentation and without the symbols inside of it, so that a changed method does not mark its class as changed, and a
changed docstring is not a changed body. Layout is ignored, except for indentation in languages where it is significant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from concordance.base.model import FileFacts, Kind, Symbol
from concordance.extract.registry import language_of
from concordance.query.answers import qualified, separator_of, split_key

VALUES = frozenset((Kind.CONSTANT, Kind.VARIABLE, Kind.FIELD, Kind.ENUMERATOR, Kind.KEY))  # kinds that are a value
_MARKS = re.compile(r'^(?:[rRuUbBfF]{0,2}(?:"""|\'\'\'|")|/\*[*!]?|\*/|\*(?!\*)|//[/!]?<?|#+)?\s*')
_ENDS = re.compile(r'\s*(?:"""|\'\'\'|"|\*/)$')
_SPACE = re.compile(r"\s+")
_LAST_COMMA = re.compile(r",(?=[)\]}>])")
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\s+")
_GAP = 300  # characters of comments and white space between two characters of a signature
_MAX_LINE_LENGTH = 255  # characters of a line that count


class ComparableSymbol(NamedTuple):
    """One symbol of one side."""

    path: str
    place: int  # position among the file's symbols
    parent: int
    key: str
    relative: str  # its name relative to what contains it
    qualified: str
    kind: str
    name: str
    line: int
    end_line: int
    signature: str  # with decorators and specifiers
    doc: str
    condition: str
    public: bool
    test: bool
    declaration: bool
    own: int  # a digest of its own text
    shape: int  # a digest of its whole text with its name blanked
    lines: tuple[int, ...]  # of its whole text: a digest of each line and, in the last byte, its length


def comparable_symbols(
    path: str, language: str, facts: FileFacts, text: str, tests: frozenset[int]
) -> list[ComparableSymbol]:
    """Return all symbols of a file; `tests` are the positions of those that are tests."""
    lines = split_lines(text)
    covered = _covered_lines(facts.symbols)
    separator = separator_of(language)
    symbols = []
    for place, symbol in enumerate(facts.symbols):
        whole = lines[symbol.start_line - 1 : symbol.end_line]
        own = _own_text(symbol, lines, covered.get(place, ()), language)
        symbols.append(
            ComparableSymbol(
                path,
                place,
                symbol.parent,
                symbol.key,
                _relative(symbol, facts.symbols),
                qualified(symbol, separator),
                symbol.kind,
                symbol.name,
                symbol.line,
                symbol.end_line,
                full_signature(symbol, language),
                symbol.doc.strip(),
                symbol.condition,
                symbol.public,
                place in tests,
                symbol.declaration,
                _digest(own),
                _shape(whole, symbol.name),
                tuple(line_digests(whole)),
            )
        )
    return symbols


def _covered_lines(symbols: Sequence[Symbol]) -> dict[int, list[tuple[int, int]]]:
    """Return the ranges of lines that the symbols directly inside of each symbol cover; -1 is the file."""
    ranges: dict[int, list[tuple[int, int]]] = {}
    for symbol in symbols:
        ranges.setdefault(symbol.parent, []).append((symbol.start_line, symbol.end_line))
    return ranges


def _relative(symbol: Symbol, symbols: Sequence[Symbol]) -> str:
    around = split_key(symbols[symbol.parent].key) if symbol.parent >= 0 else []
    return ".".join(split_key(symbol.key)[len(around) :]) or symbol.name


def full_signature(symbol: Symbol, language: str) -> str:
    """Return a symbol's signature on one line, with its decorators and specifiers."""
    signature = _SPACE.sub(" ", symbol.signature).strip()
    at = "@" if language == "python" else ""
    more = [
        modifier for modifier in symbol.modifiers if not re.search(rf"(?<!\w){re.escape(modifier)}(?!\w)", signature)
    ]
    return " ".join([*(at + _SPACE.sub(" ", one) for one in more), signature or symbol.name])


def outside(facts: FileFacts, text: str, language: str) -> int:
    """Return a digest of the code outside of symbols, imports and the file's own documentation."""
    lines = split_lines(text)
    taken = bytearray(len(lines) + 2)
    for first, last in _covered_lines(facts.symbols).get(-1, ()):
        taken[first : last + 1] = b"\1" * (min(last, len(lines)) - first + 1)
    for imported in facts.imports:
        taken[min(imported.line, len(lines))] = 1
    kept = (line for number, line in enumerate(lines, 1) if not taken[number])
    return _digest(_without_layout(_undocumented(kept, facts.doc), language, 0))


def split_lines(text: str) -> list[str]:
    """Split a text into lines as symbols count them."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def _own_text(symbol: Symbol, lines: Sequence[str], covered: Iterable[tuple[int, int]], language: str) -> str:
    """Return the text of a symbol after its signature, without inner symbols and without its documentation."""
    taken = {number for first, last in covered for number in range(max(first, symbol.line), last + 1)}
    whole = lines[symbol.line - 1 : symbol.end_line]
    body = ["" if number in taken else line for number, line in enumerate(whole, symbol.line)]
    if symbol.line not in taken:
        body[:1] = [body[0][symbol.col - 1 :]] if body else []
    rest = "\n".join(body)
    named = re.search(rf"(?<!\w){re.escape(symbol.name)}(?!\w)", symbol.signature)
    signed = symbol.signature[named.start() :] if named is not None else symbol.name
    margin = len(whole[0]) - len(whole[0].lstrip()) if whole else 0
    kept = _undocumented(rest[_end_of(signed, rest) :].split("\n"), symbol.doc)
    return _without_layout(kept, "" if symbol.kind == Kind.HEADING else language, margin)


def _end_of(signature: str, text: str) -> int:
    """Return where a signature ends in the text that it comes from, whose layout may differ; 0 if it does not match."""
    at = 0
    for sign in signature:
        if not sign.isspace():
            at = text.find(sign, at, at + _GAP) + 1
            if not at:
                return 0
    return at


def _undocumented(lines: Iterable[str], doc: str) -> list[str]:
    doc_lines = {line.strip() for line in doc.split("\n")}
    kept = (line for line in lines if line.strip())
    return [line for line in kept if not doc or _ENDS.sub("", _MARKS.sub("", line.strip())).strip() not in doc_lines]


def _without_layout(lines: Iterable[str], language: str, margin: int) -> str:
    """Join lines without their layout.

    In prose (no language), words are kept; in code, all white space outside of quotes is dropped, except for
    indentation in languages where it is significant.
    """
    if not language:
        return " ".join(word for line in lines for word in line.split())
    if not language_of(language).is_indented:
        return "".join(_QUOTED.sub(_keep_quoted, line) for line in lines)
    indents = ((max(0, len(line) - len(line.lstrip()) - margin), line) for line in lines)
    return "\n".join(f"{indent} {_QUOTED.sub(_keep_quoted, line)}" for indent, line in indents)


def _keep_quoted(match: re.Match[str]) -> str:
    return "" if match[0].isspace() else match[0]


def _digest(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))


def _shape(lines: Sequence[str], name: str) -> int:
    text = " ".join(line.strip() for line in lines if line.strip())
    blanked = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "\0", text) if name else text
    return _digest(blanked)


def line_digests(lines: Iterable[str]) -> Iterable[int]:
    """Yield a number for each line of more than two letters: a digest and, in the last byte, its length."""
    for line in map(str.strip, lines):
        if len(line) > 2:
            yield _digest(line) << 8 | min(len(line), _MAX_LINE_LENGTH)


def bare_signature(signature: str) -> str:
    """Return a signature without white space and trailing commas."""
    return _LAST_COMMA.sub("", _SPACE.sub("", signature))
