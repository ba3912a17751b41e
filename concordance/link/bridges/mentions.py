"""Files that another file mentions: by path, by name, or as a dotted name in a string.

In: words that look like such names. Out: a row to each file that a word names. A path is tried from the folder of the
file that contains it, then from the root, then by its end, because templates, test data and modules are found below
folders that only a program knows; a label names the build file of its package; a web address that ends with a whole
path, folders included, may lead to that file in a copy of the repository. If several files have the end, each is
a candidate; if many have it, the word names none in particular. A shader or a template may be named by a macro's
argument, without its extension, in code near it: elsewhere, the word is as likely the name of what the shader computes.
A CMake list may leave the extension out. A pattern (`tests/ui/*.rs`) names the files of one folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import MAX_CANDIDATES, Bridge, Trust
from concordance.extract.registry import language_of
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.languages import import_linkers
from concordance.link.paths.tree import join_path, shared_prefix_length

_PACKAGE_FILES = ("__init__.py", "__init__.pyi")
_BUILD_FILES = ("BUILD.bazel", "BUILD", "BUCK", "TARGETS")
_NAME_ONLY = "its name"  # without a folder: a file elsewhere may have the same
_HOSTED = re.compile(r"//[^/]+(?:/[^/]+){3,}/")  # where hosts serve files: host, owner, repository, branch
_ADDRESS = "the end of a web address"  # perhaps of another repository
_LISTS_OF_ALL = ".egg-info/SOURCES.txt"  # of a packaged repository
_PAGE, _PAGE_SOURCES = ".html", (".md", ".rst", ".adoc", ".xml", ".txt")  # a link to `guide.html`, made of `guide.md`
_SITE_SETTINGS = ("mkdocs.yml", "mkdocs.yaml")  # list the pages of a folder beside them
_LISTED = "listed"  # one of the arguments of a command, without an extension
_PATTERN, _MATCHED = "pattern", "a pattern of paths"
_MAX_MATCHES = 100  # files that a pattern matches; one with more says little about each
_CLASS_FILES = (".java", ".kt", ".scala", ".groovy")  # of a class, in the folder of its package
_LEAST_PARTS = 2  # of a dotted name: a single word is no reference


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join words with the files that they name."""
    ends = [end for end in context.ends("mentions") if not end.file.path.endswith(_LISTS_OF_ALL)]
    if not ends:
        return
    files = _FilesByEnd(context)
    for stated in ends:
        paths, by = files.named(stated)
        paths = _nearest(paths, stated.file.path)
        others = [path for path in paths if path != stated.file.path]
        most = _MAX_MATCHES if by == _MATCHED else MAX_CANDIDATES
        if not others or len(others) < len(paths) or len(paths) > most:
            continue  # its own name, or no file in particular
        is_listed = dict(stated.end.more)["how"] in (_LISTED, _PATTERN)  # several: `ring` of ring.cpp and ring.py
        is_guess = (len(paths) > 1 and not is_listed) or by in (_NAME_ONLY, _ADDRESS)
        trust = Trust.CANDIDATE if is_guess else Trust.EXACT if by in ("path", _MATCHED) else Trust.UNIQUE_NAME
        for path in paths:
            yield stated.to(context.files_by_path[path].id, trust, by)


class _FilesByEnd:
    """Finds files by the end of their path."""

    def __init__(self, context: BridgeContext) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] | None = None
        self._unlinked: dict[str, list[str]] = {}  # by stem: files in languages without imports
        self._paths = frozenset(row.path for row in context.files)
        linked = frozenset(import_linkers())
        for row in context.files:
            name = row.path.rpartition("/")[2]
            stem = name.rpartition(".")[0] or name
            self._by_name.setdefault(name, []).append(row.path)
            if name in _PACKAGE_FILES:
                stem = row.path.rpartition("/")[0].rpartition("/")[2]
            self._by_stem.setdefault(stem, []).append(row.path)
            if row.language and row.language not in linked and not language_of(row.language).is_keyed:
                self._unlinked.setdefault(stem, []).append(row.path)

    def named(self, stated: StatedEnd) -> tuple[list[str], str]:
        """Return the files that a word names, and how."""
        word, how = stated.end.text, dict(stated.end.more)["how"]
        if how == "migration":
            return self._ending(self._by_stem.get(stated.end.name, ()), word), "application and name of a migration"
        if how == "macro":
            near = [path for path in self._unlinked.get(word, ()) if _are_near(stated.file.path, path)]
            return near, "the name without its extension"
        if how == "view":
            return self._views(word, stated.file.path), "the name of a view"
        if how == "label":
            return [path for name in _BUILD_FILES if (path := f"{word}/{name}") in self._paths][:1], "path"
        if how == "dotted":
            return self._dotted(word), "dotted name"
        if how == "address":
            named = [path for path in self._by_name.get(word.rpartition("/")[2], ()) if word.endswith(f"/{path}")]
            return [path for path in named if "/" in path and _HOSTED.fullmatch(word[: -len(path)])], _ADDRESS
        folder = stated.file.path.rpartition("/")[0]
        if how == _PATTERN:
            return self._matching(word, stated.file.path), _MATCHED
        if how == _LISTED:
            written_path, stem = join_path(folder, word), word.rpartition("/")[2]
            return [
                path for path in self._by_stem.get(stem, ()) if _without_extension(path) == written_path
            ], "path without its extension"
        bases = [folder, ""] if "/" in word else [folder]
        if stated.file.path.endswith(_SITE_SETTINGS):
            bases.append(f"{folder}/docs".lstrip("/"))
        for base in bases:
            written_path = join_path(base, word.lstrip("/"))
            if written_path is not None and written_path in self._paths:
                return [written_path], "path"
        if word.endswith(_PAGE) and how == "path":
            page = join_path(folder, word.removesuffix(_PAGE))
            made = [f"{page}{ending}" for ending in _PAGE_SOURCES if f"{page}{ending}" in self._paths]
            if len(made) == 1:
                return made, "the page that is made of it"
        word = word.lstrip("./")
        if how == "stem":
            name = word.rpartition("/")[2]
            paths = self._ending(self._by_stem.get(name, ()), word) or self._ending(self._by_name.get(name, ()), word)
            near = [path for path in paths if _without_extension(path) == join_path(folder, word)]
            return near[:1] or paths, "path without its extension"
        first, _, rest = word.partition("/")
        if rest and first.isupper():
            word = rest  # the path follows a variable
        by = "the end of its path" if "/" in word else _NAME_ONLY
        return self._ending(self._by_name.get(word.rpartition("/")[2], ()), word), by

    def _views(self, word: str, user: str) -> list[str]:
        """Return the view that a program or another view names: in a folder of views, or beside the view."""
        beside = join_path(_folder_of(user), word)
        named = self._unlinked.get(word.rpartition("/")[2], ())
        adjacent = [path for path in named if _without_extension(path) == beside]
        inside = [path for path in named if f"/{_without_extension(path)}".endswith(f"/views/{word}")]
        return adjacent or _nearest(inside, user)

    def _matching(self, pattern: str, user: str) -> list[str]:
        """Return the files in a folder with some ending; of a manifest, those of its name in the folders of a folder.

        The folder is given from that of the user, or from one further up, as programs are run there.
        """
        inside, _, last = pattern.rpartition("/")
        bases = [user.rpartition("/")[0]]
        while bases[-1]:
            bases.append(bases[-1].rpartition("/")[0])
        for base in bases:
            there = join_path(base, inside)
            if there is None:
                continue
            if last == "*":
                name = user.rpartition("/")[2]
                paths = [path for path in self._by_name.get(name, ()) if _folder_of(_folder_of(path)) == there]
            else:
                paths = [path for path in self._in_folder(there) if path.endswith(last[1:])]
            if paths:
                return paths
        return []

    def _in_folder(self, folder: str) -> list[str]:
        if self._by_folder is None:
            self._by_folder = {}
            for path in sorted(self._paths):
                self._by_folder.setdefault(_folder_of(path), []).append(path)
        return self._by_folder.get(folder, [])

    def _dotted(self, word: str) -> list[str]:
        """Return the Python files of the longest part of a dotted name that is a module, or of a whole package; or the
        file of a class with the name of its package, as reflection loads it."""
        parts = word.split(".")
        if len(parts) > _LEAST_PARTS and parts[-1][:1].isupper():
            named = self._ending(self._by_stem.get(parts[-1], ()), "/".join(parts))
            classes = [path for path in named if path.endswith(_CLASS_FILES)]
            if classes:
                return classes
        while len(parts) >= _LEAST_PARTS:
            files = self._ending(self._by_stem.get(parts[-1], ()), "/".join(parts))
            modules = [path for path in files if path.endswith(".py")]
            if modules:
                is_whole = word.count(".") == len(parts) - 1
                return [path for path in modules if is_whole or not path.endswith(_PACKAGE_FILES)]
            parts.pop()
        return []

    @staticmethod
    def _ending(paths: list[str] | tuple[()], word: str) -> list[str]:
        """Return the paths that end with `word`, with or without the extension; a package file counts as its folder."""
        return [
            path
            for path in paths
            if f"/{path}".endswith(f"/{word}") or f"/{_without_extension(path)}".endswith(f"/{word}")
        ]


def _nearest(paths: list[str], user: str) -> list[str]:
    """Return the one of several files that shares more folders with its user than the others; all if none does."""
    if len(paths) < 2 or user in paths:
        return paths
    shared = [shared_prefix_length(_folder_of(user), path) for path in paths]
    best = max(shared)
    return [paths[shared.index(best)]] if best and shared.count(best) == 1 else paths


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _are_near(user: str, path: str) -> bool:
    """True if the folder of a file, or the one around it, contains the other."""
    return user.startswith(path.rpartition("/")[0].rpartition("/")[0])


def _without_extension(path: str) -> str:
    """Return the path without its extension, or the folder if it is a package file."""
    folder, _, name = path.rpartition("/")
    return folder if name in _PACKAGE_FILES else f"{folder}/{name.rpartition('.')[0] or name}".lstrip("/")
