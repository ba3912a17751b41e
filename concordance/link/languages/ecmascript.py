"""JavaScript and TypeScript: relative files, aliases, packages of the repository, Node's modules, dependencies."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Target
from concordance.link.ecma_modules import EcmaModules
from concordance.link.paths.tree import Tree
from concordance.link.simple_resolver import PlainNames
from concordance.link.world import World

LANGUAGES = ("javascript", "typescript")


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Finds modules."""
    find = tree.once(EcmaModules).find

    def resolve(path: str, one: Import) -> Target:
        return find(path.rpartition("/")[0], one.module)

    return resolve


def names(world: World) -> PlainNames:
    """Links names."""
    return PlainNames(world, LANGUAGES)
