"""Tests of operators by tables of Python: `OpInfo('add', …)`, `UnaryUfuncInfo('abs', …)`.

What is tested is the first argument; where it is not called as the operator is, `aten_name`, `op` or, of a reference,
`torch_opinfo_name` say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridge_ends import BridgeEnd
from concordance.extract.reading.rule_context import PYTHON, RuleContext

LANGUAGES = PYTHON
WORDS = (b"OpInfo(", b"FuncInfo(", b"UfuncInfo(", b"RefInfo(")
_CLASS = re.compile(rb"\b(\w*(?:Op|Func|Ufunc|Ref)Info)\(\s*(?:name\s*=\s*)?[\"']")
_TEXT = re.compile(r"[\"']([\w.]+)[\"']")
_CALLED = re.compile(r"\btorch\.(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*")
_KEYWORDS = ("aten_name", "torch_opinfo_name", "op", "variant_test_name")


def ends(look: RuleContext) -> Iterator[BridgeEnd]:
    """What a file's tables test."""
    classes = sorted({match[1].decode() for match in _CLASS.finditer(look.data)})
    for call in look.calls(*classes):
        first = call.keyword("name") or (call.arguments[0] if call.arguments else None)
        name = _TEXT.fullmatch(look.text(first)) if first is not None and first.type == "string" else None
        if first is None or name is None:
            continue
        more = [("class", call.name)]
        for keyword in _KEYWORDS:
            value = call.keyword(keyword)
            written = look.text(value) if value is not None else ""
            called = _CALLED.findall(written) if keyword == "op" else _TEXT.findall(written)
            if len(set(called)) == 1:
                more.append((keyword, called[0]))
        yield BridgeEnd(first.start_byte, "opinfo", name[1], "", tuple(more))
