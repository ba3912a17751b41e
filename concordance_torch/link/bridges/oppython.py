"""Python code that calls operators: by names that no Python file defines (`torch.add`), and through `torch.ops`.

In: names that Python requests from other languages, and uses of `torch.ops`. Out: which function calls which operator.
The overload is chosen when the call runs, so the row leads to the plainest overload and says how many there are. For an
operator that is registered but is in no table, further rows lead to the registered functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust, role_bit
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance_torch.link.operator_names import OperatorNames
from concordance_torch.link.operator_tables import TableOperator, Tables
from concordance_torch.link.registered_kernels import BRIDGES, RegisteredKernels

VERBS = {"python": ("uses", "is used from Python by")}

_CALL = role_bit(Role.CALL)


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join callers with operators."""
    tables = context.once(Tables)
    if not tables.operators:
        return
    names = context.once(OperatorNames)
    for dotted in names.dotted:
        for ask in context.uses_of_foreign_name(dotted):
            operators = names.of(dotted, context.file_containing(ask.user).path)
            if operators:
                yield _row(operators, ask.user, -1, dotted, Role.CALL if ask.roles & _CALL else Role.READ)
    registered = context.once(RegisteredKernels)
    seen: set[tuple[int, str]] = set()
    # calls first, so that a mention adds nothing
    for stated in sorted(context.ends("oppython"), key=lambda stated: stated.end.says != "calls"):
        operators = names.of_name(stated.end.name, stated.file.path) or names.of_packet(
            _packet_name(stated.end.name), stated.file.path
        )
        sure = bool(operators)
        operators = operators or names.of_macro_namespace(stated.end.name)
        if operators and (stated.id, operators[0].name) not in seen:
            seen.add((stated.id, operators[0].name))
            role = Role.CALL if stated.end.says == "calls" else Role.READ
            row = _row(operators, stated.id, stated.number, stated.end.text, role)
            yield row if sure else row._replace(trust=Trust.UNIQUE_NAME, by="only operator of this name")
            if operators[0].end.end.bridge in BRIDGES and role == Role.CALL:
                yield from _registered_functions(registered, operators[0], stated)


def _registered_functions(registered: RegisteredKernels, operator: TableOperator, one: StatedEnd) -> Iterator[Bridge]:
    """Join the caller of an operator with the functions that are registered for it."""
    for other, functions in registered.by_name.get(operator.name, ()):
        for target in functions:
            by = f"registered in {other.file.path}"
            row = one.to(target.target, target.trust, by, name=operator.name, role=Role.CALL, more=other.end.more)
            yield row._replace(says="registered")


def _packet_name(name: str) -> str:
    """Return the operator packet of a name whose last part was read as an overload but may be a method."""
    return name.partition(".")[0].replace("::", ".")


def _row(operator: list[TableOperator], user: int, end: int, written: str, role: Role) -> Bridge:
    count = len(operator)
    by = "the name that Python code uses" if count == 1 else f"the name that Python code uses, of {count} overloads"
    name = operator[0].name if count == 1 else operator[0].base
    return Bridge("oppython", "python", name, user, end, operator[0].entry, Trust.EXACT, by, role, (("as", written),))
