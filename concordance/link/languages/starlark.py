"""Starlark: loaded files by their labels, relative to the nearest workspace.

A label that begins with `@` belongs to another repository, unless it has the workspace's own name or names a repository
that the workspace maps to a folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.tree import Tree, enclosing_folders, join_path
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("starlark",)
LOADS_IMPORTS = True
_WORKSPACE_FILES = ("WORKSPACE", "WORKSPACE.bazel", "WORKSPACE.bzlmod", "MODULE.bazel", "REPO.bazel", ".buckconfig")
_NAME = re.compile(r"\b(?:workspace|module)\s*\(\s*(?:[^()]*?,\s*)?name\s*=\s*\"([^\"]+)\"")
_LOCAL = re.compile(r"\blocal_(?:repository|path_override)\s*\(([^()]*)\)")
_KEY = re.compile(r"\b(name|module_name|path)\s*=\s*\"([^\"]+)\"")


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of `load` labels."""
    spaces = _Spaces(tree)

    def resolve(path: str, imported: Import) -> Target:
        label = imported.module
        outside, slashes, inside = label.partition("//")
        folder, colon, name = inside.rpartition(":") if slashes else (label, "", "")
        if not slashes:  # a file of the same package
            target = tree.file(join_path(path.rpartition("/")[0], label.lstrip(":")) or "")
            how = "label of this package"
        else:
            if not colon:  # the last part is also the file's name
                folder, name = inside, inside.rpartition("/")[2]
            top = spaces.top(path, outside.lstrip("@"))
            if top is None:
                return _outside(outside.lstrip("@"))
            target, how = tree.file("/".join(filter(None, (top, folder, name)))), f"label from {top or 'the root'}"
        if not target:
            return Target(Origin.UNRESOLVED, by=f"{label} not found")
        return Target(Origin.REPOSITORY, (target,), by=how)

    return resolve


def _outside(name: str) -> Target:
    if name in ("bazel_tools", "prelude"):
        return Target(Origin.STANDARD, package=name, by="comes with the tool")
    return Target(Origin.THIRD_PARTY, package=name, by="another repository")


class _Spaces:
    """The workspaces of a repository: the folders that labels are relative to."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._workspaces = {path.rpartition("/")[0] for name in _WORKSPACE_FILES for path in tree.by_name.get(name, ())}
        self._named: dict[str, str] = {}
        for folder in sorted(self._workspaces):
            for marker in _WORKSPACE_FILES:
                text = tree.text(f"{folder}/{marker}".lstrip("/"))
                for name in _NAME.findall(text):
                    self._named.setdefault(name, folder)
                for declaration in _LOCAL.findall(text):
                    keys = dict(_KEY.findall(declaration))
                    local_path = join_path(folder, keys.get("path", "")) if "path" in keys else None
                    name = keys.get("name") or keys.get("module_name")
                    if name and local_path is not None:
                        self._named.setdefault(name, local_path)

    def top(self, path: str, name: str) -> str | None:
        """Return the folder that a label is relative to, given the repository it names; None if that is not in the
        tree."""
        if name:
            return self._named.get(name)
        return next((folder for folder in enclosing_folders(path.rpartition("/")[0]) if folder in self._workspaces), "")


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES)
