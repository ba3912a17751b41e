"""Operators: the schemas that define one, and what the symbols of its name are to it.

In: a name as written in Python, C++ or a table. Out: the rows of the operator that it refers to, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.names.display_names import public_name
from concordance.query.search.entities import DefinitionRole
from concordance_torch.query.operators import (
    KERNEL,
    OPERATOR,
    PART_TITLES,
    called_in_python,
    entries,
    operator_meant,
)

TO = OPERATOR


def titled(index: Index, question: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield the operator that a name refers to."""
    info = operator_meant(index, question)
    if info is not None and info.overloads:
        row = info.overloads[0].row
        yield info.name, info.name, index.path_of(row.source), bridges_of(index).line(row)


def definitions(index: Index, name: str) -> list[Bridge]:
    """The schemas of the operator that a name refers to."""
    return entries(index, name)


def definition_roles(index: Index, name: str) -> dict[int, DefinitionRole]:
    """The role of each symbol in the operator that a name refers to."""
    info = operator_meant(index, name)
    if info is None:
        return {}
    variants = info.rows_saying(*PART_TITLES)
    roles = {end: DefinitionRole.VARIANT for row in variants for end in (row.source, row.target)}
    roles |= {row.target: DefinitionRole.IMPLEMENTS for row in info.rows_outside_tests(KERNEL)}
    roles |= {overload.row.target: DefinitionRole.DECLARES for overload in info.overloads}
    for way in (*called_in_python(info), f"torch.nn.functional.{info.name.rpartition('::')[2]}"):
        places = (place for place in index.facts.symbols_named(way.rpartition(".")[2]) if not place.parent_key)
        roles |= {
            symbol.id: DefinitionRole.PUBLIC for symbol in places if public_name(index, symbol.path, symbol.key) == way
        }
    return roles
