"""Operators in tables and their kernels: what runs for each dispatch key.

In: entries with their schemas, kernels by name, and the functions that the macros of structured kernels name. Out: a
row for each schema, and, for each key of an entry, one for each definition of its kernel. An entry that delegates to
another (`structured_delegate`) has that entry's structured kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, LinkedName, StatedEnd
from concordance_torch.link.kernels import Kernels
from concordance_torch.link.operator_tables import TableOperator, Tables, shared_folder_count

VERBS = {"kernel": ("is implemented by", "implements")}

READS = ("structured", "overloads")
_NATIVE = (("at", "native"), ("native",))


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """Join schemas with kernels and meta functions."""
    tables = crossing.once(Tables)
    if tables.operators:
        yield from _Joining(crossing, tables).rows()


class _Joining:
    def __init__(self, crossing: BridgeContext, tables: Tables) -> None:
        self._crossing, self._tables = crossing, tables
        self._operators = [one for one in tables.operators if one.stated.end.bridge == "operators"]
        self._kernels = crossing.once(Kernels)
        self._implements = _by_name(crossing.ends("structured", "implements"))
        self._checks = _by_name(crossing.ends("structured", "checks"))
        self._structured: dict[tuple[str, str], list[tuple[StatedEnd, LinkedName]]] = {}  # by table and name

    def rows(self) -> Iterator[Bridge]:
        for operator in self._operators:
            one = operator.stated
            row = one.to(operator.entry, Trust.EXACT, "entry of the table", more=one.end.more)
            yield row._replace(source=operator.entry)
        for one in self._crossing.ends("operators", "autogen"):
            entry = self._tables.entry(one)
            yield one.to(entry, Trust.EXACT, "made of the entry")._replace(source=entry)
        for one in self._crossing.ends("operators", "kernel"):
            yield from self._kernel(one)
        for operator in self._operators:
            yield from self._delegated(operator)
        for operator in self._operators:
            yield from self._checked(operator)

    def _kernel(self, one: StatedEnd) -> Iterator[Bridge]:
        operator = self._tables.named(one.end.name, one.file.path)
        if operator is None:
            return
        kernel = one.end.text
        found = []
        loops = "loop" in dict(one.end.more)  # the build generates the structured kernel from them
        if operator.is_true("structured") and not loops:
            found = self._near(one, self._implements.get(kernel, []))
        structured = bool(found) or loops
        if not found:
            written = "default" not in dict(one.end.more)
            found = self._beside(one, self._kernels.of(kernel, _NATIVE, operator.schema, anywhere=written))
        if loops:  # the kernel contains each loop with all its overloads
            by = "inner loop of a kernel that the build makes"
            found = [meant._replace(trust=Trust.EXACT, by=by) for meant in found]
        if structured:
            key = (one.file.path, operator.schema.local)
            self._structured.setdefault(key, []).extend((one, meant) for meant in found)
        said = (*one.end.more, ("kernel", kernel))
        for meant in found:
            yield self._row(one, operator, meant, said)
        if not found:
            yield self._row(one, operator, LinkedName(0, Trust.EXACT, "no definition of this name found"), said)

    def _row(
        self, one: StatedEnd, operator: TableOperator, meant: LinkedName, more: tuple[tuple[str, str], ...]
    ) -> Bridge:
        role = Role.CALL if meant.target else ""
        row = one.to(meant.target, meant.trust, meant.by, name=operator.name, role=role, more=more)
        return row._replace(source=operator.entry)

    def _near(self, one: StatedEnd, found: list[StatedEnd]) -> list[LinkedName]:
        """Return structured kernels; if there are several tables, those in the same tree as the end."""
        if self._tables.is_twin and len(found) > 1:
            best = max(shared_folder_count(other.file.path, one.file.path) for other in found)
            found = [other for other in found if shared_folder_count(other.file.path, one.file.path) == best]
        ids = list(dict.fromkeys(place for other in found for place in self._places(other)))
        if len(ids) == 1:
            return [LinkedName(ids[0], Trust.EXACT, "structured kernel of this name")]
        by = f"one of {len(ids)} structured kernels of this name"
        return [LinkedName(place, Trust.CANDIDATE, by) for place in ids]

    def _beside(self, one: StatedEnd, found: list[LinkedName]) -> list[LinkedName]:
        """Return kernels; if there are several tables, those in the same tree as the end."""
        if not self._tables.is_twin or len(found) < 2:
            return found
        near = [shared_folder_count(self._crossing.file_with(meant.target).path, one.file.path) for meant in found]
        best = [meant for meant, depth in zip(found, near, strict=True) if depth == max(near)]
        return [best[0]._replace(trust=Trust.EXACT, by="only definition near the table")] if len(best) == 1 else best

    def _places(self, one: StatedEnd) -> list[int]:
        """Return the functions of that name in the file; a macro may name several on one line."""
        return [row.id for row in self._crossing.named(one.end.text) if row.path == one.file.path]

    def _delegated(self, operator: TableOperator) -> Iterator[Bridge]:
        """Yield the kernels of the entry that an operator delegates to."""
        delegate = operator.more.get("structured_delegate", "")
        given = set[tuple[str, tuple[str, str], int]]()  # several loops may have one name
        for other, meant in self._structured.get((operator.stated.file.path, delegate), ()):
            more = (*other.end.more, ("kernel", other.end.text))
            by = f"structured_delegate {delegate}"
            row = operator.stated.to(meant.target, meant.trust, by, role=Role.CALL, more=more)
            if (operator.name, more[0], meant.target) not in given:
                given.add((operator.name, more[0], meant.target))
                yield row._replace(says="kernel", source=operator.entry)

    def _checked(self, operator: TableOperator) -> Iterator[Bridge]:
        """Yield the meta functions (checks, allocation) of a structured operator, named after its functional form."""
        out = operator.schema.local if operator.is_true("structured") else operator.more.get("structured_delegate", "")
        if not out:
            return
        for functional in self._functional.get((operator.stated.file.path, out), ()):
            for meant in self._near(operator.stated, self._checks.get(functional.schema.local.replace(".", "_"), [])):
                row = operator.stated.to(meant.target, meant.trust, "meta function of this name", role=Role.CALL)
                yield row._replace(says="meta", source=operator.entry)

    @cached_property
    def _functional(self) -> dict[tuple[str, str], list[TableOperator]]:
        """Operators that write to none of their arguments, by table and the name of the entry they delegate to."""
        found: dict[tuple[str, str], list[TableOperator]] = {}
        for one in self._operators:
            delegate = one.more.get("structured_delegate", "")
            if delegate and "!" not in one.stated.end.text:
                found.setdefault((one.stated.file.path, delegate), []).append(one)
        return found


def _by_name(stated: list[StatedEnd]) -> dict[str, list[StatedEnd]]:
    found: dict[str, list[StatedEnd]] = {}
    for one in stated:
        found.setdefault(one.end.name, []).append(one)
    return found
