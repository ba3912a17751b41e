"""Finds the operators that a dotted Python name refers to: `torch.add`, `Tensor.add_`, `torch.linalg.norm`.

In: the operators of tables and registrations. Out: for a dotted name, the operators that it may call. An entry says how
its operator appears in Python: `variants` (function, method) and `python_module` (linalg, fft, nn).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from concordance.link.bridge_context import BridgeContext
from concordance_torch.link.documented_names import documented_python_names
from concordance_torch.link.operator_tables import TableOperator, Tables, operators_of_nearest_table

_OTHER_METHODS = ("Tensor", "torch._C._TensorBase", "torch._C.TensorBase")
_OTHER_FUNCTIONS = ("torch._VF", "torch._C._VariableFunctions")
_OPS, _FUNCTIONAL = "torch.ops.", "torch.nn.functional."


class OperatorNames:
    """Finds operators by their Python names."""

    def __init__(self, context: BridgeContext) -> None:
        tables = self._tables = context.once(Tables)
        self._by_python_name: dict[str, list[TableOperator]] = {}
        self._by_macro_namespace: dict[str, list[TableOperator]] = {}
        for operator in tables.operators:
            if operator.name.partition("::")[0].isupper():
                self._by_macro_namespace.setdefault(operator.schema.base, []).append(operator)
            for way in dict.fromkeys(python_names(operator)):
                self._by_python_name.setdefault(way, []).append(operator)

    def of(self, dotted: str, near: str) -> list[TableOperator]:
        """Return the operators of a dotted name, from the table nearest to a path."""
        if dotted.startswith(_OPS):
            return self.of_packet(dotted.removeprefix(_OPS), near)
        operators = self._by_python_name.get(dotted)
        if not operators and dotted.startswith(_FUNCTIONAL):
            operators = self._by_python_name.get("torch." + dotted.rpartition(".")[2])
        return sort_plainest_first(operators_of_nearest_table(operators or [], near))

    @cached_property
    def dotted(self) -> list[str]:
        """All dotted names of operators, apart from those in `torch.ops`: a bridge reads only who requests these."""
        functions = (name.removeprefix("torch.") for name in self._by_python_name if name.startswith("torch."))
        aliases = (f"{_FUNCTIONAL}{name}" for name in functions if "." not in name)
        return sorted({*self._by_python_name, *aliases})

    def of_packet(self, dotted: str, near: str) -> list[TableOperator]:
        """Return the operator of `aten.add.Tensor`, or all overloads of `aten.add`."""
        parts = dotted.split(".")
        if len(parts) == 2:
            return sort_plainest_first(self._tables.overloads("::".join(parts), near))
        if len(parts) != 3:
            return []
        overload = "" if parts[2] == "default" else f".{parts[2]}"
        operator = self._tables.named(f"{parts[0]}::{parts[1]}{overload}", near)
        return [operator] if operator else []

    def of_name(self, name: str, near: str) -> list[TableOperator]:
        """Return the operator of `aten::add.Tensor`, or all overloads of `aten::add`, the unnamed overload first."""
        operator = self._tables.named(name, near)
        if operator is not None and "." in name:
            return [operator]
        return sort_plainest_first(self._tables.overloads(name, near)) if "." not in name else []

    def of_macro_namespace(self, name: str) -> list[TableOperator]:
        """Return the operator of a name if it is the only one among those whose namespace is a macro.

        Only the build knows the value of such a macro.
        """
        operators = self._by_macro_namespace.get(name.partition("::")[2].partition(".")[0], [])
        return operators if len(operators) == 1 else []


def sort_plainest_first(overloads: list[TableOperator]) -> list[TableOperator]:
    """Sort overloads: the unnamed one first, those that write to an `out` argument last."""
    return sorted(overloads, key=lambda operator: (operator.schema.is_out, bool(operator.schema.overload)))


def python_names(operator: TableOperator) -> Iterator[str]:
    """Yield the dotted names under which Python calls an operator."""
    variants = operator.more.get("variants", "function")
    module, base = operator.more.get("python_module", ""), operator.schema.base
    if operator.base.partition("::")[0] != "aten":
        return
    yield from documented_python_names(base, variants, module)
    if "method" in variants:
        yield from (f"{owner}.{base}" for owner in _OTHER_METHODS)
    if "function" in variants and not module:
        yield from (f"{owner}.{base}" for owner in _OTHER_FUNCTIONS)
    elif "function" in variants:
        yield f"torch._C._{module}.{base}"
        if module == "nn":
            yield f"torch.nn.functional.{base}"
