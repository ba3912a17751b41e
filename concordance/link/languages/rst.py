"""reST: documents by path, with or without an extension, and Python objects that `autodoc` names."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Target
from concordance.link.paths.sphinx import resolve_directive
from concordance.link.paths.tree import Tree

LANGUAGES = ("rst",)


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of documents and modules."""

    def resolve(path: str, imported: Import) -> Target:
        return resolve_directive(tree, path, imported)

    return resolve
