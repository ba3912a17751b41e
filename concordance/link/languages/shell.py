"""Shell: resolves the files that a script sources, or loads in a bats test; it then sees the names they define."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("shell",)
LOADS_IMPORTS = True


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of sourced files."""

    def resolve(path: str, imported: Import) -> Target:
        if imported.module.startswith("/"):
            return Target(Origin.UNRESOLVED, by="outside the repository")
        endings = ("", ".bash") if path.endswith(".bats") else ("",)
        return references.resolve_path(tree, path, imported.module, endings)

    return resolve


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES, whole=True)
