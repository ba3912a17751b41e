"""TOML: tables, arrays of tables and keys, each under the path given by its header or dotted key.

A table becomes a symbol at its header, named by the last part of the header; the parts before it are its path. Each
table of an array (`[[bin]]`) is an item, named as described in `extract/documents/keyed.py`, and the array itself is
a symbol at its first header. Arrays of inline tables follow the rules of that module.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field

from tree_sitter import Node

from concordance.base.model import Category, DocMarkup, Kind, Language, Role
from concordance.extract.documents import keyed
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.repetition import NOT_READ, is_unparsable
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "toml",
    "TOML",
    extensions=(".toml",),
    filenames=("Pipfile", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock"),
    category=Category.CONFIGURATION,
    is_keyed=True,
    doc_markup=DocMarkup.REST,
)

NAMES = """
(comment) @comment
(table) @table
(table_array_element) @table
(pair) @pair
(array) @sequence
(array (inline_table) @item)
"""

GRAMMAR = trees.Grammar("tree_sitter_toml", "", NAMES)

_SHAPES = {"inline_table": "mapping", "array": "sequence"}
_KEYS = ("bare_key", "quoted_key", "dotted_key")
_DEEPEST = 100  # parts of a key; only hostile files nest deeper
_NAMING = ("name", "id", "func", "key")


def read(source: Source) -> Draft:
    """Parse one TOML file into a `Draft`."""
    if is_unreadable(source):
        draft = Draft(source)
        draft.problem(0, len(source.data), NOT_READ)
        return draft
    draft, _, captures = trees.read(source, GRAMMAR)
    dotted: dict[int, tuple[str, ...]] = {}
    parts = [part for node in captures.get("pair", ()) if (part := _pair(draft, node, dotted)) is not None]
    parts.extend(
        keyed.KeyedPart(node.start_byte, node.end_byte, keyed.SEQUENCE) for node in captures.get("sequence", ())
    )
    parts.extend(
        keyed.KeyedPart(node.start_byte, node.end_byte, keyed.ITEM, shape="mapping")
        for node in captures.get("item", ())
    )
    keyed.define_keys(draft, parts)
    for definition in draft.definitions:
        definition.within += dotted.get(definition.at, ())
    tables = _Tables(draft)
    for node in sorted(captures.get("table", ()), key=lambda n: n.start_byte):
        tables.enter(node)
    tables.finish()
    return draft


def is_unreadable(source: Source) -> bool:
    """True if the grammar would skip most of the file, which takes far too long."""
    return is_unparsable(source.data, GRAMMAR) and not _is_valid(source.text)


def _is_valid(text: str) -> bool:
    """True if the text is valid TOML.

    `is_unparsable` parses a text in pieces, and a long array looks broken when it is cut.
    """
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _key_parts(draft: Draft, node: Node) -> list[tuple[int, int]]:
    """Return the extents of a key's parts, without quotes, and record all but the last as mentions."""
    ranges: list[tuple[int, int]] = []
    pending = [node]
    while pending:
        part = pending.pop()
        if part.type == "dotted_key":
            pending.extend(reversed(part.named_children))
        elif part.type in _KEYS:
            ranges.append(keyed.strip_quotes(draft.source, part.start_byte, part.end_byte))
    draft.add_names(ranges[:-1], Role.MENTION)
    return ranges


def _pair(draft: Draft, node: Node, dotted: dict[int, tuple[str, ...]]) -> keyed.KeyedPart | None:
    children = [child for child in node.named_children if child.type != "comment"]
    if not children or children[0].type not in _KEYS:
        return None
    *before, last = _key_parts(draft, children[0])
    if before:
        dotted[last[0]] = tuple(draft.source.slice(*part) for part in before)
    value = children[-1]
    if value is children[0]:
        return keyed.KeyedPart(node.start_byte, node.end_byte, keyed.PAIR, last)
    shape = _SHAPES.get(value.type, "scalar")
    return keyed.KeyedPart(node.start_byte, node.end_byte, keyed.PAIR, last, (value.start_byte, value.end_byte), shape)


@dataclass(slots=True)
class _Tables:
    """Collects the tables of a file, in the order of the text."""

    draft: Draft
    arrays: dict[tuple[str, ...], tuple[Definition, int]] = field(default_factory=dict)  # first header, count
    latest: dict[tuple[str, ...], str] = field(default_factory=dict)  # name of an array's last item

    def enter(self, node: Node) -> None:
        draft = self.draft
        header = next((child for child in node.named_children if child.type in _KEYS), None)
        parts = _key_parts(draft, header) if header is not None else []
        if header is None or not parts:
            return
        path = tuple(draft.source.slice(*part) for part in parts)
        end = node.start_byte + len(draft.source.data[node.start_byte : node.end_byte].rstrip())
        within = self._enclosing_tables(path)
        words = f"[{trees.one_line(trees.text(header))}]"
        at = parts[-1][0]
        if node.type == "table":
            draft.define(Kind.KEY, path[-1], at, node.start_byte, end, signature=words, within=within)
            return
        words = f"[{words}]"
        first, count = self.arrays.get(path, (None, 0))
        if first is None:
            first = draft.define(Kind.KEY, path[-1], at, node.start_byte, end, signature=words, within=within)
            first.nests = False
        else:
            draft.add_names([parts[-1]], Role.DEFINE)
        self.arrays[path] = first, count + 1
        name, place = self._name(node)
        self.latest[path] = name or str(count)
        draft.define(
            Kind.KEY, name or str(count), place if name else at, node.start_byte, end, signature=words,
            within=(*within, path[-1]), occurs=bool(name),
        )  # fmt: skip

    def finish(self) -> None:
        """Add the number of tables to the signature of each array."""
        for definition, count in self.arrays.values():
            if count > 1:
                definition.signature += f" ({count} times)"

    def _enclosing_tables(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the enclosing tables, with the current item of each enclosing array."""
        if len(path) > _DEEPEST:
            return ()
        around: list[str] = []
        for depth in range(1, len(path)):
            around.append(path[depth - 1])
            if path[:depth] in self.latest:
                around.append(self.latest[path[:depth]])
        return tuple(around)

    def _name(self, node: Node) -> tuple[str, int]:
        """Return the name of a table in an array, taken from a key such as `name` or `id`, and its offset."""
        parts: dict[str, tuple[int, int]] = {}
        for pair in node.named_children:
            if pair.type == "pair" and pair.named_child_count == 2 and pair.named_children[1].type == "string":
                value = pair.named_children[1]
                key = trees.text(pair.named_children[0]).strip("\"'")
                parts.setdefault(key, keyed.strip_quotes(self.draft.source, value.start_byte, value.end_byte))
        for key in _NAMING:
            if key in parts and b"\n" not in self.draft.source.data[slice(*parts[key])]:
                return self.draft.source.slice(*parts[key]), parts[key][0]
        return "", 0
