"""What a repository names besides its symbols, such as operators and notes: one file for each kind, found by its name.

A question asks each of them. They are not part of the kinds of pages, whose modules would take longer to
load than the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Protocol

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
    """A kind of named things that are not symbols, each with a page of its own.

    A kind that symbols define also has

    - `definitions(index, name)`: return the bridges whose targets define the thing of a name, for `concord define`;
    - `definition_roles(index, name)`: return what symbols are to it (`DefinitionRole`), by id, to order definitions.
    """

    @property
    def TO(self) -> str:
        """The target of links to the pages, as that of the kind of page."""

    def titled(self, index: Index, question: str) -> Iterator[tuple[str, str, str, int]]:
        """Yield what a search may find: subject of the page, title, and the path and line that state it."""


PROTOCOL = EntityKind
