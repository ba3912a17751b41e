"""TypeScript with JSX: all of JavaScript, plus interfaces, enums, type aliases, namespaces and declarations.

In: the text of a TypeScript file. Out: a `Draft`. `<T>x` is a type assertion in one of the two grammars and the
start of an element in the other, and the file's text does not say which grammar applies. The reader first tries the
grammar that the text looks like, and if that one reports errors, the other.
"""

from __future__ import annotations

import re

from concordance.extract.ecmascript import queries, reader
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "typescript",
    "TypeScript",
    extensions=(".ts", ".mts", ".cts", ".tsx", ".d.ts"),
    aliases=("ts",),
    doc_code="ts",
)


def _grammar(function: str, more: str = "") -> trees.Grammar:
    return trees.Grammar(
        "tree_sitter_typescript",
        queries.DEFINITIONS + queries.TYPESCRIPT_DEFINITIONS,
        queries.NAMES + queries.TYPESCRIPT_NAMES + more,
        function=function,
        describe=reader.describe,
    )


GRAMMAR = _grammar("language_typescript")
TSX_GRAMMAR = _grammar("language_tsx", queries.ELEMENT_NAMES)
_ELEMENT = re.compile(rb"^(?![^\S\n]*(?:\*|//)).*(?:</[A-Za-z>]|/>)", re.M)  # the lookahead does not cross a line end


def read(source: Source) -> Draft:
    """Parse one TypeScript file into a `Draft`."""
    order = (TSX_GRAMMAR, GRAMMAR) if _ELEMENT.search(source.data) else (GRAMMAR, TSX_GRAMMAR)
    first = reader.read(source, order[0])
    if not first.findings:
        return first
    # Only `<` is ambiguous; without it, the other grammar reports the same errors.
    second = reader.read(source, order[1]) if b"<" in source.data else first
    return second if _error_size(second) < _error_size(first) else first


def _error_size(draft: Draft) -> tuple[int, int]:
    return draft.error_bytes, len(draft.findings)
