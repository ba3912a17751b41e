"""The C family: `#include` and `#import`, and names."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Import, Target
from concordance.link.cfamily.includes import Includes
from concordance.link.cfamily.linker import CFamilyLinker
from concordance.link.paths.tree import Tree
from concordance.link.world import LinkWorld

LANGUAGES = C_FAMILY
LOADS_IMPORTS = True


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of headers."""
    find = tree.once(Includes).find

    def resolve(path: str, imported: Import) -> Target:
        return find(path, imported.module, imported.form)

    return resolve


def names(world: LinkWorld) -> CFamilyLinker:
    """Return the name resolver."""
    return CFamilyLinker(world)
