"""Builds the sections of a file's page, and lists which of the file's own names each section mentions.

In: the model of a file. Out: blocks by title, and names by title. The page of the file shows the sections, and its
keyword page maps names to them; the two pages are written one after the other and share the sections.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from concordance.base.blocks import Block, Doc, Heading, Items, Line, Mono, Piece, Quote, Ref, Table, Text, To
from concordance.base.kinds import Section
from concordance.query.index.file_model import FileModel
from concordance.query.index.updates.reads import memoised_in_object
from concordance.query.sections import cross_language, dependencies, observations, overview, usage

ORDER = tuple(section.value for section in Section)
PURPOSE, OVERVIEW, DESIGN, DEPENDENCIES, PATTERNS, PERFORMANCE, SECURITY, TESTING, RELATED = ORDER
_NOTICED = frozenset((PATTERNS, PERFORMANCE, SECURITY))  # sections whose remarks are about the code around a line
_CODE = re.compile(r"`([^`]+)`")


@memoised_in_object
def sections(one: FileModel) -> dict[str, list[Block]]:
    """Return the blocks of each section by title; sections that the book leaves out are not built."""
    return {title: _BUILDERS[title](one) for title in ORDER if title not in one.index.book.sections_off}


_BUILDERS: dict[str, Callable[[FileModel], list[Block]]] = {
    PURPOSE: overview.purpose,
    OVERVIEW: overview.overview,
    DESIGN: lambda one: [Heading(3, ["Role in the repository"]), *dependencies.role(one)],
    DEPENDENCIES: lambda one: [
        Heading(3, ["Import Dependencies"]), *dependencies.imports(one), *cross_language.bridge_blocks(one)
    ],
    PATTERNS: lambda one: [Heading(3, ["Common Patterns"]), *observations.patterns_of(one)],
    PERFORMANCE: lambda one: [Heading(3, ["Performance Notes"]), *observations.performance(one)],
    SECURITY: lambda one: [Heading(3, ["Security Considerations"]), *observations.security(one)],
    TESTING: lambda one: [
        Heading(3, ["Testing"]), *usage.testing(one), Heading(3, ["Usage Examples"]), *usage.usage(one),
    ],
    RELATED: lambda one: [Heading(3, ["Related Files"]), *dependencies.related(one)],
}  # fmt: skip


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
    """Return the words of a section as plain text."""
    said: list[str] = []
    for piece in pieces_of(sections(one).get(title, [])):
        if isinstance(piece, str):
            said.append(piece)
        elif isinstance(piece, Ref):
            said.append(piece.label)
    return " ".join(said)


def pieces_of(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Yield all pieces of some blocks, in order."""
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
