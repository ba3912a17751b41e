"""How each language resolves its imports; one plug-in for each language family."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from concordance.base.model import Import, Target
from concordance.link.paths.tree import Tree


class ImportLinker(Protocol):
    """Resolves the imports of some languages. One that resolves names, too, has `names(world)`, which gives a
    `link.world.LanguageLinker`."""

    @property
    def LANGUAGES(self) -> Collection[str]:
        """The languages whose imports it resolves."""

    def imports(self, tree: Tree) -> Callable[[str, Import], Target | list[Target]]:
        """Return a function from the importing file's path and one `Import` to what it leads to."""


PROTOCOL = ImportLinker
