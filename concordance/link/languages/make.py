"""Make: included files, from the folder of the makefile and from the root; what a rule makes is not there."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree

LANGUAGES = ("make",)
_MADE = (".d", ".dep", ".depend", ".deps", ".cmd", ".P")  # what the compiler says of headers


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Finds included files."""

    def resolve(path: str, one: Import) -> Target:
        found = references.target(tree, path, one.module)
        if not found.paths and one.module.rstrip(")}").endswith(_MADE):
            return Target(Origin.GENERATED, by="dependencies that the compiler writes")
        return found

    return resolve
