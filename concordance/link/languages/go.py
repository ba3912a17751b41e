"""Go: a package is a folder, named by the module path of the `go.mod` above it.

A `replace` with a folder also defines a module; packages in a `vendor` folder are found there. A path whose first part
has no dot is the standard library's, unless a module of the repository has that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.ignored import GitIgnore
from concordance.link.paths.tree import Tree, enclosing_folders, join_path, shared_prefix_length
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("go",)
_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.M)
_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?\"?([\w~-]+\.[\w.~/-]+)\"?\s+v\d", re.M)
_REPLACEMENT = re.compile(r"^\s*(?:replace\s+)?\"?([^\s\"]+)\"?(?:\s+v\S+)?\s+=>\s+\"?(\.\.?/?[^\s\"]*)", re.M)


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of package imports."""
    find = cache(_Modules(tree).find)
    return lambda path, imported: find(path.rpartition("/")[0], imported.module)


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES, package=str)


class _Modules:
    """The modules of a repository; a name may occur several times (in an example, in a test)."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._git_ignore = GitIgnore(tree)
        self._modules: dict[str, list[str]] = {}
        self._required: dict[str, str] = {}  # other modules, and the file that requires them
        for path in tree.by_name.get("go.mod", ()):
            text, module_folder = tree.text(path), path.rpartition("/")[0]
            for name in _MODULE.findall(text):
                self._modules.setdefault(name, []).append(module_folder)
            for name, where in _REPLACEMENT.findall(text):
                folder = join_path(module_folder, where)
                if folder is not None and folder not in self._modules.get(name, ()):
                    self._modules.setdefault(name, []).append(folder)
            for name in _REQUIREMENT.findall(text):
                self._required.setdefault(name, path)

    def find(self, folder: str, words: str) -> Target:
        """Return the target of an import, as seen from a folder."""
        if words.startswith("."):
            files = self._files(join_path(folder, words) or "")
            return Target(Origin.REPOSITORY, files, by="relative path") if files else Target(Origin.UNRESOLVED)
        if words == "C":
            return Target(Origin.STANDARD, package="C", by="cgo")
        missing = None
        for name in _prefixes(words):
            inside = words[len(name) + 1 :]
            for root in sorted(
                self._modules.get(name, ()), key=lambda root: (-shared_prefix_length(f"{folder}/", f"{root}/"), root)
            ):
                at = "/".join(filter(None, (root, inside)))
                files = self._files(at)
                if files:
                    return Target(Origin.REPOSITORY, files, by=f"module {name}")
                missing = missing or self._generated(at, words)
                missing = missing or Target(Origin.UNRESOLVED, by=f"{name} found, but not {words}")
        for root in enclosing_folders(folder):
            files = self._files(f"{root}/vendor/{words}".lstrip("/"))
            if files:
                return Target(Origin.REPOSITORY, files, by="vendor folder")
        if missing:
            return missing
        required = next((name for name in _prefixes(words) if name in self._required), "")
        if required:
            return Target(Origin.THIRD_PARTY, package=required, by=f"{self._required[required]} requires it")
        if "." not in words.partition("/")[0]:
            return Target(Origin.STANDARD, package=words, by="standard library")
        return Target(Origin.THIRD_PARTY, package=words, by="not in the repository")

    def _generated(self, folder: str, words: str) -> Target | None:
        """Return a package that a build generates, or None."""
        protos = tuple(path for path in self._tree.by_folder.get(folder, ()) if path.endswith(".proto"))
        if protos:
            return Target(Origin.GENERATED, protos, by=f"generated from {protos[0]}")
        ignored = self._git_ignore.ignored_by(f"{folder}/made.go")
        return Target(Origin.GENERATED, package=words, by=f"{folder} is ignored by {ignored}") if ignored else None

    def _files(self, folder: str) -> tuple[str, ...]:
        """Return a package's files, without its tests, which cannot be imported."""
        inside = self._tree.by_folder.get(folder, ())
        return tuple(path for path in inside if path.endswith(".go") and not path.endswith("_test.go"))


def _prefixes(words: str) -> Iterator[str]:
    """Yield a path and its prefixes, longest first."""
    while words:
        yield words
        words = words.rpartition("/")[0]
