"""Python: modules by their dotted names.

`from a import b` resolves to the file of `a`, because `b` may be a name in it; the name resolver asks `ModuleFinder`
whether `b` is a module. Only if `a` is a folder without a file of its own, or a distant guess, is `b` itself searched.
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.tree import Tree
from concordance.link.python.linker import PythonLinker
from concordance.link.python.module_finder import FAR_PACKAGE, NOT_FOUND, ModuleFinder
from concordance.link.world import LinkWorld

LANGUAGES = ("python", "cython")
LOADS_IMPORTS = True
TRACKS_VALUES = True


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of module imports."""
    modules = tree.once(ModuleFinder)
    target_of = modules.import_target

    def resolve(path: str, imported: Import) -> Target:
        module, name = imported.module, imported.name
        target = target_of(path, module)
        is_beside = imported.condition.startswith("except") or module == "conftest"
        if target.origin == Origin.THIRD_PARTY and target.by == NOT_FOUND and is_beside:
            # the file is run as a script where its import as part of a package fails; pytest finds conftest.py
            beside = modules.repository_target(path, f".{module}")
            return beside._replace(by="beside the script") if beside is not None and beside.paths else target
        if target.origin != Origin.REPOSITORY:
            return target
        if "." not in module and path in target.paths and not path.endswith(("/__init__.py", "/__init__.pyi")):
            return modules.external_target(module)  # a script does not import itself: it shadows the module of its name
        if target.paths and not target.by.startswith(FAR_PACKAGE):
            return target
        inner = target
        if name not in ("", "*"):
            inner = target_of(path, module + name if module.endswith(".") else f"{module}.{name}")
        if inner is not target and inner.origin == Origin.REPOSITORY and (inner.paths or not target.paths):
            return inner
        # A folder that only has the module's name, but no files and no such submodule, is not the module.
        return target if target.paths or "." in module else modules.external_target(module)

    return resolve


def enclosing_package_imports(tree: Tree) -> Callable[[str, Import], list[Target]]:
    """Return a function that lists the packages an import passes through, each of which it also binds."""
    modules = tree.once(ModuleFinder)

    def resolve(path: str, imported: Import) -> list[Target]:
        dots = imported.module[: len(imported.module) - len(imported.module.lstrip("."))]
        parts = imported.module[len(dots) :].split(".") if not imported.name else []
        return [modules.import_target(path, dots + ".".join(parts[:end])) for end in range(1, len(parts))]

    return resolve


def names(world: LinkWorld) -> PythonLinker:
    """Return the name resolver."""
    return PythonLinker(world)
