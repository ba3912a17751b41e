"""The operators of a repository and everything that bridges state about them, for operator pages and `concord op`.

In: bridges whose names are operator names (`aten::add.Tensor`). Out: one `OperatorInfo` per operator, under the name
without the overload (`aten::add`). `COLUMNS` lists what an operator can have; only bridge rows decide whether a given
operator has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from concordance.base.model import Bridge, Category
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import shared_until
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance_torch.link.documented_names import STRUCTURED_META, documented_python_names

SCHEMA, KERNEL, STUB, FORMULA, CALLS, CALLED = "schema", "kernel", "stub", "formula", "formula calls", "calls"
PYTHON, OPINFO, DOCSTRING, DOCUMENTED = "python", "opinfo", "docstring", "documented"
META = "meta"
OPERATOR = "operator"  # what links to the pages of operators say
IMPLICIT = "CompositeImplicitAutograd"
# What is written for an operator outside its schema and kernels: a bridge's `says`, and the section's title.
PART_TITLES = {
    "decomposition": "Decomposition", "reference": "Reference", META: "Meta function",
    STRUCTURED_META: "Structured meta function", "lowering": "Lowering", "symbolic": "Export",
}  # fmt: skip
_CPP_NAMESPACES = ("at", "torch", "at::native")  # of the functions that are generated from, or implement, a table
BACKENDS = ("CPU", "CUDA", "MPS")
COLUMNS = (*BACKENDS, "Autograd", "Decomposition", "Meta", "Lowering", "OpInfo", "Documentation")


class Overload(NamedTuple):
    """One schema of an operator."""

    name: str  # "aten::add.Tensor"
    schema: str
    row: Bridge
    fields: dict[str, str]  # the other fields of its entry, verbatim


class OperatorInfo(NamedTuple):
    """Everything known about an operator, all overloads together."""

    name: str  # "aten::add"
    overloads: list[Overload]
    rows: dict[str, list[Bridge]]  # bridges of the operator and its overloads, by their `says`
    from_tests: frozenset[Bridge]  # those of the rows that come from test files

    def rows_saying(self, *says: str) -> list[Bridge]:
        """Return the rows whose `says` is one of the given words."""
        return [row for word in says for row in self.rows.get(word, ())]

    def rows_outside_tests(self, *says: str) -> list[Bridge]:
        """Return the rows whose `says` is one of the given words, without those from test files."""
        return [row for row in self.rows_saying(*says) if row not in self.from_tests]

    def keys(self) -> dict[str, list[Bridge]]:
        """Return its kernels by dispatch key, without those that tests register."""
        keys: dict[str, list[Bridge]] = {}
        for row in self.rows_saying(KERNEL):
            if row not in self.from_tests:
                keys.setdefault(bridge_detail(row, "key") or "any", []).append(row)
        return dict(sorted(keys.items(), key=lambda pair: (_dispatch_key_order(pair[0]), pair[0])))


def called_in_python(info: OperatorInfo) -> list[str]:
    """Return the names under which Python calls an operator, according to its schemas, the shortest way first."""
    space, _, base = info.name.rpartition("::")
    ways: dict[str, None] = {}
    for overload in info.overloads if space == "aten" and not base.startswith("_") else ():
        fields = overload.fields
        variants, module = fields.get("variants", "function"), fields.get("python_module", "")
        ways |= dict.fromkeys(documented_python_names(base, variants, module))
    return [*ways, f"torch.ops.{space.replace('::', '.')}.{base}"]


def _dispatch_key_order(key: str) -> int:
    return BACKENDS.index(key) if key in BACKENDS else 3 if key.startswith("Composite") else 4


def bridge_detail(row: Bridge, name: str) -> str:
    """Return a detail of a bridge by its key, "" if it has none."""
    return next((value for key, value in row.more if key == name), "")


def without_overload(name: str) -> str:
    """Return an operator's name without the overload: `aten::add` for `aten::add.Tensor`."""
    space, separator, rest = name.rpartition("::")
    return space + separator + rest.partition(".")[0]


@shared_until(Aspect.BRIDGES)
def _with_schema(index: Index) -> frozenset[str]:
    """Return the base names of the operators that have a schema outside of tests."""
    rows = (row for row in bridges_of(index).saying(SCHEMA) if "::" in row.name)
    return frozenset(
        without_overload(row.name) for row in rows if index.category_of(index.path_of(row.source)) != Category.TEST
    )


@shared_until(Aspect.BRIDGES)
def _overloads(index: Index) -> dict[str, list[str]]:
    """Return the full names of each operator that has a schema outside of tests, by its base name, in page order."""
    every: dict[str, set[str]] = {}
    for row in bridges_of(index).rows:
        if "::" in row.name and row.says != STUB:
            every.setdefault(without_overload(row.name), set()).add(row.name)
    overloads = _with_schema(index)
    largest = Counter(
        name.rpartition("::")[0] for name in overloads
    )  # the namespace with the most operators comes first
    order = sorted(overloads, key=lambda name: (-largest[name.rpartition("::")[0]], name))
    return {name: sorted(every[name]) for name in order}


def names(index: Index) -> list[str]:
    """Return the base names of the operators that have a schema."""
    return list(_overloads(index))


def is_operator(index: Index, name: str) -> bool:
    """True if an operator of this name has a page."""
    index.reads.note(Aspect.BRIDGES_OF_NAME, name)
    return name in _with_schema(index)


def operator(index: Index, name: str) -> OperatorInfo | None:
    """Return the operator of a base name, or None if there is none."""
    full = _overloads(index).get(name)
    if full is None:
        index.reads.note(Aspect.BRIDGES_OF_NAME, name)
        return None
    bridges, overloads = dict[str, list[Bridge]](), []
    for one in dict.fromkeys((name, *full)):
        for row in bridges_of(index).named(one):
            bridges.setdefault(row.says, []).append(row)
            if row.says == SCHEMA:
                detail = {key: value for key, value in row.more if key != SCHEMA}
                overloads.append(Overload(one, bridge_detail(row, SCHEMA), row, detail))
    tried = frozenset(
        row for rows in bridges.values() for row in rows
        if index.category_of(index.path_of(row.source)) == Category.TEST
    )  # fmt: skip
    return OperatorInfo(name, overloads, bridges, tried)


def coverage_of(info: OperatorInfo) -> dict[str, str]:
    """Return a word for what an operator has in each column, "" for nothing."""
    keys = info.keys()
    composite = "composite" if any(key.startswith("Composite") for key in keys) else ""
    coverage = {backend: "kernel" if _has_key(keys, backend) else composite for backend in BACKENDS}
    implicit = "implicit" if IMPLICIT in keys else ""
    autograd = "kernel" if any(key.startswith("Autograd") for key in keys) else implicit
    coverage["Autograd"] = "formula" if info.rows.get(FORMULA) else autograd
    coverage["Decomposition"] = "yes" if info.rows_outside_tests("decomposition", "reference") else ""
    coverage["Meta"] = "yes" if info.rows_outside_tests(META, STRUCTURED_META) or _has_key(keys, "Meta") else composite
    coverage["Lowering"] = "yes" if info.rows_outside_tests("lowering") else ""
    coverage["OpInfo"] = "yes" if info.rows.get(OPINFO) else ""
    coverage["Documentation"] = "yes" if info.rows_outside_tests(DOCSTRING, DOCUMENTED) else ""
    return coverage


def _has_key(keys: Iterable[str], backend: str) -> bool:
    return any(key == backend for key in keys)


def candidate_names(name: str) -> list[str]:
    """Return the operator names that a query may mean, likeliest first."""
    space, colons, last = name.rpartition("::")
    if colons:
        return [name, f"aten::{last}"] if space in _CPP_NAMESPACES else [name]
    parts = name.split(".")
    names = []
    if name.startswith("torch.ops.") and len(parts) > 3:
        names.append(f"{parts[2]}::{'.'.join(parts[3:])}")
    if len(parts) <= 2:
        names.append(f"aten::{name}")
    if parts[0] == "torch" and len(parts) > 1:
        joined = [f"aten::{'_'.join(parts[start:])}" for start in range(1, len(parts))]
        names += [joined[-1], *joined[:-1]]
    return names or [f"aten::{name}"]


def operator_meant(index: Index, written: str) -> OperatorInfo | None:
    """Return the operator that a name, as written in Python, C++ or a table, refers to; None if there is none."""
    some = candidate_names(written) if _has_schema(index, candidate_names(written)) else ()
    infos = [info for name in some if (info := operator(index, without_overload(name))) is not None]
    return next((info for info in infos if written in called_in_python(info)), infos[0] if infos else None)


def _has_schema(index: Index, names_: list[str]) -> bool:
    """True if one of these operators may exist: most names mean none, and the table of all operators takes longer."""
    return not _names_with_schema(index).isdisjoint(map(without_overload, names_))


@shared_until(Aspect.BRIDGES)
def _names_with_schema(index: Index) -> frozenset[str]:
    """Return the base names of all operators that have a schema."""
    return frozenset(without_overload(row.name) for row in bridges_of(index).saying(SCHEMA))


def entries(index: Index, written: str) -> list[Bridge]:
    """Return the schemas of the operator that a name, as written in Python, C++ or a table, refers to; may be empty."""
    info = operator_meant(index, written)
    if info is None:
        return []
    own = [overload.row for overload in info.overloads if overload.name in candidate_names(written)]
    overloaded = all("." in name.rpartition("::")[2] for name in candidate_names(written))
    return own or [overload.row for overload in info.overloads if not overloaded]
