"""Rust: resolve the paths in `use` and `mod` to files.

In: a tree. Out: a resolver of imports. A crate is a folder with a `Cargo.toml` that names a package (or, without Cargo,
one with a `lib.rs`). Its root is its library, its program, or any file of a test, an example or a binary. A module `x`
of a file is `x.rs` or `x/mod.rs` in the file's module folder, or the file that its `#[path]` gives. The rest of a path,
after the last module that has a file, is a name in that file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from concordance.base.kinds import INLINE_MODULE
from concordance.base.model import Category, Import, Origin, Target
from concordance.link.paths.tree import Tree, enclosing_folders, join_path, shared_prefix_length
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

STANDARD = frozenset(("std", "core", "alloc", "proc_macro", "test"))
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
# A file that is a crate of its own: a test, an example, a benchmark, a program or `build.rs`
_STANDALONE = re.compile(r"(?:(?:tests|examples|benches|src/bin)/(?:[^/]+\.rs|[^/]+/main\.rs)|build\.rs)$")
# A module with its file: `#[path = "file.rs"] mod name;`
_PATH = r'#\[path\s*=\s*"([^"]+)"\s*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+%s\s*;'
LANGUAGES = ("rust",)
_TARGET = re.compile(r"^((?:.*?/)?(?:src|tests|examples|benches)/).*$")  # the folder of a library, a program or tests


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of `use` and `mod`."""
    modules = tree.once(RustModules)
    known: dict[tuple[str, str, str, str], Target] = {}

    def resolve(path: str, imported: Import) -> Target:
        key = (path, imported.form, imported.module, imported.name)
        target = known.get(key)
        if target is None:
            parts = [part for part in imported.module.split("::") if part]
            if imported.name not in ("", "*", "self"):
                parts.append(imported.name)
            if imported.form == "mod":
                target = modules.declared_module(path, imported.module)
            else:
                inside = (
                    imported.form.removeprefix(INLINE_MODULE).split("::")
                    if imported.form.startswith(INLINE_MODULE)
                    else []
                )
                target = modules.find(path, parts, inside) if parts else Target(Origin.UNRESOLVED)
            known[key] = target
        return target

    return resolve


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    modules = world.tree.once(RustModules)
    return SimpleResolver(world, LANGUAGES, macros=_sees_macros, modules=modules.named, crate=modules.crate_folder)


def _sees_macros(path: str, other: str) -> bool:
    """True if a file may use the macros of another: both are in one crate's sources, or both among its tests."""
    return _TARGET.sub(r"\1", path) == _TARGET.sub(r"\1", other)


@dataclass
class CargoCrate:
    """The settings of a `Cargo.toml`."""

    folder: str
    name: str  # as written in paths
    library: str = ""  # its root file, like `program`
    program: str = ""
    roots: set[str] = field(default_factory=set)
    old: bool = False  # the edition in which paths start at the crate's root
    # by name as written: the package, and its folder
    requires: dict[str, tuple[str, str | None]] = field(default_factory=dict)


class RustModules:
    """Finds modules."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._roots: dict[str, str] = {}

    @cached_property
    def _crates(self) -> dict[str, CargoCrate]:
        """Every crate by its folder."""
        crates: dict[str, CargoCrate] = {}
        shared: dict[str, Any] = {}
        for path in sorted(self._tree.by_name.get("Cargo.toml", ()), key=lambda path: path.count("/")):
            try:
                manifest = tomllib.loads(self._tree.text(path))
            except (tomllib.TOMLDecodeError, RecursionError):
                continue
            folder = path.rpartition("/")[0]
            space = _table(_table(manifest, "workspace"), "dependencies")
            shared.update((name, (folder, value)) for name, value in space.items())
            name = _table(manifest, "package").get("name")
            if isinstance(name, str):
                crates[folder] = self._crate(folder, name, manifest, shared)
        if not crates:
            for path in self._tree.by_name.get("lib.rs", ()):
                folder = path.rpartition("/")[0]
                crates[folder] = CargoCrate(folder, folder.rpartition("/")[2], path, roots={path})
        return crates

    def _crate(self, folder: str, name: str, manifest: dict[str, Any], shared: dict[str, Any]) -> CargoCrate:
        library, file = _table(manifest, "lib"), self._tree.file
        own = library.get("name")
        crate = CargoCrate(folder, _plain_name(own if isinstance(own, str) else name))
        library_path = library.get("path")
        crate.library = file(join_path(folder, library_path if isinstance(library_path, str) else "src/lib.rs") or "")
        crate.program = file(join_path(folder, "src/main.rs") or "")
        crate.roots = {crate.library, crate.program}
        for kind in ("bin", "test", "example", "bench"):
            for entry in manifest.get(kind, ()) if isinstance(manifest.get(kind), list) else ():
                path = entry.get("path") if isinstance(entry, dict) else None
                crate.roots.add(file(join_path(folder, path) or "") if isinstance(path, str) else "")
        crate.roots.discard("")
        crate.old = _table(manifest, "package").get("edition", "2015") == "2015"
        targets = _table(manifest, "target").values()
        for table in [manifest, *(target for target in targets if isinstance(target, dict))]:
            for key in _TABLES:
                for written, value in _table(table, key).items():
                    crate.requires[_plain_name(written)] = _dependency(folder, written, value, shared)
        return crate

    @cached_property
    def _crates_by_name(self) -> dict[str, list[CargoCrate]]:
        crates: dict[str, list[CargoCrate]] = {}
        for crate in self._crates.values():
            if crate.library:
                crates.setdefault(crate.name, []).append(crate)
        return crates

    def crate(self, path: str) -> CargoCrate | None:
        """Return the crate that a file is in."""
        return next(
            (self._crates[folder] for folder in enclosing_folders(path.rpartition("/")[0]) if folder in self._crates),
            None,
        )

    def root(self, path: str) -> str:
        """Return the root file of the crate, test or program that a file is in."""
        if path not in self._roots:
            self._roots[path] = self._root(path)
        return self._roots[path]

    def _root(self, path: str) -> str:
        crate = self.crate(path)
        if crate is None:
            return ""
        inside = path.removeprefix(crate.folder).lstrip("/")
        if path in crate.roots or _STANDALONE.match(inside):
            return path
        for folder in enclosing_folders(path.rpartition("/")[0]):  # a program of several files
            main = f"{folder}/main.rs".lstrip("/")
            if main in self._tree.paths and main != crate.program:
                return main
            if folder == crate.folder:
                break
        first = inside.removeprefix("src/").partition("/")[0].removesuffix(".rs")
        if crate.library and crate.program:
            declared = re.compile(rf"\bmod\s+{re.escape(first)}\b")
            if not declared.search(self._tree.text(crate.library)) and declared.search(self._tree.text(crate.program)):
                return crate.program
        return crate.library or crate.program

    def child(self, path: str, name: str) -> str:
        """Return the file of a module that a file declares; modules inside inline modules are joined by `/`."""
        folder, _, last = path.rpartition("/")
        own = last == "mod.rs" or self.root(path) == path
        base = folder if own else f"{folder}/{last.removesuffix('.rs')}".lstrip("/")
        for ending in (f"{name}.rs", f"{name}/mod.rs"):
            module_file = self._tree.file(f"{base}/{ending}".lstrip("/"))
            if module_file and module_file != path:
                return module_file
        if "#[path" in self._tree.text(path):
            attribute = re.search(_PATH % re.escape(name.rpartition("/")[2]), self._tree.text(path))
            return self._tree.file(join_path(folder, attribute[1]) or "") if attribute else ""
        return ""

    def _parent(self, path: str) -> str:
        folder, _, last = path.rpartition("/")
        if last == "mod.rs":
            folder = folder.rpartition("/")[0]
        root = self.root(path)
        for name in ("mod.rs", "lib.rs", "main.rs"):
            module_file = self._tree.file(f"{folder}/{name}".lstrip("/"))
            if module_file and module_file != path and (name == "mod.rs" or module_file == root):
                return module_file
        return self._tree.file(f"{folder}.rs") or root

    def declared_module(self, path: str, name: str) -> Target:
        """Return the target of `mod name;`."""
        module = self.child(path, name.replace("::", "/"))
        return (
            Target(Origin.REPOSITORY, (module,), by="mod") if module else Target(Origin.UNRESOLVED, by=f"no {name}.rs")
        )

    def named(self, path: str, name: str) -> str:
        """Return the file of the module that a path in a file starts at: `crate`, `self`, `super`, or a crate."""
        if name == "crate":
            return self.root(path)
        if name in ("self", "super"):
            return self._parent(path) if name == "super" else path
        own = self.crate(path)
        if own is None or name in STANDARD or (name not in own.requires and name != own.name):
            return ""
        target = self._crate_or_name(path, name, [])
        return target.paths[0] if target.paths else ""

    def crate_folder(self, path: str) -> str:
        """Return the folder of the crate that a file is in."""
        crate = self.crate(path)
        return crate.folder if crate is not None else ""

    def find(self, path: str, parts: list[str], inside: Sequence[str] = ()) -> Target:
        """Return the target of a path, as seen from a file, or from a module that is written out inside it."""
        head, rest = parts[0], parts[1:]
        if head in ("crate", "$crate"):
            return self._walk(self.root(path) or path, rest, "crate")
        if head in ("self", "super"):
            depth = len(inside)
            while parts and parts[0] in ("self", "super"):
                if parts[0] == "super":
                    path, depth = (path, depth - 1) if depth else (self._parent(path), 0)
                parts = parts[1:]
            return self._walk(path, parts if not depth else [], head)
        child = self.child(path, head)
        if child:
            return self._walk(child, rest, "module of this file")
        if head in STANDARD:
            return Target(Origin.STANDARD, package=head, by="standard library")
        return self._crate_or_name(path, head, rest)

    def _crate_or_name(self, path: str, head: str, rest: list[str]) -> Target:
        own = self.crate(path)
        package, folder = own.requires.get(head, ("", None)) if own else ("", None)
        if folder is not None and folder in self._crates:
            return self._walk(self._crates[folder].library, rest, f"crate {head}")
        if own and head == own.name and own.library:
            return self._walk(own.library, rest, f"crate {head}")
        root = self.root(path)
        child = self.child(root, head) if own and own.old and root else ""
        if child:
            return self._walk(child, rest, "crate")
        carried = [
            crate for crate in self._crates_by_name.get(head, ()) if not package or not self._is_example(crate, path)
        ]
        if carried:
            nearest = min(carried, key=lambda one: (-shared_prefix_length(path, one.folder), one.folder))
            return self._walk(nearest.library, rest, f"crate {head}")
        if package and own:
            return Target(Origin.THIRD_PARTY, package=package, by=f"{own.folder}/Cargo.toml requires it".lstrip("/"))
        if own:
            return Target(Origin.REPOSITORY, (root if own.old and root else path,), by="a name of this file")
        return Target(Origin.THIRD_PARTY, package=head, by="not in the repository")

    def _is_example(self, crate: CargoCrate, path: str) -> bool:
        """True if a crate exists only for tests or examples, and the file is outside it."""
        kind = self._tree.files[crate.library].category
        return kind in (Category.TEST, Category.EXAMPLE) and not path.startswith(f"{crate.folder}/")

    def _walk(self, path: str, parts: list[str], by: str) -> Target:
        for part in parts if path else ():
            child = self.child(path, part)
            if not child:
                break
            path = child
        return Target(Origin.REPOSITORY, (path,), by=by) if path else Target(Origin.UNRESOLVED, by="no such crate")


def _plain_name(name: str) -> str:
    return name.replace("-", "_")


def _table(manifest: dict[str, Any], key: str) -> dict[str, Any]:
    value = manifest.get(key)
    return value if isinstance(value, dict) else {}


def _dependency(folder: str, written: str, value: object, shared: dict[str, Any]) -> tuple[str, str | None]:
    """Return a dependency's package, and its folder if it is in the repository."""
    if not isinstance(value, dict):
        return written, None
    package = value.get("package")
    if value.get("workspace") and written in shared:
        folder, value = shared[written]
        value = value if isinstance(value, dict) else {}
        package = package or value.get("package")
    path = value.get("path")
    return package if isinstance(package, str) else written, join_path(folder, path) if isinstance(path, str) else None
