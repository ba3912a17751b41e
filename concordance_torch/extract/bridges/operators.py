"""Operator tables: `- func: add.Tensor(Tensor self, …) -> Tensor` with variants and kernels by dispatch key.

A table is recognised by its form, wherever it is: the outermost sequence of a YAML file, whose items have a schema
under `func`. Kernels are listed under `dispatch`, each after one or more dispatch keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridge_ends import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance_torch.extract.keyed_records import Field, KeyedRecord, entries
from concordance_torch.extract.operator_schema import Schema, full_name, parsed

LANGUAGES = ("yaml",)
WORDS = (b"func:",)
_KERNEL = re.compile(r"[A-Za-z_][\w:]*")
_LOOPS = "ufunc_inner_loop"
_IMPLICIT = "CompositeImplicitAutograd"  # the dispatch key if none is given


def ends(look: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the operators of a file's table, and their kernels."""
    for entry in entries(look):
        written = entry.value("func")
        schema = parsed(written) if entry.outermost and written else None
        if schema is not None:
            yield _schema(entry, schema, written)
            yield from _kernels(entry, schema)
            yield from _made(entry, schema)


def _schema(entry: KeyedRecord, schema: Schema, written: str) -> BridgeEnd:
    keys = [(one.name, one.value) for one in entry.fields if one.name not in ("func", "dispatch", _LOOPS)]
    return BridgeEnd(entry.at, "schema", schema.name, written, (("schema", written), *keys))


def _kernels(entry: KeyedRecord, schema: Schema) -> Iterator[BridgeEnd]:
    dispatch = entry.field("dispatch")
    for one in dispatch.within if dispatch else ():
        if _KERNEL.fullmatch(one.value):
            for key in one.name.split(","):
                yield _kernel(one, schema, key.strip(), one.value)
    loops = entry.field(_LOOPS)
    for one in loops.within if loops else ():
        name = _KERNEL.match(one.value)
        devices = [device for device in ("CPU", "CUDA") if one.name.startswith(device)] or ["CPU", "CUDA"]
        for device in devices if name else ():
            yield _kernel(one, schema, device, f"ufunc::{name[0]}", ("loop", one.name))  # type: ignore[index]
    if dispatch is None and entry.field("structured") is None and entry.field("structured_delegate") is None:
        kernel = schema.base + ("_out" if schema.is_out else "")
        yield BridgeEnd(entry.at, "kernel", schema.name, kernel, (("key", _IMPLICIT), ("default", "yes")))


def _kernel(one: Field, schema: Schema, key: str, name: str, *more: tuple[str, str]) -> BridgeEnd:
    return BridgeEnd(one.at, "kernel", schema.name, name, (("key", key), *more))


def _made(entry: KeyedRecord, schema: Schema) -> Iterator[BridgeEnd]:
    """Yield the operators that are generated from an entry and have none of their own."""
    made = entry.field("autogen")
    for name in made.value.strip("[]").split(",") if made else ():
        full = full_name(name, schema.namespace or "aten")
        if made and full:
            yield BridgeEnd(made.at, "autogen", full, name.strip())
