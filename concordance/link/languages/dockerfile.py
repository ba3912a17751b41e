"""Dockerfiles: stages of the same file, external images, and files that are copied in.

Copied files are relative to the build context: the file's own folder, one above it, or the repository's root.
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree, enclosing_folders, join_path

LANGUAGES = ("dockerfile",)


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of stages, images and files."""

    def resolve(path: str, imported: Import) -> Target:
        if imported.form == "stage":
            return Target(Origin.REPOSITORY, (path,), by="stage of this file")
        if "$" in imported.module:
            return Target(Origin.UNRESOLVED, by="the path contains a variable")
        if imported.form == "copy":
            return _copied_file(tree, path, imported.module)
        return Target(Origin.THIRD_PARTY, package=imported.module.partition("@")[0], by="image")

    return resolve


def _copied_file(tree: Tree, path: str, written: str) -> Target:
    for folder in enclosing_folders(path.rpartition("/")[0]):
        target = references.target_at(tree, join_path(folder, written), ("",), (), f"from {folder or 'the root'}")
        if target:
            return target
    return Target(Origin.UNRESOLVED, by=f"{written} not found")
