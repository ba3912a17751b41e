"""JavaScript with JSX: functions, classes, object literals of functions, ES and CommonJS modules.

In: the text of a JavaScript file. Out: a `Draft`. The code shared with TypeScript is in
`concordance/extract/ecmascript/reader.py`.
"""

from __future__ import annotations

from concordance.extract.ecmascript import queries, reader
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = reader.describe_language(
    "javascript",
    "JavaScript",
    extensions=(".js", ".mjs", ".cjs", ".jsx"),
    interpreters=("node", "nodejs", "deno", "bun"),
    aliases=("js",),
    doc_code="js",
)

GRAMMAR = trees.Grammar(
    "tree_sitter_javascript",
    queries.DEFINITIONS + queries.JAVASCRIPT_DEFINITIONS,
    queries.NAMES + queries.ELEMENT_NAMES + queries.JAVASCRIPT_NAMES,
    describe=reader.describe,
)


def read(source: Source) -> Draft:
    """Parse one JavaScript file into a `Draft`."""
    return reader.read(source, GRAMMAR)
