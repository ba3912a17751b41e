"""The beginnings of the names by which modules are imported from a repository, and those of an import.

In: the files of a repository, or an import. Out: heads, as the catalogue stores them. A head only says which
repositories to ask; what an import refers to is decided by the linker of the repository that has it. So a head may be
too general (`google`, which many distributions share), but none may be missing. One function for each family of
languages (a plug-in of `link.languages`) lists the names of modules that a repository has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from concordance.base.model import Category
from concordance.facts.catalogue import ModuleHead, ProvidedPackage
from concordance.link.languages import import_linkers
from concordance.link.paths.tree import Tree
from concordance.link.python.module_finder import ModuleFinder

_INCLUDE_FOLDERS = frozenset(("include", "inc", "includes", "single_include"))
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl")
_NOT_FOR_OTHERS = frozenset((Category.TEST, Category.EXAMPLE, Category.BENCHMARK, Category.VENDORED))
_SCRIPTS = frozenset(("setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "__init__", "__main__"))
_NOT_PACKAGES = frozenset(
    ("tests", "test", "testing", "docs", "doc", "examples", "example", "benchmarks", "scripts", "tools")
)


def family_of(language: str) -> str:
    """Return the family of a language whose imports can lead to another repository; "" if it has none."""
    linker = import_linkers().get(language)
    name = linker.__name__.rpartition(".")[2] if linker is not None else ""
    return name if name in FAMILIES else ""


def head_of(family: str, module: str) -> str:
    """Return the head of a module's name. Where a package has several parts, as in Go, a few of them must suffice."""
    if family == "python":
        return module.partition(".")[0]
    if family == "ecmascript":
        return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
    if family == "rust":
        return module.partition("::")[0]
    if family == "java":
        return ".".join(module.split(".")[:2])
    if family == "go":
        return "/".join(module.split("/")[:3])
    return module.partition("/")[0]


def module_heads(tree: Tree, packages: Iterable[ProvidedPackage]) -> set[ModuleHead]:
    """Return the heads of a repository."""
    names = [(family, name) for family, list_names in _NAMES.items() for name in list_names(tree)]
    names += (("go", package.name) for package in packages if package.ecosystem == "go")
    return {ModuleHead(family, head_of(family, name)) for family, name in names}


def _python(tree: Tree) -> Iterator[str]:
    finder = tree.once(ModuleFinder)
    roots = {root for project in finder.packages.projects.values() for root in project.roots}
    roots |= {f"{folder}/src".lstrip("/") for folder in finder.packages.projects} | finder.packages.projects.keys()
    for path, file in tree.files.items():
        if file.language not in ("python", "cython") or file.skip or file.category in _NOT_FOR_OTHERS:
            continue
        folder, _, name = path.rpartition("/")
        head = finder.name_of(path).partition(".")[0]
        is_module = folder not in finder.packages.packages and "." not in finder.name_of(path)
        if is_module and (folder not in roots or name.partition(".")[0] in _SCRIPTS):
            continue  # a script
        if head.isidentifier() and head not in _NOT_PACKAGES:
            yield head


def _ecmascript(tree: Tree) -> Iterator[str]:
    for path in tree.by_name.get("package.json", ()):
        if tree.files[path].category in _NOT_FOR_OTHERS or "node_modules" in path.split("/"):
            continue
        try:
            name = json.loads(tree.text(path)).get("name")
        except (ValueError, AttributeError, RecursionError):
            continue
        if isinstance(name, str) and name:
            yield name


def _c(tree: Tree) -> Iterator[str]:
    for path, file in tree.files.items():
        if path.endswith(_HEADERS) and not file.skip and file.category not in _NOT_FOR_OTHERS:
            parts = path.split("/")
            below = [place + 1 for place, part in enumerate(parts[:-1]) if part in _INCLUDE_FOLDERS]
            yield from (parts[max(below, default=0)], parts[0])


def _rust(tree: Tree) -> Iterator[str]:
    for path in tree.by_name.get("lib.rs", ()):
        if tree.files[path].category not in _NOT_FOR_OTHERS:
            folder = path.rpartition("/")[0]
            yield from _crate_names(tree, folder.removesuffix("src").rstrip("/"))


def _crate_names(tree: Tree, folder: str) -> Iterator[str]:
    text = tree.text(f"{folder}/Cargo.toml".lstrip("/"))
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "name":
            yield value.strip().strip("\"'").replace("-", "_")


def _java(tree: Tree) -> Iterator[str]:
    for path, file in tree.files.items():
        if path.endswith((".java", ".kt")) and file.category not in _NOT_FOR_OTHERS:
            folder = f"/{path.rpartition('/')[0]}"
            for root in ("/java/", "/kotlin/", "/src/"):
                if root in folder:
                    yield folder.rpartition(root)[2].replace("/", ".")
                    break


def _proto(tree: Tree) -> Iterator[str]:
    for path in tree.paths:
        if path.endswith(".proto"):
            yield from path.split("/")  # any folder above may be the root


_NAMES: dict[str, Callable[[Tree], Iterator[str]]] = {
    "python": _python, "ecmascript": _ecmascript, "c": _c, "rust": _rust, "java": _java, "proto": _proto,
}  # fmt: skip
FAMILIES = (*_NAMES, "go")
