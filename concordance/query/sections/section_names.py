"""Lists which of a file's own names each section of its page mentions, for its keyword page.

In: the model of a file, and the title of a section. Out: names, or the words of the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from concordance.base.blocks import Block, Doc, Heading, Items, Line, Mono, Piece, Quote, Ref, Table, Text, To
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.index.updates.reads import memoised_in_object
from concordance.query.sections.file_page import sections

# Sections whose remarks are about the code around a line.
_NOTICED = frozenset((Section.PATTERNS.value, Section.PERFORMANCE.value, Section.SECURITY.value))
_CODE = re.compile(r"`([^`]+)`")


@memoised_in_object
def _own(one: FileModel) -> tuple[dict[str, str], set[str]]:
    names = {symbol.key: symbol.name for symbol in one.symbols}
    return names, set(names.values())


def names_in(one: FileModel, title: str) -> list[str]:
    """Return the file's own definitions that a section names or remarks on, from A to Z."""
    own, known = _own(one)
    if not own:
        return []
    found: set[str] = set()
    lines: set[int] = set()
    for piece in pieces_of(sections(one).get(title, [])):
        if type(piece) is Ref:
            if piece.to == To.SYMBOL and piece.path == one.path and piece.at in own:
                found.add(own[piece.at])
        elif type(piece) is Mono:
            found.update(known & {str(piece)})
        elif type(piece) is Line:
            if title in _NOTICED and piece.path == one.path:
                lines.add(piece.first)
        elif type(piece) is str and "`" in piece:
            found.update(known.intersection(_CODE.findall(piece)))
    found.update(_around(one, lines))
    return sorted(found, key=lambda name: (name.lower(), name))


def _around(one: FileModel, lines: set[int]) -> Iterator[str]:
    """Yield the name of the innermost definition that contains each line."""
    for line in lines:
        for symbol in reversed(one.symbols):  # the last to begin is the innermost
            if symbol.start_line <= line <= symbol.end_line:
                yield symbol.name
                break


def words_in(one: FileModel, title: str) -> str:
    """Return the text of a section without formatting."""
    said: list[str] = []
    for piece in pieces_of(sections(one).get(title, [])):
        if isinstance(piece, str):
            said.append(piece)
        elif isinstance(piece, Ref):
            said.append(piece.label)
    return " ".join(said)


def pieces_of(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Yield all pieces of text in the blocks, in order."""
    for block in blocks:
        if isinstance(block, Text | Heading | Doc):
            yield from block.text
        elif isinstance(block, Items):
            for item in block.items:
                yield from item.text
                if item.blocks:
                    yield from pieces_of(item.blocks)
        elif isinstance(block, Table):
            for row in block.rows:
                for cell in row:
                    yield from cell
        elif isinstance(block, Quote):
            yield from pieces_of(block.blocks)
