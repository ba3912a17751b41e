"""Table-driven tests of operators, each joined with the operator that it tests.

In: the names in test tables. Out: rows to operators. A name that is not an operator may be a Python function
(`nn.functional.cross_entropy`): then the test is of the operators that the function calls and whose names start with
its own (`cross_entropy_loss`). Other operators that it calls are not what the test is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from concordance.base.model import Bridge, Kind, Role, Trust, role_bit
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance_torch.link.operator_names import OperatorNames
from concordance_torch.link.operator_tables import TableOperator

VERBS = {"opinfo": ("tests", "is tested by")}

_CALL = role_bit(Role.CALL)


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join test tables with operators."""
    ends = context.ends("opinfo")
    if not ends:
        return
    names = context.once(OperatorNames)
    functions = _Functions(context, names)
    for stated in ends:
        more = tuple(pair for pair in stated.end.more if pair[0] in ("class", "variant_test_name"))
        more = (*more, ("test", stated.end.name))
        operators, by = next(
            ((operators, by) for operators, by in _tested_operators(names, stated) if operators), ([], "")
        )
        if operators:
            trust = Trust.EXACT if by != "operator of this name" else Trust.UNIQUE_NAME
            yield stated.to(operators[0].entry, trust, by, name=operators[0].base, more=more)
            continue
        by = f"called by {_tested_name(stated)}, which is tested"
        for operator in functions.called_operators(_tested_name(stated)):
            yield stated.to(operator.entry, Trust.VIA_IMPORT, by, name=operator.base, more=more)


def _tested_name(stated: StatedEnd) -> str:
    """Return the name of the tested function, relative to `torch`."""
    return dict(stated.end.more).get("torch_opinfo_name", stated.end.name).removeprefix("_refs.")


def _tested_operators(names: OperatorNames, stated: StatedEnd) -> Iterator[tuple[list[TableOperator], str]]:
    """Yield the operators that may be tested, most certain first."""
    more, near, name = dict(stated.end.more), stated.file.path, _tested_name(stated)
    if more["class"].startswith("Foreach"):
        yield names.of(f"torch._foreach_{name}", near), "the name that is tested"
    if "aten_name" in more and not name.startswith("_masked"):
        yield names.of_name(f"aten::{more['aten_name']}", near), "the aten_name that is tested"
    yield names.of(f"torch.{name}", near), "the name that is tested"
    yield names.of(f"torch.Tensor.{name}", near), "the name that is tested"
    if "op" in more:
        yield names.of(more["op"], near), "what the test calls"
    if "masked" not in name:  # masked functions are called like operators, but are not operators
        yield names.of_name(f"aten::{name.rpartition('.')[2]}", near), "operator of this name"


class _Functions:
    """Python functions, and the operators that each calls."""

    def __init__(self, context: BridgeContext, names: OperatorNames) -> None:
        self._context, self._names = context, names

    @cached_property
    def _foreign_calls(self) -> dict[int, list[str]]:
        """The names from other languages that each function calls."""
        calls: dict[int, list[str]] = {}
        packets = (name for name in self._context.foreign_names_with("ops") if name.startswith("torch.ops."))
        for dotted in sorted({*self._names.dotted, *packets}):
            for ask in self._context.uses_of_foreign_name(dotted):
                if ask.roles & _CALL:
                    calls.setdefault(ask.user, []).append(dotted)
        return calls

    def called_operators(self, name: str) -> list[TableOperator]:
        """Return the operators that the function of a name calls and whose names start with its own.

        Empty unless there is exactly one such function.
        """
        module, _, last = name.rpartition(".")
        if not module:
            return []
        named = self._context.symbols_named(last, ("python",))
        rows = [symbol for symbol in named if symbol.kind == Kind.FUNCTION and not symbol.parent_key]
        rows = [symbol for symbol in rows if f"{self._context.module_of(symbol.path)}.".startswith(f"torch.{module}.")]
        if len(rows) != 1:
            return []
        asked = (self._names.of(dotted, rows[0].path) for dotted in self._foreign_calls.get(rows[0].id, ()))
        operators = {one[0].base: one[0] for one in asked if one}
        return [operator for operator in operators.values() if operator.schema.base.startswith(last)]
