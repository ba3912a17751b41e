"""Operator tests declared in Python tables: `OpInfo('add', …)`, `UnaryUfuncInfo('abs', …)`.

The first argument names what is tested. If that is not the operator's name, the keywords `aten_name`, `op` or, for a
reference, `torch_opinfo_name` name the operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import PYTHON, RuleContext

LANGUAGES = PYTHON
WORDS = (b"OpInfo(", b"FuncInfo(", b"UfuncInfo(", b"RefInfo(")
_CLASS = re.compile(rb"\b(\w*(?:Op|Func|Ufunc|Ref)Info)\(\s*(?:name\s*=\s*)?[\"']")
_TEXT = re.compile(r"[\"']([\w.]+)[\"']")
_CALLED = re.compile(r"\btorch\.(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*")
_KEYWORDS = ("aten_name", "torch_opinfo_name", "op", "variant_test_name")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield an end for each operator that a file's tables test."""
    classes = sorted({match[1].decode() for match in _CLASS.finditer(context.data)})
    for call in context.calls(*classes):
        first = call.keyword("name") or (call.arguments[0] if call.arguments else None)
        name = _TEXT.fullmatch(context.text(first)) if first is not None and first.type == "string" else None
        if first is None or name is None:
            continue
        more = [("class", call.name)]
        for keyword in _KEYWORDS:
            value = call.keyword(keyword)
            written = context.text(value) if value is not None else ""
            called = _CALLED.findall(written) if keyword == "op" else _TEXT.findall(written)
            if len(set(called)) == 1:
                more.append((keyword, called[0]))
        yield BridgeEnd(first.start_byte, "opinfo", name[1], "", tuple(more))
