"""Python: modules by their dotted names.

`from a import b` leads to the file of `a`, for `b` may be a name in it; whoever links names asks
`PythonModules` whether it is a module. Only where `a` is a folder without a file of its own, or a
guess far away, is `b` itself looked for.
"""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.tree import Tree
from concordance.link.python.linker import PythonLinker
from concordance.link.python.module_finder import FAR, ModuleFinder
from concordance.link.world import LinkWorld

LANGUAGES = ("python", "cython")


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Finds modules."""
    modules = tree.once(ModuleFinder)
    target_of = modules.target

    def resolve(path: str, one: Import) -> Target:
        module, name = one.module, one.name
        found = target_of(path, module)
        if found.origin != Origin.REPOSITORY:
            return found
        if "." not in module and path in found.paths and not path.endswith(("/__init__.py", "/__init__.pyi")):
            return modules.outside(module)  # no script imports itself: it hides what it is named after
        if found.paths and not found.by.startswith(FAR):
            return found
        inner = found
        if name not in ("", "*"):
            inner = target_of(path, module + name if module.endswith(".") else f"{module}.{name}")
        if inner is not found and inner.origin == Origin.REPOSITORY and (inner.paths or not found.paths):
            return inner
        # A folder that has the name of what is meant, and neither files nor this module in it, is not what is meant.
        return found if found.paths or "." in module else modules.outside(module)

    return resolve


def passed(tree: Tree) -> Callable[[str, Import], list[Target]]:
    """Finds the packages that an import of a module passes through, each of which is bound by it, too."""
    modules = tree.once(ModuleFinder)

    def resolve(path: str, one: Import) -> list[Target]:
        dots = one.module[: len(one.module) - len(one.module.lstrip("."))]
        parts = one.module[len(dots) :].split(".") if not one.name else []
        return [modules.target(path, dots + ".".join(parts[:end])) for end in range(1, len(parts))]

    return resolve


def names(world: LinkWorld) -> PythonLinker:
    """Links names."""
    return PythonLinker(world)
