"""Markdown: links and images with a relative path; a link to a folder leads to its README.

A page may be named by its published address: without an extension, or as the page that is rendered from it. A path that
starts with a slash is relative to the root, or else to a folder of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.sphinx import DIRECTIVES, resolve_directive
from concordance.link.paths.tree import Tree, enclosing_folders

LANGUAGES = ("markdown",)
_ENDINGS = ("", ".md", ".mdx", ".rst")
_PAGES = ("README.md", "readme.md", "Readme.md", "index.md", "index.mdx", "_index.md", "README.rst", "README")


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of links."""

    def resolve(path: str, imported: Import) -> Target:
        if imported.form in DIRECTIVES:
            return resolve_directive(tree, path, imported)
        words = imported.module
        resolved = references.resolve_link(tree, path, words, _ENDINGS, _PAGES)
        if resolved.origin == Origin.UNRESOLVED and words.startswith("/"):
            tops = (ancestor for ancestor in enclosing_folders(path.rpartition("/")[0]) if ancestor)
            tried = (references.resolve_link(tree, path, words, _ENDINGS, _PAGES, top) for top in tops)
            resolved = next((target for target in tried if target.paths), resolved)
        return resolved

    return resolve
