"""Java: a class is in the folder of its package, below some source root, so it is found by the end of its path.

Of several roots, the nearest is taken. A class that shares another's file is found by its definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from concordance.base.model import Import, Origin, Target
from concordance.link.paths.tree import Tree, shared_prefix_length
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

LANGUAGES = ("java",)
_STANDARD = (
    "java.", "jdk.", "sun.", "com.sun.", "netscape.javascript.", "org.ietf.jgss.", "org.w3c.dom.", "org.xml.sax.",
)  # fmt: skip
_EXTENSIONS = frozenset(  # packages of javax in the standard library; third-party packages also start with javax
    ("accessibility", "crypto", "imageio", "lang", "management", "naming", "net", "print", "rmi", "script", "security",
     "smartcardio", "sound", "sql", "swing", "tools", "xml")
)  # fmt: skip
_OTHER_LANGUAGES = (".kt", ".groovy", ".scala")  # languages whose classes Java can use
_TEMPLATES = tuple(f".java{ending}" for ending in (".in", ".template", ".tmpl", ".jte", ".ftl", ".vm", ".mustache"))
_TYPE_DEFINITION = re.compile(r"\b(?:class|interface|enum|record|object)\s+([A-Za-z_]\w*)")
# A source root of Maven, Gradle or Bazel, or of plain folders for sources and tests.
_SOURCE_ROOT = re.compile(r"^(|.*?/)(?:src/[^/]+/(?:java|kotlin|groovy|scala)|src|tests?|java|javatests)(?=/)")
_SOURCE_SET = re.compile(r"(?:^|/)src/(\w+)(?:Main|Test)/")
_JAVA_SEES = {"jvm": 0, "common": 1, "android": 2}
_ANDROID_GENERATED = frozenset(("R", "BuildConfig", "BR"))  # classes that Android's build generates


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of class and package imports."""
    find = cache(_Classes(tree).find)
    return lambda path, imported: find(path.rpartition("/")[0], imported.module, imported.name)


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES, package=_package_key)


def _package_key(folder: str) -> str:
    """Return what the folders of one package have in common: a module's roots, such as those of tests, are one."""
    return _SOURCE_ROOT.sub(r"\1", folder, count=1)


def _platform_rank(path: str) -> int:
    """Order the source sets of a Kotlin project for several platforms by whether Java sees them."""
    source_set = _SOURCE_SET.search(path)
    return _JAVA_SEES.get(source_set[1], len(_JAVA_SEES)) if source_set else 0


class _Classes:
    """Finds classes and packages by the ends of paths."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._package_folders: dict[str, list[str]] = {}
        self._classes_by_folder: dict[str, dict[str, str]] = {}

    def find(self, folder: str, module: str, name: str) -> Target:
        """Return the target of an import, as seen from a folder."""
        parts = module.split(".")
        if name == "*":
            files = self._package(folder, parts)
            if files:
                return Target(Origin.REPOSITORY, files, by="package")
        elif name:
            parts.append(name)
        for end in range(len(parts), 1, -1):  # the parts after a class are inside it
            path = self._class(folder, parts[:end], (".java", *_OTHER_LANGUAGES))
            if path:
                root = path.rpartition(".")[0].removesuffix("/".join(parts[:end])).strip("/")
                return Target(Origin.REPOSITORY, (path,), by=f"source root {root or '.'}")
        return self._second(folder, parts) or self._outside(folder, parts)

    def _class(self, folder: str, parts: list[str], endings: tuple[str, ...]) -> str:
        way = "/".join(parts)
        for ending in endings:
            paths = self._tree.by_name.get(parts[-1] + ending, ())
            candidates = [path for path in paths if path == way + ending or path.endswith(f"/{way}{ending}")]
            if candidates:
                nearest = max(shared_prefix_length(folder, path) for path in candidates)
                near = [path for path in candidates if shared_prefix_length(folder, path) == nearest]
                return min(near, key=lambda path: (_platform_rank(path), path))
        return ""

    def _folders(self, folder: str, parts: list[str]) -> list[str]:
        """Return the folders of a package that contain classes, nearest first."""
        way = "/".join(parts)
        folders = self._package_folders.get(way)
        if folders is None:
            named = self._tree.folders_by_name.get(parts[-1], ())
            fit = (candidate for candidate in named if candidate == way or candidate.endswith(f"/{way}"))
            folders = self._package_folders[way] = [
                candidate for candidate in fit if any(map(_is_code, self._tree.by_folder.get(candidate, ())))
            ]
        return (
            sorted(folders, key=lambda candidate: (-shared_prefix_length(folder, candidate), candidate))
            if len(folders) > 1
            else folders
        )

    def _package(self, folder: str, parts: list[str]) -> tuple[str, ...]:
        """Return the files of a package: of the nearest root, and of the other roots of its module; tests come last."""
        folders = self._folders(folder, parts)
        same = (sibling for sibling in folders if _package_key(sibling) == _package_key(folders[0]))
        ordered = sorted(same, key=lambda sibling: "/test" in f"/{sibling}")
        return tuple(path for sibling in ordered for path in self._tree.by_folder[sibling] if _is_code(path))

    def _second(self, folder: str, parts: list[str]) -> Target | None:
        """Return a class that is defined in another class's file."""
        for end in (len(parts) - 1, len(parts) - 2):
            for package_folder in self._folders(folder, parts[:end]) if end > 0 else ():
                class_path = self._classes(package_folder).get(parts[end])
                if class_path:
                    return Target(Origin.REPOSITORY, (class_path,), by=f"package {'.'.join(parts[:end])}")
        return None

    def _classes(self, folder: str) -> dict[str, str]:
        classes = self._classes_by_folder.get(folder)
        if classes is None:
            classes = self._classes_by_folder[folder] = {}
            for path in filter(_is_code, self._tree.by_folder.get(folder, ())):
                for name in _TYPE_DEFINITION.findall(self._tree.text(path)):
                    classes.setdefault(name, path)
        return classes

    def _outside(self, folder: str, parts: list[str]) -> Target:
        module = ".".join(parts)
        if module.startswith(_STANDARD) or (parts[0] == "javax" and len(parts) > 1 and parts[1] in _EXTENSIONS):
            return Target(Origin.STANDARD, package=".".join(parts[:2]), by="standard library")
        for end in range(len(parts), 1, -1):
            template = self._class(folder, parts[:end], _TEMPLATES)
            if template:
                return Target(Origin.GENERATED, (template,), by=f"generated from {template}")
        if not _ANDROID_GENERATED.isdisjoint(parts[-2:]) or "generated" in parts:
            return Target(Origin.GENERATED, package=module, by="named like a build output")
        for end in range(len(parts), 2, -1):
            if self._folders(folder, parts[:end]):
                return Target(Origin.UNRESOLVED, by=f"{'.'.join(parts[:end])} found, but not {module}")
        return Target(Origin.THIRD_PARTY, package=".".join(parts[:2]), by="not in the repository")


def _is_code(path: str) -> bool:
    return path.endswith((".java", *_OTHER_LANGUAGES))
