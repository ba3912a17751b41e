"""JSON, with or without comments: keys with their nesting.

The objects of an array are treated as rows: each distinct path below them becomes one symbol (`items.[].name`). In a
top-level array, each object that has a name also becomes a symbol. The rules are in `extract/documents/keyed.py`.
Several top-level values in one file (JSON Lines) are read as the items of one array.
"""

from __future__ import annotations

from tree_sitter import Node

from concordance.base.model import Category, Language
from concordance.extract.documents import keyed
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "json",
    "JSON",
    extensions=(".json", ".jsonc", ".webmanifest", ".map", ".geojson", ".jsonl", ".ndjson"),
    filenames=(".babelrc", ".eslintrc", ".jshintrc", ".prettierrc", "composer.lock", ".watchmanconfig", "flake.lock"),
    category=Category.DATA,
    is_keyed=True,
)

NAMES = """
(comment) @comment
(pair) @pair
(array) @sequence
(array (object) @item)
(document (object) @top)
"""

GRAMMAR = trees.Grammar("tree_sitter_json", "", NAMES)

_SHAPES = {"object": "mapping", "array": "sequence"}


def read(source: Source) -> Draft:
    """Parse one JSON file into a `Draft`."""
    draft, tree, captures = trees.read(source, GRAMMAR)
    parts = [part for node in captures.get("pair", ()) if (part := _pair(node)) is not None]
    parts.extend(
        keyed.KeyedPart(node.start_byte, node.end_byte, keyed.SEQUENCE) for node in captures.get("sequence", ())
    )
    items = captures.get("item", [])
    top = captures.get("top", [])
    if len(top) > 1:
        parts.append(keyed.KeyedPart(0, tree.root_node.end_byte, keyed.SEQUENCE))
        items = items + top
    parts.extend(keyed.KeyedPart(node.start_byte, node.end_byte, keyed.ITEM, shape="mapping") for node in items)
    keyed.define_keys(draft, parts, rows=True)
    return draft


def _pair(node: Node) -> keyed.KeyedPart | None:
    key = node.child_by_field_name("key")
    value = node.child_by_field_name("value")
    if key is None or key.type != "string":
        return None
    stretch = (value.start_byte, value.end_byte) if value is not None else (0, 0)
    shape = _SHAPES.get(value.type, "scalar") if value is not None else ""
    return keyed.KeyedPart(
        node.start_byte, node.end_byte, keyed.PAIR, (key.start_byte + 1, key.end_byte - 1), stretch, shape
    )
