"""Reads a reStructuredText document into parts: its section titles, and safe Markdown between them.

In: the text of a document, its section titles as the reader found them, and where its links lead. Out: the same parts
as for Markdown. The text between two titles is converted as documentation comments are; on top of that, links to other
documents (`:doc:`, `toctree`, `include`) and pictures are resolved. Targets and substitutions may be defined anywhere
in a document and apply everywhere, so they are collected first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from concordance.base.blocks import Picture, Ref
from concordance.base.model import Kind, Symbol
from concordance.query.markup import show_hidden
from concordance.query.markup.blocks import BlockParser, Dialect
from concordance.query.markup.documents.links import DocumentLinks
from concordance.query.markup.documents.markdown_reader import DocumentPart
from concordance.query.markup.inline import InlineReader
from concordance.query.markup.lines import collect_targets
from concordance.query.markup.markdown_shapes import join_blocks

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")


def read_rst(text: str, symbols: Sequence[Symbol], links: DocumentLinks) -> list[DocumentPart]:
    """Return the parts of a document; `symbols` are those that were found in it."""
    lines = [line.rstrip() for line in show_hidden(text).expandtabs(8).split("\n")]
    words = InlineReader(links.name, rest=True, documents=links)
    collect_targets(lines, words)
    return list(_split_parts(lines, symbols, words))


def _split_parts(lines: list[str], symbols: Sequence[Symbol], words: InlineReader) -> Iterator[DocumentPart]:
    levels: dict[int, int] = {}
    start = 0
    for place, symbol in enumerate(symbols):
        if symbol.kind != Kind.HEADING or symbol.line > len(lines):
            continue
        levels[place] = level = levels.get(symbol.parent, 0) + 1
        title = symbol.line - 1
        over = title - 1 if title and _ADORNMENT.match(lines[title - 1]) and _is_under(lines, title) else title
        yield from _text(lines, start, over, words)
        start = title + 2 if _is_under(lines, title) else title + 1
        yield DocumentPart("heading", min(level, 6), (symbol.name,), (), over + 1, start)
    yield from _text(lines, start, len(lines), words)


def _is_under(lines: list[str], title: int) -> bool:
    return title + 1 < len(lines) and _ADORNMENT.match(lines[title + 1]) is not None


def _text(lines: list[str], first: int, last: int, words: InlineReader) -> Iterator[DocumentPart]:
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    if first >= last:
        return
    words.refs.clear()
    kept = collect_targets(lines[first:last], words)
    text = join_blocks(BlockParser(words, "rst", Dialect(rest=True, boxes=True)).convert(kept))
    pieces: list[str | Ref | Picture] = [
        words.refs[int(piece)] if place % 2 else piece for place, piece in enumerate(text.split("\0")) if piece
    ]
    if pieces:
        yield DocumentPart("text", 0, (), tuple(pieces), first + 1, last)
