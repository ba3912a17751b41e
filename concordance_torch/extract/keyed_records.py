"""Reads the items of sequences in YAML and JSON files as records: each key with its value as written.

In: the definitions that `documents/keyed.py` made of the file. Out: a `KeyedRecord` for each named item of a sequence
that is not inside another item, in the order of the text. Tables of operators, kernels and derivative formulas are such
sequences; the bridges interpret them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from concordance.base.model import Kind
from concordance.extract.reading.draft import Definition
from concordance.extract.reading.rule_context import RuleContext

_COMMENT = re.compile(r"(?m)(?:^|[ \t])#.*$")
_BLOCK = re.compile(r"[|>][-+\d]*[ \t]*(?:#.*)?\n")
_COLON = re.compile(rb"[\"']?(?<!\s)\s*+:")


@dataclass(slots=True)
class Field:
    """A key and its value; if the value is a mapping, also the keys in it."""

    name: str
    at: int
    value: str
    within: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class KeyedRecord:
    """A named item of a sequence, with its keys."""

    name: str
    at: int  # where the name is
    fields: list[Field]
    outermost: bool  # whether the sequence is at the top level, not the value of a key

    def value(self, name: str) -> str:
        """Return the value of a key, "" if it is absent."""
        return next((field.value for field in self.fields if field.name == name), "")

    def field(self, name: str) -> Field | None:
        """Return a key with its value, None if it is absent."""
        return next((field for field in self.fields if field.name == name), None)


def read_records(context: RuleContext) -> Iterator[KeyedRecord]:
    """Yield the named items of the sequences in a file, but not those inside other items."""
    rows = sorted((d for d in context.draft.definitions if d.kind == Kind.KEY), key=lambda d: (d.start, -d.end, d.at))
    place = 0
    covered = 0  # the end of the last mapping at the top level
    while place < len(rows):
        item = rows[place]
        end = place + 1
        if _is_item(item, rows[end : end + 1]):
            while end < len(rows) and rows[end].start < item.end:
                end += 1
            fields = _fields(context, rows[place + 1 : end])
            yield KeyedRecord(item.name, item.at, fields, item.start >= covered)
        else:
            covered = max(covered, item.end)
        place = end


def _is_item(row: Definition, following: list[Definition]) -> bool:
    """True if a definition is an item of a sequence: its name is inside the value of one of its keys."""
    return row.at > row.start and bool(following) and following[0].start < row.end and row.at > following[0].at


def _fields(context: RuleContext, rows: list[Definition]) -> list[Field]:
    """Return the keys of a mapping, each with the keys inside it."""
    fields: list[Field] = []
    around: list[tuple[int, Field]] = []
    for row in rows:
        while around and around[-1][0] <= row.start:
            around.pop()
        entry = _field(context, row)
        (around[-1][1].within if around else fields).append(entry)
        around.append((row.end, entry))
    return fields


def _field(context: RuleContext, row: Definition) -> Field:
    source = context.source
    colon = _COLON.search(context.data, row.at + len(row.name.encode()), row.end)
    start = colon.end() if colon else row.end
    while start < row.end and context.data[start : start + 1].isspace():
        start += 1
    return Field(row.name, row.at, _text(source.slice(start, row.end)))


def _text(written: str) -> str:
    """Return a YAML value on a single line, without its quotes and comments."""
    block = _BLOCK.match(written)
    if block is None and written[:1] in ("'", '"') and written[-1:] == written[:1] and len(written) > 1:
        return " ".join(written[1:-1].split())
    words = written[block.end() :] if block else _COMMENT.sub("", written)
    return " ".join(words.split())
