"""Backend tables: the operators that a backend has kernels for, in lists under `supported`, `autograd` and so on.

A table is recognised by its form: a YAML file with `backend: XLA` and `cpp_namespace: torch_xla` at the top level.
Operators in other lists, such as `full_codegen`, have no handwritten kernel: the build generates it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance_torch.extract.operator_schema import full_name

LANGUAGES = ("yaml",)
WORDS = (b"cpp_namespace:",)
_SAYS = re.compile(rb"(?m)^(backend|cpp_namespace|class_name):[ \t]*([\w:]+)")
_LIST = re.compile(rb"(?m)^(\w+):[ \t]*(?:#.*)?\r?\n((?:[ \t]*(?:-[ \t][^\n]*|#[^\n]*)?\r?\n?)+)")
_ITEM = re.compile(rb"(?m)^[ \t]*-[ \t]+([\w:.]+)[ \t]*(?:#.*)?\r?$")
_WRITTEN = ("supported", "autograd")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the operators of a backend."""
    settings = {match[1].decode(): match[2].decode() for match in _SAYS.finditer(context.data)}
    backend, space = settings.get("backend", ""), settings.get("cpp_namespace", "")
    if not backend or not space:
        return
    class_name = f"{space}::{settings.get('class_name') or backend + 'NativeFunctions'}"
    for match in _LIST.finditer(context.data):
        section = match[1].decode()
        key = f"Autograd{backend}" if section == "autograd" else backend
        for item in _ITEM.finditer(context.data, match.start(2), match.end(2)):
            name = full_name(item[1].decode())
            if name:
                more = (("key", key), ("list", section))
                yield BridgeEnd(item.start(1), "kernel", name, class_name if section in _WRITTEN else "", more)
