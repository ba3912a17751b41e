"""YAML workflows: actions and reusable workflows of the repository (`./…`), images, and third-party actions.

An action by its full name (`owner/repository/path@version`) is the repository's own if one of the project's main files
names that owner and repository, and the path exists in it.
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree

LANGUAGES = ("yaml",)
_PAGES = ("action.yml", "action.yaml")
_PROJECT_FILES = (
    "pyproject.toml", "setup.py", "setup.cfg", "package.json", "Cargo.toml", "go.mod", "README.md", "README.rst",
)  # fmt: skip


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of actions."""
    own: dict[str, bool] = {}

    def is_own(name: str) -> bool:
        if name not in own:
            own[name] = any(f"github.com/{name}" in tree.text(path) for path in _PROJECT_FILES)
        return own[name]

    def resolve(path: str, imported: Import) -> Target:
        words = imported.module
        if words.startswith("./"):  # relative to the repository's root, wherever the workflow is
            target = references.target_at(tree, words[2:].rstrip("/"), ("",), _PAGES, "from the root")
            inner = words.find("/.github/")  # the repository may be checked out into a folder
            if target is None and inner > 0:
                target = references.target_at(tree, words[inner + 1 :].rstrip("/"), ("",), _PAGES, "from the root")
            return target or Target(Origin.UNRESOLVED, by=f"{words} not found")
        if words.startswith("docker://"):
            return Target(Origin.THIRD_PARTY, package=words.removeprefix("docker://"), by="image")
        name, _, version = words.partition("@")
        owner, _, rest = name.partition("/")
        repository, _, inside = rest.partition("/")
        if inside and is_own(f"{owner}/{repository}"):
            target = references.target_at(tree, inside, ("",), _PAGES, f"own repository, at {version}")
            if target:
                return target
        return Target(Origin.THIRD_PARTY, package=f"{owner}/{repository}".rstrip("/"), by="another repository")

    return resolve
