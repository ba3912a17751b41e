"""Rust: modules by `mod`, paths from the crate's root, crates of the same workspace."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.tree import Tree
from concordance.link.rust_modules import RustModules
from concordance.link.simple_resolver import PlainNames
from concordance.link.world import World

LANGUAGES = ("rust",)


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Finds modules."""
    modules = tree.once(RustModules)
    known: dict[tuple[str, str, str, str], Target] = {}

    def resolve(path: str, one: Import) -> Target:
        key = (path, one.form, one.module, one.name)
        found = known.get(key)
        if found is None:
            parts = [part for part in one.module.split("::") if part]
            if one.name not in ("", "*", "self"):
                parts.append(one.name)
            if one.form == "mod":
                found = modules.declared(path, one.module)
            else:
                found = modules.find(path, parts) if parts else Target(Origin.UNRESOLVED)
            known[key] = found
        return found

    return resolve


def names(world: World) -> PlainNames:
    """Links names."""
    return PlainNames(world, LANGUAGES)
