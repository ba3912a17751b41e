"""Protocol Buffers: files are imported by their path from some root; the nearest file whose path ends so is taken."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree, enclosing_folders, shared_prefix_length
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("proto",)
LOADS_IMPORTS = True


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of imported files."""

    def resolve(path: str, imported: Import) -> Target:
        folder = path.rpartition("/")[0]
        paths = references.paths_ending_in(tree, imported.module)
        if paths:
            best = min(paths, key=lambda p: (-shared_prefix_length(folder, p.rpartition("/")[0]), p.count("/"), p))
            root = best.removesuffix(imported.module).strip("/")
            return Target(Origin.REPOSITORY, (best,), by=f"import root {root or '.'}")
        if imported.module.startswith("google/protobuf/"):
            return Target(Origin.STANDARD, package="protobuf", by="comes with the compiler")
        first = imported.module.partition("/")[0]
        if "/" in imported.module and not any(
            f"{ancestor}/{first}".lstrip("/") in tree.folders for ancestor in enclosing_folders(folder)
        ):
            return Target(Origin.THIRD_PARTY, package=first, by="not in the repository")
        return Target(Origin.UNRESOLVED, by="not in the repository")

    return resolve


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES, whole=True)
