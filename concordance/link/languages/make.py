"""Make: included files, relative to the folder of the makefile or to the root; generated ones are not in the tree."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree

LANGUAGES = ("make",)
_GENERATED_EXTENSIONS = (".d", ".dep", ".depend", ".deps", ".cmd", ".P")  # header dependencies, written by the compiler


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of included files."""

    def resolve(path: str, imported: Import) -> Target:
        target = references.resolve_path(tree, path, imported.module)
        if not target.paths and imported.module.rstrip(")}").endswith(_GENERATED_EXTENSIONS):
            return Target(Origin.GENERATED, by="dependencies written by the compiler")
        return target

    return resolve
