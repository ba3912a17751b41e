"""Small repositories with an index, and pieces of pages as text."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import concordance
from concordance.base.blocks import Block, Cite, Heading, Items, Piece, Quote, Ref, Table, Text
from concordance.query.index.repository import Index

SAMPLE = Path(__file__).parents[1] / "sample"


def make_index(home: Path, files: Mapping[str, str | bytes]) -> Index:
    """Write files into a folder, and return the index of the repository that they are."""
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode() if isinstance(text, str) else text)
    return concordance.open(str(home))._index


def sample_index(folder: Path) -> Index:
    """Return the index of a copy of the sample repository."""
    shutil.copytree(SAMPLE, folder / "repo", ignore=shutil.ignore_patterns("__pycache__"))
    return concordance.open(str(folder / "repo"))._index


def plain(pieces: Iterable[Piece]) -> str:
    """Return pieces as text, with links by their labels."""
    parts = (p.label or p.path if isinstance(p, Ref) else "" if isinstance(p, Cite) else str(p) for p in pieces)
    return "".join(parts)


def texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the text of paragraphs, headings, items, rows of tables, and what is quoted."""
    for block in blocks:
        if isinstance(block, Text | Heading):
            yield plain(block.text)
        elif isinstance(block, Items):
            yield from (plain(item.text) for item in block.items)
        elif isinstance(block, Table):
            yield from (" | ".join(plain(cell) for cell in row) for row in block.rows)
        elif isinstance(block, Quote):
            yield from texts(block.blocks)
