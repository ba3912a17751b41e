"""Shell: files that a script sources, by path; a script's names are seen by who sources it."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("shell",)


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Finds sourced files."""

    def resolve(path: str, one: Import) -> Target:
        if one.module.startswith("/"):
            return Target(Origin.UNRESOLVED, by="outside the repository")
        return references.target(tree, path, one.module)

    return resolve


def names(world: LinkWorld) -> SimpleResolver:
    """Links names."""
    return SimpleResolver(world, LANGUAGES, whole=True)
