"""Python modules that are not in the tree because a build makes them.

In: a tree, the projects in it, and where a module would lie. Out: what it is made from, or which
setting says that it is made: a template beside it, a protocol's file, a compiled extension that a build
file names, a version file that a tool writes, or git being told to ignore it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from concordance.base.model import Origin, Target
from concordance.link.paths.ignored import Ignored
from concordance.link.paths.tree import Tree
from concordance.link.python.project_settings import Project

_TEMPLATES = (".in", ".template", ".tmpl", ".j2", ".jinja", ".jinja2", ".mako", ".src", ".tpl")
_BASES = (".pyx", ".pyi", ".py")
_EXTENSION = re.compile(
    r"\bextension_module\s*\(\s*'([\w.]+)'|\b(?:pybind11_add_module|nanobind_add_module|python_add_module|"
    r"Python3?_add_library)\s*\(\s*([\w.]+)",
    re.I,
)


class PythonMade:
    """Asks for modules by their path without an ending."""

    def __init__(self, tree: Tree, projects: dict[str, Project]) -> None:
        self._tree = tree
        self._projects = projects
        self._ignored = Ignored(tree)
        self._known: dict[str, dict[str, str]] = {}

    @cached_property
    def _extensions(self) -> frozenset[str]:
        """Names of modules that are compiled, dotted or bare."""
        found = {name for project in self._projects.values() for name in project.extensions}
        for base in ("meson.build", "CMakeLists.txt"):
            for path in self._tree.by_name.get(base, ()):
                found.update(one or other for one, other in _EXTENSION.findall(self._tree.text(path)))
        return frozenset(found)

    @cached_property
    def _written(self) -> frozenset[str]:
        """Files that tools write when they build."""
        projects = self._projects.values()
        return frozenset(f"{project.folder}/{path}".lstrip("/") for project in projects for path in project.made)

    def module(self, at: str, dotted: str, in_package: bool) -> Target | None:
        """Whether a module is made; one in a package of the repository may be so for git's ignoring it alone."""
        for path in self.recipes(at):
            return Target(Origin.GENERATED, (path,), by=f"made from {path}")
        if f"{at}.py" in self._written:
            return Target(Origin.GENERATED, package=dotted, by="the build writes it")
        name = dotted.lstrip(".")
        if name in self._extensions or (in_package and name.rpartition(".")[2] in self._extensions):
            return Target(Origin.GENERATED, package=name, by="compiled extension")
        for path in (f"{at}.py", f"{at}/__init__.py", f"{at}.pyi") if in_package else ():
            ignored = self._ignored.by(path)
            if ignored:
                return Target(Origin.GENERATED, package=name, by=f"{ignored} names {path}")
        return None

    def recipes(self, at: str) -> Iterator[str]:
        """Files that a module is made from."""
        known = self.known(at.rpartition("/")[2])
        if known.get(at):
            yield known[at]

    def known(self, name: str) -> dict[str, str]:
        """The modules of a name that are made, by where they would lie: what from, "" where that is not in the tree."""
        found = self._known.get(name)
        if found is None:
            written = (path.removesuffix(".py") for path in self._written if path.endswith(f"{name}.py"))
            packages = ((at, path) for at, path in self._packages.items() if at.rpartition("/")[2] == name)
            found = self._known[name] = {**dict.fromkeys(written, ""), **dict(packages), **dict(self._named(name))}
        return found

    def _named(self, name: str) -> Iterator[tuple[str, str]]:
        """The modules of a name that are made from a file beside them."""
        for ending in (f"{base}{template}" for base in _BASES for template in _TEMPLATES):
            yield from ((path[: -len(ending)], path) for path in self._tree.by_name.get(name + ending, ()))
        for ending in ("_pb2", "_pb2_grpc"):
            stem = name.removesuffix(ending)
            if stem != name:
                protos = self._tree.by_name.get(f"{stem}.proto", ())
                yield from ((path.removesuffix(".proto") + ending, path) for path in protos)

    @cached_property
    def _packages(self) -> dict[str, str]:
        """The packages whose own file is made."""
        names = (f"__init__{base}{template}" for base in _BASES for template in _TEMPLATES)
        return {path.rpartition("/")[0]: path for name in names for path in self._tree.by_name.get(name, ())}
