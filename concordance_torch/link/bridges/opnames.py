"""What Python registers for operators: each joined with the entry of the operator that it names.

In: registrations, and functions that files of references and symbolics offer. Out: rows from the function to the
operator. A function that is only offered counts where its file lies among references (`_refs`) or symbolics of an
export (`symbolic_opset9.py`), and where there is an operator of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance_torch.link.operator_names import OperatorNames
from concordance_torch.link.operator_tables import TableOperator

_SYMBOLICS = re.compile(r"symbolic_\w*\.py$")
_REFERENCES = re.compile(r"(?:^|/)_?refs(?:/|\.py$)")


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """Registrations and operators."""
    stated = crossing.ends("opnames")
    if not stated:
        return
    names = crossing.once(OperatorNames)
    for one in stated:
        more = dict(one.end.more)
        if one.end.says == "reference" and more.get("by") != "offered" and "::" in one.end.name:
            yield from _named(names, one)
        elif one.end.says == "reference":
            yield from _reference(crossing, names, one)
        elif more.get("by") == "offered":
            yield from _symbolic(names, one)
        else:
            rows = list(_named(names, one))
            yield from rows
            if one.end.says == "decomposition" and _REFERENCES.search(one.file.path):
                yield from (row._replace(says="reference") for row in rows)


def _named(names: OperatorNames, one: StatedEnd) -> Iterator[Bridge]:
    """A registration that names its operator in full."""
    more = dict(one.end.more)
    found = names.of_name(one.end.name, one.file.path)
    said = (("as", more["by"]), ("function", one.end.text))
    if not found:
        yield one.to(0, Trust.EXACT, "operator of this name, in no table", more=said)
        return
    if more.get("overload") or len(found) == 1:
        yield one.to(found[0].entry, Trust.EXACT, "the name that is registered", name=found[0].name, more=said)
        return
    yield one.to(found[0].entry, Trust.EXACT, f"the name that is registered, of {len(found)} overloads", more=said)


def _reference(crossing: BridgeContext, names: OperatorNames, one: StatedEnd) -> Iterator[Bridge]:
    """A reference, which has its operator's name, in a module that is called as Python calls that operator's."""
    if not _REFERENCES.search(one.file.path):
        return
    module = crossing.module_of(one.file.path)
    home = re.sub(r"\._?refs\b", "", module) if module else ""
    found = names.of(f"{home}.{one.end.name}", one.file.path) or names.of_name(f"aten::{one.end.name}", one.file.path)
    yield from _by_name(found, one, "reference of this name")


def _symbolic(names: OperatorNames, one: StatedEnd) -> Iterator[Bridge]:
    if _SYMBOLICS.search(one.file.path):
        found = names.of_name(f"aten::{one.end.name}", one.file.path)
        yield from _by_name(found, one, "symbolic function of this name")


def _by_name(found: list[TableOperator], one: StatedEnd, by: str) -> Iterator[Bridge]:
    if found:
        yield one.to(found[0].entry, Trust.UNIQUE_NAME, by, name=found[0].base, more=(("function", one.end.text),))
