"""YAML: nested keys, items of sequences by name, anchors and aliases.

The rules for which keys become symbols are in `extract/documents/keyed.py`. Keys of a second document that also
occur in the first are recorded as repeated. `uses:` in GitHub workflows and actions and the orbs of CircleCI are
imports, where the surrounding structure matches.

A template (`{{ … }}`, `{% … %}`) is not valid YAML until it is filled in. If the text cannot be parsed as it is, the
template tags are blanked out first, so that the rest can still be read. So are line ends in quoted strings, because
the grammar requires deeper indentation there than most parsers do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node, Tree

from concordance.base.model import Category, Kind, Language, Role
from concordance.extract.documents import keyed
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "yaml",
    "YAML",
    unseen="paths made by actions and templates",
    extensions=(".yml", ".yaml", ".clang-format", ".clang-tidy", ".clangd"),
    filenames=(".clang-format", ".clang-tidy", ".clangd", ".yamllint", "CITATION.cff"),
    category=Category.CONFIGURATION,
    aliases=("yml",),
    is_indented=True,
    is_keyed=True,
)

NAMES = """
(comment) @comment
(block_mapping_pair) @pair
(flow_pair) @pair
(flow_mapping (flow_node) @bare)
(block_sequence) @sequence
(flow_sequence) @sequence
(block_sequence_item) @item
(flow_sequence (flow_node) @item)
(flow_sequence (flow_pair) @item)
(anchor (anchor_name) @anchor.name) @anchor
(alias (alias_name) @read)
"""

GRAMMAR = trees.Grammar("tree_sitter_yaml", "", NAMES)

_SHAPES = {
    "block_mapping": "mapping",
    "flow_mapping": "mapping",
    "flow_pair": "mapping",
    "block_sequence": "sequence",
    "flow_sequence": "sequence",
}
# The grammar's scanner keeps the open blocks, of which there may be two per column, in a fixed-size buffer. Beyond 250
# it writes past the end of the buffer and crashes the whole process.
_DEEPEST = 110
_MANY_DOCUMENTS = 300
_DEEP_LINE = re.compile(rb"^[ \t?:-]{%d}" % _DEEPEST, re.M)
_PREFIX = re.compile(rb"^([ \t]*)((?:[?:-][ \t]+)*)(?=[^\s])", re.M)
_SIGN = re.compile(rb"[?:-]")
_TAG_LINE = re.compile(rb"^[ \t]*(?:\{\{.*\}\}|\{%.*%\}|\{#.*#\})[ \t]*(?=\r?$)", re.M)
_QUOTED = re.compile(rb'(?<=[:\-,\[{] )(?:"(?:[^"\\]|\\.)*+"|\'[^\']*+\')(?=[ \t]*(?:[\r\n,\]}#]|\Z))', re.S)
_TAG_START = re.compile(rb"\{(?=[{%#])|[\r\n]")
_TAG_END = {b"{{": b"}}", b"{%": b"%}", b"{#": b"#}"}
_LINE_END = re.compile(rb"[\r\n]|\Z")


def read(source: Source) -> Draft:
    """Parse one YAML file into a `Draft`."""
    draft, captures = _parse(source)
    parts = [_pair(source, node) for node in captures.get("pair", ())]
    parts = [part for part in parts if part.key[0] < part.key[1]]
    parts.extend(_key_without_value(source, node) for node in captures.get("bare", ()))
    parts.extend(
        keyed.KeyedPart(node.start_byte, node.end_byte, keyed.SEQUENCE) for node in captures.get("sequence", ())
    )
    items = captures.get("item", ())
    parts.extend(keyed.KeyedPart(node.start_byte, node.end_byte, keyed.ITEM, shape=_item_shape(node)) for node in items)
    outline = keyed.define_keys(draft, parts)
    for node, name in zip(captures.get("anchor", ()), captures.get("anchor.name", ()), strict=True):
        draft.define(
            Kind.LABEL, trees.text(name), name.start_byte, node.start_byte, node.end_byte, signature=trees.text(node)
        )
    _imports(draft, outline)
    return draft


def _parse(source: Source) -> tuple[Draft, dict[str, list[Node]]]:
    draft = Draft(source)
    if _DEEP_LINE.search(source.data) and _depth(source.data) > _DEEPEST:
        draft.problem(0, len(source.data), f"not read: nested deeper than {_DEEPEST} levels")
        return draft, {}
    tools = trees.compile_grammar(GRAMMAR)
    tree = tools.parser.parse(source.data)
    if tree.root_node.has_error:
        plain, blanked = _without_tags(source.data)
        filled = tools.parser.parse(_QUOTED.sub(_without_line_ends, plain))
        if _error_bytes(filled) < _error_bytes(tree):
            tree = filled
            draft.blanked_bytes = blanked
    trees.note_errors(draft, tree, tools.errors)
    captures = _captures(tree)
    trees.note_names(draft, {name: nodes for name, nodes in captures.items() if name in (Role.READ, "comment")})
    return draft, captures


def _captures(tree: Tree) -> dict[str, list[Node]]:
    """Return the captured nodes, querying document by document if there are many.

    A query over all documents at once takes time quadratic in their number.
    """
    root = tree.root_node
    if root.child_count < _MANY_DOCUMENTS:
        return trees.captures(trees.compile_grammar(GRAMMAR).names, root)
    captures: dict[str, list[Node]] = {}
    for document in root.children:
        for name, nodes in trees.captures(trees.compile_grammar(GRAMMAR).names, document).items():
            captures.setdefault(name, []).extend(nodes)
    return captures


def _depth(data: bytes) -> int:
    """Return the largest number of columns at which blocks are open at the same time."""
    deepest = 0
    columns: list[int] = []
    for line in _PREFIX.finditer(data):
        spaces, signs = len(line[1]), line[2]
        starts = [spaces + m.start() for m in _SIGN.finditer(signs)]
        for column in [*starts, spaces + len(signs)]:
            while columns and columns[-1] >= column:
                columns.pop()
            columns.append(column)
        deepest = max(deepest, len(columns))
    return deepest


def _without_tags(data: bytes) -> tuple[bytes, int]:
    """Replace template tags by blanks or plain words of the same length; also return the number of bytes replaced."""
    blanked = 0

    def blank(match: re.Match[bytes]) -> bytes:
        nonlocal blanked
        blanked += len(match[0])
        return b" " * len(match[0])

    filled = bytearray(_TAG_LINE.sub(blank, data))
    for start, end in _tags(bytes(filled)):
        blanked += end - start
        filled[start:end] = b"x" * (end - start)
    return bytes(filled), blanked


def _tags(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the extents of template tags, each within one line.

    The end of a kind of tag is searched for only once per line after a search has failed.
    """
    line_end = reached = 0
    unclosed: set[bytes] = set()  # kinds of tag that are not closed on the rest of the line
    for match in _TAG_START.finditer(data):
        inside = match.start() + 2
        sign = data[match.start() : inside]
        if sign not in _TAG_END:
            line_end = 0
            continue
        if not line_end:
            line_end = next(_LINE_END.finditer(data, inside)).start()
            unclosed.clear()
        if match.start() < reached or sign in unclosed:
            continue
        closing = data.find(_TAG_END[sign], inside, line_end)
        if closing < 0:
            unclosed.add(sign)
        else:
            reached = closing + 2
            yield match.start(), reached


def _without_line_ends(match: re.Match[bytes]) -> bytes:
    return match[0].replace(b"\r", b" ").replace(b"\n", b" ")


def _error_bytes(tree: Tree) -> int:
    """Return the number of bytes that the parser could not make sense of."""
    if not tree.root_node.has_error:
        return 0
    captures = trees.captures(trees.compile_grammar(GRAMMAR).errors, tree.root_node)
    return sum(node.end_byte - node.start_byte + 1 for nodes in captures.values() for node in nodes)


def _pair(source: Source, node: Node) -> keyed.KeyedPart:
    key = node.child_by_field_name("key")
    value = node.child_by_field_name("value")
    shape = _shape(value) if value is not None else ""
    return keyed.KeyedPart(
        node.start_byte,
        node.end_byte,
        keyed.PAIR,
        _key_stretch(source, key) if key is not None else (0, 0),
        _stretch(value) if value is not None else (0, 0),
        shape,
    )


def _key_without_value(source: Source, node: Node) -> keyed.KeyedPart:
    """Return the part for a key without a value in a flow mapping."""
    return keyed.KeyedPart(node.start_byte, node.end_byte, keyed.PAIR, _key_stretch(source, node))


def _stretch(node: Node) -> tuple[int, int]:
    """Return the extent of a node's content, after its anchor and tag."""
    start = node.start_byte
    if node.named_child_count > 1:
        start = node.named_children[-1].start_byte
    return start, node.end_byte


def _key_stretch(source: Source, node: Node) -> tuple[int, int]:
    start, end = _stretch(node)
    if source.data[start : start + 1] in (b"|", b">"):  # a block scalar's text starts below its indicator
        start = source.data.find(b"\n", start, end) + 1 or start
        start += len(source.data[start:end]) - len(source.data[start:end].lstrip())
    return keyed.strip_quotes(source, start, end)


def _shape(node: Node) -> str:
    last = node.named_children[-1] if node.named_child_count else None
    return _SHAPES.get(last.type, "scalar") if last is not None else "scalar"


def _item_shape(node: Node) -> str:
    if node.type == "flow_pair":
        return "mapping"
    if node.type == "flow_node":
        return _shape(node)
    for child in reversed(node.named_children):
        if child.type != "comment":
            return _shape(child)
    return "scalar"


def _imports(draft: Draft, outline: keyed.KeyedOutline) -> None:
    orbs = "orbs" in outline.names
    for place, name in enumerate(outline.names):
        part = outline.parts[place]
        if part.shape != "scalar" or not (orbs or name == "uses"):
            continue
        path = _path(outline, place) if name == "uses" else ()
        step = path[-3:] == ("steps", "-", "uses") and path[0] in ("jobs", "runs")
        if step or (len(path) == 3 and path[0] == "jobs"):
            alias = ""
        elif _path(outline, outline.parents[place]) == ("orbs",):
            alias = name
        else:
            continue
        start, end = keyed.strip_quotes(draft.source, *part.value)
        draft.add_import(start, draft.source.slice(start, end), alias=alias)


def _path(outline: keyed.KeyedOutline, place: int) -> tuple[str, ...]:
    """Return the keys down to a part, "-" for an item; only the last eight levels."""
    path: list[str] = []
    while place >= 0 and len(path) < 8:
        if outline.parts[place].what != keyed.SEQUENCE:
            path.append(outline.names[place] or "-")
        place = outline.parents[place]
    return tuple(reversed(path))
