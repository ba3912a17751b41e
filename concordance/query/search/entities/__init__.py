"""What a repository names besides its symbols, such as operators: one file for each kind, found by its name.

A question about a name asks each of them. They are not part of the kinds of pages, whose modules would take longer to
load than the answer.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from concordance.base.model import Bridge
from concordance.query.index.repository import Index

ENTITIES = __name__


class DefinitionRole(IntEnum):
    """What a symbol is to something that is not a symbol itself, such as an operator; the order is that of answers."""

    PUBLIC = 0  # users import it
    DECLARES = 1
    IMPLEMENTS = 2
    OTHER = 3  # it only has the same name
    VARIANT = 4  # another form of it: a reference, a decomposition, an export


class EntityKind(Protocol):
    """A kind of named things that are not symbols."""

    def definitions(self, index: Index, name: str) -> list[Bridge]:
        """Return the bridges whose targets define the thing of a name, for `concord define`."""

    def definition_roles(self, index: Index, name: str) -> dict[int, DefinitionRole]:
        """Return what symbols are to the thing of a name, by id, to order definitions."""


PROTOCOL = EntityKind
