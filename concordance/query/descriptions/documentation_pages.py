"""The document that documents a file, and what it says about it.

In: an index and the path of a source file. Out: the document that names the file as a module (`.. module:: shop.cart`),
or else the one that documents most of its definitions; and the sentence about the module in it: its synopsis, or the
first sentence below the directive. A Rust module may include a document as its own documentation.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from concordance.base.blocks import Cite, Piece, Ref, To
from concordance.facts.updates.reads import memoised
from concordance.link.paths.tree import join_path
from concordance.query.descriptions.quotations import (
    find_lines,
    first_sentence,
    is_instruction,
    is_statement,
    sentence_pieces,
)
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index

_DIRECTIVE = re.compile(r"\s*(?:\.\. |(?:`{3,}|:{3,}) ?\{)(?:py:)?(?:auto)?module(?:::|\})")
_SYNOPSIS = re.compile(r"\s*:synopsis:\s*(\S.*)")
_NOT_PROSE = re.compile(r"\s*(?:\.\. |:\w|```|~~~|:::|[-*+] |\d+\. |#|\||=+\s*$|-+\s*$|~+\s*$|\+-|<)")
_INCLUDED = re.compile(r"\s*#!\[doc\s*=\s*include_str!\(\s*\"([^\"]+)\"\s*\)\s*\]")
_HEAD = 40  # lines in which a module includes its documentation
_MAX_LINES = 12  # below the directive that are searched for the first sentence


class DocumentationPage(NamedTuple):
    """A document about a file."""

    path: str
    line: int  # of the directive that names the file as a module; 0 if only its definitions are documented


@memoised(4096)
def documentation_page(index: Index, path: str) -> DocumentationPage | None:
    """Return the document that documents a file; None if there is none."""
    table = bridges_of(index)
    rows = [row for row in table.unsorted_into(path) if row.bridge == "documents" and row.says == "documents"]
    file = index.file_id(path)
    modules = sorted((index.path_of(row.source), table.line(row)) for row in rows if row.target == file)
    for document, line in modules:
        lines = index.open_file(document).lines() or []
        if 0 < line <= len(lines) and _DIRECTIVE.match(lines[line - 1]):
            return DocumentationPage(document, line)
    counts = Counter(index.path_of(row.source) for row in rows)
    if not counts:
        return None
    return DocumentationPage(min(counts, key=lambda one: (-counts[one], one)), 0)


def quote_documentation(index: Index, path: str) -> list[Piece]:
    """Quote what the document about a module says about it; nothing if it says nothing."""
    if index.language_of(path) == "rust":
        return _quote_included(index, path)
    page = documentation_page(index, path)
    if page is None or not page.line:
        return []
    lines = index.open_file(page.path).lines() or []
    language = index.language_of(page.path)
    for number in range(page.line + 1, min(page.line + 4, len(lines)) + 1):
        if synopsis := _SYNOPSIS.match(lines[number - 1]):
            words = first_sentence(synopsis[1], language)
            return _quote(page.path, words, number, number) if is_statement(words) else []
    start = page.line + 1
    end = min(len(lines), page.line + _MAX_LINES)
    while start <= end and (not lines[start - 1].strip() or lines[start - 1].lstrip().startswith(":")):
        start += 1
    last = start
    while last <= end and lines[last - 1].strip() and not _NOT_PROSE.match(lines[last - 1]):
        last += 1
    if last <= len(lines) and _NOT_PROSE.match(lines[last - 1]):
        return []  # a title or a directive
    words = first_sentence("\n".join(lines[start - 1 : last - 1]), language)
    return _quote(page.path, words, start, last - 1) if is_statement(words) and not is_instruction(words) else []


def _quote_included(index: Index, path: str) -> list[Piece]:
    """Return the first sentence of the document that a Rust module includes as its documentation."""
    for line in (index.open_file(path).lines() or [])[:_HEAD]:
        included = _INCLUDED.match(line)
        document = join_path(path.rpartition("/")[0], included[1]) if included else None
        if document is not None and document in ledger(index).files:
            doc = outline(index, document).doc
            words = first_sentence(doc, index.language_of(document))
            first, last = find_lines(index, document, doc)
            return _quote(document, words, first, last) if is_statement(words) else []
    return []


def _quote(path: str, words: str, first: int, last: int) -> list[Piece]:
    cite = Cite(path, first, last if last > first else 0)
    return [Ref(To.FILE, path, "", path), ": “", *sentence_pieces(words), "”", cite]
