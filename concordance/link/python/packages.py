"""The Python packages of a tree, the folders that modules are imported from, and the files of a module.

In: a tree. Out: `PythonPackages`, which `ModuleFinder` searches. A root is a folder that is on Python's path, as far as
the tree tells: it contains packages without being one, or the settings of a project or of this program name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from concordance.link.paths.tree import Tree, enclosing_folders, shared_prefix_length
from concordance.link.python.project_settings import (
    Project,
    normalise_distribution,
    read_projects,
    required_distributions,
)

SOURCES = (".py", ".pyx")
STUBS = (".pyi",)
STUBS_AND_TEMPLATES = (*STUBS, ".pyi.in")
COMPILED = (".so", ".pyd")
_MAX_NAMESPACE_BYTES = 3_000  # bytes of a file that has little more than its licence
_PKGUTIL_NAMESPACE = re.compile(r"\bextend_path\b|\bdeclare_namespace\b")
Roots = dict[str, tuple[int, str]]  # folders in which modules are searched: their order, and a description of each


class PythonPackages:
    """Look-ups that do not depend on the importing file; each is computed on first use."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._project_roots: dict[str, Roots] = {}
        self._certain_roots: dict[str, Roots] = {}
        self._folders_with_module: dict[str, frozenset[str]] = {}
        self._folders_with_subfolder: dict[str, frozenset[str]] = {}

    @cached_property
    def projects(self) -> dict[str, Project]:
        """The Python projects of the repository, by folder."""
        return read_projects(self.tree)

    @cached_property
    def required_distributions(self) -> dict[str, tuple[str, str]]:
        """The distributions that the repository requires, without the ones it contains."""
        own = {normalise_distribution(project.name) for project in self.projects.values()}
        return {
            name: known for name, known in required_distributions(self.tree, self.projects).items() if name not in own
        }

    @cached_property
    def packages(self) -> frozenset[str]:
        """Folders with an `__init__.py`, or a stub of it."""
        by_name = self.tree.by_name
        inits = [*by_name.get("__init__.py", ()), *by_name.get("__init__.pyi", ()), *by_name.get("__init__.pyx", ())]
        return frozenset(path.rpartition("/")[0] for path in inits)

    @cached_property
    def _roots_with_package(self) -> dict[str, list[str]]:
        """The roots that contain a package of a name."""
        roots: dict[str, list[str]] = {}
        for package in sorted(self.packages - {""}):
            root, _, name = package.rpartition("/")
            if root not in self.packages or not root:
                roots.setdefault(name.removesuffix("-stubs"), []).append(root)
        return roots

    @cached_property
    def roots(self) -> frozenset[str]:
        """Every folder that modules are imported from, except those of single scripts."""
        named = {root for project in self.projects.values() for root in project.roots} | set(self.tree.roots.python)
        sources = {f"{folder}/src".lstrip("/") for folder in self.projects} & self.with_python
        tops = {root for roots in self._roots_with_package.values() for root in roots}
        return frozenset(tops | named | sources | self.projects.keys() | {""})

    @cached_property
    def package_dirs(self) -> dict[str, str]:
        """Packages that are in a folder of another name."""
        return {
            package: folder for project in self.projects.values() for package, folder in project.package_dirs.items()
        }

    @cached_property
    def _compiled(self) -> dict[str, dict[str, str]]:
        """Compiled modules in the tree, by name and folder."""
        compiled: dict[str, dict[str, str]] = {}
        for name, paths in self.tree.by_name.items():
            if name.endswith(COMPILED):
                for path in paths:
                    compiled.setdefault(name.partition(".")[0], {}).setdefault(path.rpartition("/")[0], path)
        return compiled

    @cached_property
    def _symlinked_names(self) -> dict[str, list[str]]:
        """The folders that contain a symbolic link of a name, without its extension."""
        names: dict[str, list[str]] = {}
        for path in self.tree.links:
            folder, _, base = path.rpartition("/")
            names.setdefault(base.removesuffix(".py"), []).append(folder)
        return names

    @cached_property
    def _symlinked_folders(self) -> dict[str, str]:
        """Symbolic links to folders."""
        return {path: real for path in self.tree.links if (real := self.tree.folder(path)) in self.with_python and real}

    @cached_property
    def with_python(self) -> frozenset[str]:
        """Folders with a Python file somewhere below."""
        folders: set[str] = set()
        for name, paths in self.tree.by_name.items():
            if name.endswith((*SOURCES, *STUBS)):
                for path in paths:
                    for folder in enclosing_folders(path.rpartition("/")[0]):
                        if folder in folders:
                            break
                        folders.add(folder)
        return frozenset(folders)

    def root_of(self, folder: str) -> str:
        """Return the folder in which a package's full name starts, or the nearest root if it is not a package."""
        packages, given = self.packages, self.tree.roots.python
        for around in enclosing_folders(folder):
            if around in packages:
                return next(
                    (outer for outer in enclosing_folders(around) if outer not in packages or outer in given), ""
                )
        return next((around for around in enclosing_folders(folder) if around in self.roots), "")

    def certain_roots(self, folder: str) -> Roots:
        """Return the roots that are certain for the files of a folder, each with a description."""
        ranked = self._certain_roots.get(folder)
        if ranked is None:
            roots: dict[str, str] = {}
            if folder not in self.packages:
                roots[folder] = "beside the importing file"
            around = folder
            while around:
                up = around.rpartition("/")[0]
                if around in self.packages and (up not in self.packages or up in self.tree.roots.python):
                    roots.setdefault(up, "the package's own root")
                around = around.rpartition("/")[0]
            for around in enclosing_folders(folder):
                path = f"{around}/conftest.py" if around else "conftest.py"
                if path in self.tree.paths and around not in self.packages:
                    roots.setdefault(around, "folder of conftest.py")
            ranked = self._certain_roots[folder] = _ranked(roots)
        return ranked

    def project_roots(self, folder: str) -> Roots:
        """Return the roots that the projects around a folder name, and the projects' own folders."""
        while folder and folder not in self.projects:
            folder = folder.rpartition("/")[0]
        ranked = self._project_roots.get(folder)
        if ranked is None:
            roots = {root: f"source root {root or '.'}" for root in self.tree.roots.python}
            for around in enclosing_folders(folder):
                project = self.projects.get(around)
                for root in project.roots if project else ():
                    roots.setdefault(root, f"source root {root or '.'}")
                source = f"{around}/src" if around else "src"
                if (project or not around) and source in self.with_python and source not in self.packages:
                    roots.setdefault(source, f"source root {source}")
                if project or not around:
                    roots.setdefault(around, f"source root {around or '.'}")
            ranked = self._project_roots[folder] = _ranked(roots)
        return ranked

    def other_roots(self, folder: str, head: str) -> list[str]:
        """Return all other roots that have a module of a name, nearest first."""
        named = {root for root in self.folders_with_module(head) if root in self.roots and root not in self.packages}
        named.update(self._roots_with_package.get(head, ()))
        return sorted(named, key=lambda root: (-shared_prefix_length(f"{folder}/", f"{root}/"), root.count("/"), root))

    def with_symlink_paths(self, folders: Iterable[str]) -> dict[str, str]:
        """Return the given folders by all their paths, including those through symbolic links."""
        paths = {folder: folder for folder in folders}
        for link, to in self._symlinked_folders.items():
            paths.update(
                (link + folder[len(to) :], folder) for folder in folders if folder == to or folder.startswith(f"{to}/")
            )
        return paths

    def is_pkgutil_namespace(self, path: str) -> bool:
        """True if a package's file only allows other distributions to add modules to the package."""
        file = self.tree.files.get(path)
        if file is None or not path.endswith("__init__.py"):
            return False
        text = self.tree.text(path)  # read even if it is long, to record that imports depend on it
        return file.size <= _MAX_NAMESPACE_BYTES and bool(_PKGUTIL_NAMESPACE.search(text))

    def folders_with_module(self, name: str) -> frozenset[str]:
        """Return the folders that directly contain a module of a name."""
        with_module = self._folders_with_module.get(name)
        if with_module is None:
            by_name, folders = self.tree.by_name, self.tree.folders_by_name
            files = [path for ending in (*SOURCES, *STUBS) for path in by_name.get(name + ending, ())]
            named = (*folders.get(name, ()), *folders.get(f"{name}-stubs", ()))
            files += [folder for folder in named if folder in self.packages]
            found_in = {path.rpartition("/")[0] for path in files}
            found_in.update(self._compiled.get(name, ()), self._symlinked_names.get(name, ()))
            with_module = self._folders_with_module[name] = frozenset(found_in)
        return with_module

    def folders_with_subfolder(self, name: str) -> frozenset[str]:
        """Return the folders that directly contain a folder of a name with Python in it."""
        with_subfolder = self._folders_with_subfolder.get(name)
        if with_subfolder is None:
            named = self.tree.folders_by_name.get(name, ())
            found_in = {folder.rpartition("/")[0] for folder in named if folder in self.with_python}
            found_in.update(self._symlinked_names.get(name, ()))
            with_subfolder = self._folders_with_subfolder[name] = frozenset(found_in)
        return with_subfolder

    def files(self, folder: str, name: str) -> tuple[str, ...]:
        """Return the files of a module directly in a folder: a package before a module, Python before its stub."""
        paths, at = self.tree.paths, f"{folder}/{name}" if folder else name
        source = next((path for path in (f"{at}/__init__.py", f"{at}.py") if path in paths), "")
        stubs = [path for path in (f"{at}/__init__.pyi", f"{at}.pyi", f"{at}-stubs/__init__.pyi") if path in paths]
        # For a compiled module, the stub says more than a source in another language.
        other = [path for path in (f"{at}.pyx", f"{at}/__init__.pyx") if not source and path in paths]
        paths_of_module = [source, *stubs] if source else [*stubs, *other]
        compiled = self._compiled.get(name) if not paths_of_module else None
        if compiled and folder in compiled:
            paths_of_module = [compiled[folder]]
        if not paths_of_module and name in self._symlinked_names:
            paths_of_module = [real for path in (f"{at}.py", f"{at}/__init__.py") if (real := self.tree.file(path))]
        return tuple(paths_of_module)


def _ranked(roots: dict[str, str]) -> Roots:
    return {root: (place, how) for place, (root, how) in enumerate(roots.items())}
