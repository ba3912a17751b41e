"""Nested keys of configuration and data files: the code shared by YAML, JSON and TOML's inline values.

In: the pairs, sequences and items of a file as a flat list of byte ranges. Out: `key` symbols in the draft, nested
as in the file.

Which parts become symbols depends on the structure only, never on a limit:

- A key outside sequences becomes a symbol.
- An item of a sequence that is a mapping becomes a symbol, and so do the keys in it. It is named by the text under
  its `name`, `id`, `func` or `key` (if that text looks like a signature, `add.Tensor(Tensor self)`, by the part
  before the bracket), otherwise by its index, starting at 0.
- A sequence of two or more mappings without names that all have the same keys is a table. The keys of its rows carry
  no information of their own, so each distinct path in the table becomes one symbol, `rows.[].column`, at its first
  occurrence, with the number of occurrences in its signature. The same applies to everything inside a table.
- If `rows` is set (for JSON, which programs write), every sequence is read as a table; in an outermost sequence, the
  items with names also become symbols.

A signature is `key = value`, for display only. The signature of a mapping is the key alone, a value of several lines
is represented by its first, and at most 160 characters are shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from concordance.base.model import Kind
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.source_text import Source

SEQUENCE, ITEM, PAIR = range(3)  # in nesting order, for parts that start at the same offset

_NAMING = ("name", "id", "func", "key")
_SIGNATURE = re.compile(r"([\w.:]+)\(")
_OPENER = re.compile(r"[|>][-+\d]*(?:\s+#.*)?|\"\"\"|'''")
_WORD = re.compile(r"[^\W\d_]")
_CONSTANTS = frozenset(("true", "false", "null", "yes", "no", "on", "off"))
_SHOWN = 160  # characters of a value in a signature
# A symbol's key contains the names of everything around it, so a file nested 100,000 levels deep would cost the square
# of that. Parts deeper than in any real file are therefore placed beside, not inside, their parent.
_DEEP = 200


class KeyedPart(NamedTuple):
    """A range of a file: a pair of key and value, a sequence, or an item of a sequence."""

    start: int
    end: int
    what: int
    key: tuple[int, int] = (0, 0)  # without quotes
    value: tuple[int, int] = (0, 0)
    shape: str = ""  # of the value: "scalar", "mapping", "sequence", "" for none


@dataclass(slots=True)
class KeyedOutline:
    """The parts of a file in the order of the text, each with the index of its parent."""

    parts: list[KeyedPart]
    parents: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of pairs; "" for other parts
    items: dict[int, list[int]] = field(default_factory=dict)  # of a sequence
    pairs: dict[int, list[int]] = field(default_factory=dict)  # direct pairs of an item


def define_keys(draft: Draft, parts: list[KeyedPart], rows: bool = False) -> KeyedOutline:
    """Define the symbols that the parts give, and return the outline."""
    outline = _outline(draft.source, parts)
    _Entry(draft, outline, rows).run()
    return outline


def strip_quotes(source: Source, start: int, end: int) -> tuple[int, int]:
    """Return the range of a scalar without its quotes."""
    data = source.data
    if end - start >= 2 and data[start] in b"\"'" and data[end - 1] == data[start]:
        return start + 1, end - 1
    return start, end


def pair_signature(source: Source, key: str, value: tuple[int, int], shape: str) -> str:
    """Return a pair's signature."""
    start, end = value
    if shape in ("", "mapping") or start >= end:
        return key
    words = source.slice(start, min(end, start + 4 * _SHOWN)).strip()
    first, _, rest = words.partition("\n")
    if shape == "sequence" and (rest or words.startswith("-") or end - start > _SHOWN):
        return f"{key} = […]"
    first = first.strip()
    if rest and _OPENER.fullmatch(first):  # the text itself starts on the next line
        first, _, rest = rest.strip().partition("\n")
    more = bool(rest.strip()) or len(first) > _SHOWN
    return " ".join(f"{key} = {first[:_SHOWN]}".split()) + (" …" if more else "")


def _outline(source: Source, parts: list[KeyedPart]) -> KeyedOutline:
    parts.sort(key=lambda part: (part.start, -part.end, part.what))
    outline = KeyedOutline(parts)
    around: list[int] = []
    for place, part in enumerate(parts):
        while around and parts[around[-1]].end <= part.start:
            around.pop()
        parent = around[-1] if around else -1
        outline.parents.append(parent)
        outline.names.append(" ".join(source.slice(*part.key).split()) if part.what == PAIR else "")
        if parent >= 0:
            if part.what == ITEM and parts[parent].what == SEQUENCE:
                outline.items.setdefault(parent, []).append(place)
            elif part.what == PAIR and parts[parent].what == ITEM:
                outline.pairs.setdefault(parent, []).append(place)
        around.append(place)
    return outline


@dataclass(slots=True)
class _Entry:
    """One pass over an outline."""

    draft: Draft
    outline: KeyedOutline
    rows: bool
    merged: list[int] = field(default_factory=list)  # per part: its path in a table, -1 outside tables
    depth: list[int] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)  # per path: the table that it starts in
    paths: list[tuple[str, ...]] = field(default_factory=list)
    known: dict[tuple[int, str], int] = field(default_factory=dict)  # path and name to path
    definitions: dict[int, tuple[Definition, int]] = field(default_factory=dict)  # per path: its symbol, its count
    indexes: dict[int, int] = field(default_factory=dict)  # per item: its index in its sequence

    def run(self) -> None:
        outline = self.outline
        for items in outline.items.values():
            self.indexes.update((item, at) for at, item in enumerate(items))
        for place, part in enumerate(outline.parts):
            parent = outline.parents[place]
            path = self.merged[parent] if parent >= 0 else -1
            self.depth.append(self.depth[parent] + 1 if parent >= 0 else 0)
            if part.what == SEQUENCE:
                self.merged.append(self._table(place) if path < 0 and self._is_table(place) else path)
            elif part.what == ITEM:
                self.merged.append(path if path < 0 else self._step(path, "[]"))
                self._item(place, part, parent, path)
            else:
                self.merged.append(path if path < 0 else self._step(path, outline.names[place]))
                self._pair(place, part)
        for definition, times in self.definitions.values():
            if times > 1:
                definition.signature += f" ({times} times)"

    def _is_table(self, place: int) -> bool:
        if self.rows:
            return True
        items = self.outline.items.get(place, ())
        if len(items) < 2:
            return False
        shapes = {tuple(self.outline.names[pair] for pair in self.outline.pairs.get(item, ())) for item in items}
        return len(shapes) == 1 and () not in shapes and not any(self._naming(item) for item in items)

    def _table(self, place: int) -> int:
        self.roots.append(place)
        self.paths.append(())
        return len(self.paths) - 1

    def _step(self, path: int, name: str) -> int:
        """Return the path that is one level further in."""
        further = self.known.get((path, name))
        if further is None:
            if len(self.paths[path]) >= _DEEP:
                return path
            further = self.known[path, name] = len(self.paths)
            self.paths.append((*self.paths[path], name))
            self.roots.append(self.roots[path])
        return further

    def _naming(self, item: int) -> tuple[int, str] | None:
        """Return the pair whose value names an item, and the name."""
        outline = self.outline
        pairs = outline.pairs.get(item, ())
        for wanted in _NAMING:
            for pair in pairs:
                part = outline.parts[pair]
                if outline.names[pair] == wanted and part.shape == "scalar":
                    name = self.draft.source.slice(*strip_quotes(self.draft.source, *part.value))
                    if "\n" not in name and _WORD.search(name) and name.lower() not in _CONSTANTS:
                        signature = _SIGNATURE.match(name)
                        return pair, signature[1] if signature else name
        return None

    def _item(self, place: int, part: KeyedPart, parent: int, path: int) -> None:
        outline, source = self.outline, self.draft.source
        if path >= 0 and self.paths[path]:  # inside a table's row
            return
        if parent < 0 or outline.parts[parent].what != SEQUENCE or part.shape == "scalar":
            return
        naming = self._naming(place)
        if naming is None:
            if path < 0:
                first = outline.pairs.get(place, ())[:1]
                words = "".join(self._signature(pair) for pair in first) or "[…]"
                index = str(self.indexes[place])
                self.draft.define(
                    Kind.KEY, index, part.start, part.start, part.end, signature=words, occurs=False,
                    nests=self.depth[place] < _DEEP,
                )  # fmt: skip
            return
        pair, name = naming
        at, _ = strip_quotes(source, *outline.parts[pair].value)
        nests = path < 0 and self.depth[place] < _DEEP
        words = self._signature(pair)
        self.draft.define(Kind.KEY, name, at, part.start, part.end, signature=words, nests=nests)

    def _signature(self, pair: int) -> str:
        part = self.outline.parts[pair]
        return pair_signature(self.draft.source, self.outline.names[pair], part.value, part.shape)

    def _pair(self, place: int, part: KeyedPart) -> None:
        path = self.merged[place]
        if path in self.definitions:
            definition, times = self.definitions[path]
            self.definitions[path] = definition, times + 1
            return
        start, end = part.key
        name = self.outline.names[place]
        definition = self.draft.define(
            Kind.KEY, name, start, part.start, part.end, signature=self._signature(place),
            occurs=end - start == len(name.encode()), nests=path < 0 and self.depth[place] < _DEEP,
        )  # fmt: skip
        if path >= 0:
            definition.within = self.paths[path][:-1]
            self.definitions[path] = definition, 1
