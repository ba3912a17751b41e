"""Resolves `#include` to files.

In: a tree. Out: `Includes`. A compiler searches the including file's folder (for quotes) and then a list of roots.
That list is not known here, so roots are inferred: a file whose path ends in the text of the include suggests one. If
there are several such files, they are ranked by:

1. being below a root from the configuration, in the order given; else below a root that a build file around the
   including file names: the first root of the innermost such build file
2. nearness to the including file
3. being below a root that any build file names

Files that are equal in 1 to 3 are alternatives (headers for one system or another): all are returned, shortest path
first. A standard header belongs to the compiler, unless the repository is such a library itself.
"""

from __future__ import annotations

from functools import cached_property

from concordance.base.model import Category, Origin, Target
from concordance.link.cfamily.generated_headers import GeneratedHeaders
from concordance.link.cfamily.include_roots import IncludeRoots
from concordance.link.cfamily.system_headers import (
    C_HEADERS,
    CPP_HEADERS,
    is_kernel_header,
    known_library,
    library_name,
    standard_group,
)
from concordance.link.paths.tree import Tree, enclosing_folders, join_path, shared_prefix_length

_PUBLIC_FOLDERS = frozenset(("include", "includes", "inc", "Include", "headers", "public"))
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".inl", ".h.in")
_CONFIGURED_DEPTH = 1 << 20  # deeper than any build file, so that roots from the configuration come first
_MIN_LIBRARY_HEADERS = 15  # standard headers in one folder that make it a C library


class Includes:
    """Resolves includes; every answer is cached."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._generated = GeneratedHeaders(tree)
        self._paths_by_ending: dict[str, tuple[str, ...]] = {}
        self._system_targets: dict[str, Target | None] = {}
        self._targets: dict[tuple[str, str, str], Target] = {}
        self._scopes: dict[tuple[str, str], tuple[int, int]] = {}

    @cached_property
    def _roots(self) -> dict[str, dict[str, int]]:
        return IncludeRoots(self._tree).roots

    def find(self, path: str, words: str, form: str) -> Target:
        """Return the target of an include."""
        folder = path.rpartition("/")[0]
        if form == "local":
            beside = f"{folder}/{words}" if folder else words
            if beside in self._tree.paths:
                return Target(Origin.REPOSITORY, (beside,), by="beside the including file")
        elif words in self._system_targets and (known := self._system_targets[words]) is not None:
            return known
        key = (folder, words, form)
        target = self._targets.get(key)
        if target is None:
            target = self._targets[key] = self._find(folder, words, form)
        return target

    def _find(self, folder: str, words: str, form: str) -> Target:
        if not form:
            return Target(Origin.UNRESOLVED, by="named by a macro")
        words = words.replace("\\", "/")
        if words.startswith("/"):
            return Target(Origin.UNRESOLVED, by="outside the repository")
        if words.startswith(("./", "../")) or "/../" in words:
            return self._relative(folder, words)
        if form == "local" and (real := self._tree.file(f"{folder}/{words}".lstrip("/"))):
            return Target(Origin.REPOSITORY, (real,), by="beside the including file")
        ending = self._paths_ending_in(words)
        if form == "system" and len(ending) == 1 and "/" in words and not standard_group(words):
            # The same file for every including file.
            target = self._system_targets[words] = self._target(ending, words)
            return target
        group = standard_group(words)
        ours = [path for path in ending if self._is_plausible(folder, path, words, form, group)]
        if ours:
            return self._target(self._best_ranked(folder, ours, words), words)
        if group or is_kernel_header(words):
            return Target(Origin.STANDARD, package=group or "system", by="standard header")
        return self._outside_tree(folder, words, form)

    def _paths_ending_in(self, words: str) -> tuple[str, ...]:
        """Return the files whose paths end in the text of an include."""
        ending = self._paths_by_ending.get(words)
        if ending is None:
            paths = self._tree.by_name.get(words.rpartition("/")[2], ())
            listed = [path for path in paths if path == words or path.endswith(f"/{words}")]
            if not listed and self._tree.links:
                listed = [real for root in self._roots if (real := self._tree.file(f"{root}/{words}".lstrip("/")))][:1]
            ending = self._paths_by_ending[words] = tuple(listed)
        return ending

    def _target(self, paths: tuple[str, ...], words: str) -> Target:
        root = paths[0][: -len(words)].rstrip("/")
        how = f"include root {root or '.'}" if len(paths) == 1 else f"one of {len(paths)} include roots"
        return Target(Origin.REPOSITORY, paths, by=how)

    def _relative(self, folder: str, words: str) -> Target:
        for root in (folder, *self._roots):
            path = join_path(root, words)
            real = self._tree.file(path) if path is not None else ""
            if real:
                how = "beside the including file" if root == folder else f"include root {root or '.'}"
                return Target(Origin.REPOSITORY, (real,), by=how)
        rest = words.rpartition("../")[2]  # relative to a root that no build file names plainly
        ending = self._paths_ending_in(rest) if "/" in rest else ()
        if ending:
            return self._target(self._best_ranked(folder, list(ending), rest), rest)
        path = join_path(folder, words)
        generated = self._generated.find(folder, path, [""]) if path else None
        return generated or Target(Origin.UNRESOLVED, by=f"no {words} from {folder or '.'}")

    def _is_plausible(self, folder: str, path: str, words: str, form: str, group: str) -> bool:
        """True if a file whose path ends in the text may be the included one."""
        root = path[: -len(words)].rstrip("/")
        if words in C_HEADERS or words in CPP_HEADERS:
            return self._is_library(root) and f"{folder}/".startswith(root.rpartition("/")[0])
        if self._scope(root, folder)[0] >= 0:
            return True
        group = group or known_library(words)
        if "/" in words:
            return not group or root in self._roots
        if form == "local":
            if group:
                return False
            vendored = self._tree.files[path].category == Category.VENDORED
            return not vendored or root in self._roots or shared_prefix_length(folder, path) > 1
        around = f"{folder}/".startswith(f"{root}/")
        return not group and (root in self._roots or around or not _PUBLIC_FOLDERS.isdisjoint(root.split("/")))

    def _is_library(self, root: str) -> bool:
        at = f"{root}/" if root else ""
        return sum(f"{at}{name}" in self._tree.paths for name in C_HEADERS) >= _MIN_LIBRARY_HEADERS

    def _scope(self, root: str, folder: str) -> tuple[int, int]:
        """Return the depth of the innermost build file around a folder that names a root, and the root's position in
        it.

        Higher is better for both; -1 if there is no such file.
        """
        key = (root, folder)
        rank = self._scopes.get(key)
        if rank is None:
            configured = self._tree.roots.c
            rank = (_CONFIGURED_DEPTH, -configured.index(root)) if root in configured else (-1, 0)
            for build_folder, place in self._roots.get(root, {}).items():
                if not build_folder or folder == build_folder or folder.startswith(f"{build_folder}/"):
                    rank = max(rank, (build_folder.count("/") + 1 if build_folder else 0, -place))
            self._scopes[key] = rank
        return rank

    def _best_ranked(self, folder: str, paths: list[str], words: str) -> tuple[str, ...]:
        """Return the best-ranked files; several if they are equal."""
        if len(paths) == 1:
            return (paths[0],)
        ranks = {}
        for path in paths:
            root = path[: -len(words)].rstrip("/")
            near = shared_prefix_length(f"{folder}/", f"{root}/" if root else "")
            ranks[path] = (self._scope(root, folder), near, root in self._roots)
        top = max(ranks.values())
        return tuple(sorted((path for path in paths if ranks[path] == top), key=lambda path: (path.count("/"), path)))

    def _outside_tree(self, folder: str, words: str, form: str) -> Target:
        """Return the target of an include that is not in the tree: generated, third-party, or missing."""
        outer, slash, _ = words.rpartition("/")
        places = dict.fromkeys((*enclosing_folders(folder), *self._roots)) if slash and not known_library(words) else {}
        candidates = [place for place in places if self._has_headers(f"{place}/{outer}".lstrip("/"))]
        generated = self._generated.find(
            folder, words, [*candidates, folder] if form == "local" and not slash else candidates
        )
        if generated and (generated.paths or not known_library(words)):
            return generated
        named, first = library_name(words), words.partition("/")[0]
        for submodule in sorted(self._tree.submodules):
            if submodule.rpartition("/")[2].lower() in (first.lower(), named.lower()):
                return Target(Origin.THIRD_PARTY, package=named, by=f"submodule {submodule}")
        if candidates:
            return Target(Origin.UNRESOLVED, by=f"{outer} found, but not {words}")
        if form == "local" and not slash and not known_library(words):
            return Target(Origin.UNRESOLVED, by="not in the repository")
        return Target(Origin.THIRD_PARTY, package=named, by="not in the repository")

    def _has_headers(self, folder: str) -> bool:
        return any(path.endswith(_HEADERS) for path in self._tree.by_folder.get(folder, ()))
