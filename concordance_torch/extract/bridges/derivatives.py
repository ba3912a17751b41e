"""Derivative tables: `- name: mul.Tensor(Tensor self, …) -> Tensor`, with a formula for each input.

A table is recognised by its form: the outermost sequence of a YAML file, whose items have a schema under `name` and
whose other keys are arguments of that schema (`self: grad * other`). Formulas for a specific dispatch key are under
that key in `dispatch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance_torch.extract.keyed_records import Field, KeyedRecord, read_records
from concordance_torch.extract.operator_schema import Schema, parse_schema

LANGUAGES = ("yaml",)
WORDS = (b"(Tensor",)
_CALLED = re.compile(r"(?<![\w.:>])((?:\w+::)*)([A-Za-z_]\w*)\s*(?:<[\w:, ]*>)?\(")
_WORDS = frozenset(("if", "for", "while", "return", "sizeof", "switch", "not", "static_cast"))
_RETURNS = re.compile(r"\b[A-Za-z_]\w*")
_BESIDES = ("output_differentiability",)


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the derivatives in a file's table, and the functions that their formulas call."""
    for entry in read_records(context) if b"name:" in context.data else ():
        written = entry.value("name")
        schema = parse_schema(written) if entry.outermost and written else None
        formulas = list(_formulas(entry, schema)) if schema else []
        besides = [(field.name, field.value) for field in entry.fields if field.name in _BESIDES]
        if schema is None or not (formulas or besides):
            continue
        formulas_by_name = tuple((name, field.value) for name, field in formulas)
        yield BridgeEnd(entry.at, "formula", schema.name, written, (*formulas_by_name, *besides))
        for _, field in formulas:
            for name in dict.fromkeys(_calls(field.value)):
                yield BridgeEnd(field.at, "formula calls", schema.name, name)


def _formulas(entry: KeyedRecord, schema: Schema) -> Iterator[tuple[str, Field]]:
    """Yield the inputs, or the results for forward derivatives, each with its formula."""
    returned = _RETURNS.findall(schema.returns)
    known = {*schema.names, *returned, "result", *(f"result{place}" for place in range(len(returned)))}
    for field in entry.fields:
        if known.issuperset(part.strip() for part in field.name.split(",")):
            yield field.name, field
        elif field.name == "dispatch":
            for key in field.within:
                for other in key.within:
                    if known.issuperset(part.strip() for part in other.name.split(",")):
                        yield f"{other.name} ({key.name})", other


def _calls(formula: str) -> Iterator[str]:
    for match in _CALLED.finditer(formula):
        if match[2] not in _WORDS:
            yield match[1] + match[2]
