"""Tests of operators by tables: each joined with the operator that it tests.

In: the names of tables of tests. Out: rows to operators. A name that no operator has (`masked.sum`, a function of
Python) gives none.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.link.crossing import Crossing, Stated
from concordance.link.operatornames import OperatorNames
from concordance.link.operatortables import Operator
from concordance.model import Bridge, Trust


def join(crossing: Crossing) -> Iterator[Bridge]:
    """Tables of tests and operators."""
    stated = crossing.ends("opinfo")
    if not stated:
        return
    names = crossing.once(OperatorNames)
    for one in stated:
        for found, by in _tested(names, one):
            if found:
                trust = Trust.EXACT if by != "operator of this name" else Trust.UNIQUE_NAME
                more = tuple(pair for pair in one.end.more if pair[0] in ("class", "variant_test_name"))
                row = one.to(found[0].entry, trust, by, name=found[0].base, more=(*more, ("test", one.end.name)))
                yield row
                break


def _tested(names: OperatorNames, one: Stated) -> Iterator[tuple[list[Operator], str]]:
    """What may be tested, the surest first."""
    more, near = dict(one.end.more), one.file.path
    name = more.get("torch_opinfo_name", one.end.name).removeprefix("_refs.")
    if more["class"].startswith("Foreach"):
        yield names.of(f"torch._foreach_{name}", near), "the name that is tested"
    if "aten_name" in more and not name.startswith("_masked"):
        yield names.of_name(f"aten::{more['aten_name']}", near), "the aten_name that is tested"
    yield names.of(f"torch.{name}", near), "the name that is tested"
    yield names.of(f"torch.Tensor.{name}", near), "the name that is tested"
    if "op" in more:
        yield names.of(more["op"], near), "what the test calls"
    if "masked" not in name:  # whose functions are called as operators are, and are none
        yield names.of_name(f"aten::{name.rpartition('.')[2]}", near), "operator of this name"
