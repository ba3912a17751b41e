"""JavaScript, with JSX: functions, classes, objects of functions, modules of both kinds.

In: the text of a JavaScript file. Out: a `Draft`. What it shares with TypeScript stands in
`concordance/extract/ecmascript.py`.
"""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract import ecmaqueries, ecmascript, trees
from concordance.extract.draft import Draft
from concordance.extract.source import Source

LANGUAGE = Language(
    "javascript",
    "JavaScript",
    extensions=(".js", ".mjs", ".cjs", ".jsx"),
    interpreters=("node", "nodejs", "deno", "bun"),
)

GRAMMAR = trees.Grammar(
    "tree_sitter_javascript",
    ecmaqueries.DEFINITIONS + ecmaqueries.JAVASCRIPT_DEFINITIONS,
    ecmaqueries.NAMES + ecmaqueries.ELEMENT_NAMES + ecmaqueries.JAVASCRIPT_NAMES,
    describe=ecmascript.describe,
)


def read(source: Source) -> Draft:
    """One JavaScript file."""
    return ecmascript.read(source, GRAMMAR)
