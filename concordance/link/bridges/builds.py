"""Build targets and their source files.

In: words that name sources, as written in build files. Out: a row from the target to each file of the repository that a
word refers to, except the files that another word of the same target excludes. A word that names no file is generated
by the build or comes from elsewhere; it gives no row.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache

from concordance.base.model import Bridge, Kind, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.paths.tree import enclosing_folders, join_path

_HERE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/?|\$\(srctree\)/\$\(src\)/|\$\(src\)/|\./")
_TOP = re.compile(r"\$\{(?:CMAKE|PROJECT|[A-Za-z]\w*)_SOURCE_DIR\}/?|\$\(srctree\)/|\$\{CMAKE_SOURCE_DIR\}/?")
_PART = re.compile(r"\*\*/?|\*|\?|\[[^\]]*\]|[^*?\[]+")
_ROOT_MARKERS = {
    "cmake": ("CMakeLists.txt",), "starlark": ("WORKSPACE", "MODULE.bazel", "WORKSPACE.bazel", ".buckconfig"),
    "make": ("Makefile", "Kbuild"), "meson": ("meson.build",), "python": ("setup.py", "pyproject.toml"),
}  # fmt: skip
_OBJECTS = (".c", ".S", ".cc", ".cpp", ".s", ".rs")


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join targets with sources."""
    paths = Paths(context.files_by_path)
    targets: dict[tuple[str, str], list[StatedEnd]] = {}
    for end in context.ends("builds"):
        targets.setdefault((end.file.path, end.end.name), []).append(end)
    symbols: dict[str, dict[str, int]] = {}
    for (path, name), ends in targets.items():
        if path not in symbols:
            symbols[path] = _targets(context, ends[0])
        yield from _target_files(context, paths, ends, symbols[path].get(name, 0))


def _targets(context: BridgeContext, stated: StatedEnd) -> dict[str, int]:
    """Return the targets that a build file defines, by name."""
    targets: dict[str, int] = {}
    for place in context.symbols(stated.file):
        if place.kind == Kind.TARGET:
            targets.setdefault(place.name, place.id)
    return targets


def _target_files(context: BridgeContext, paths: Paths, ends: list[StatedEnd], target: int) -> Iterator[Bridge]:
    """Yield the files of one target, each once."""
    without = {file for stated in ends if _reading(stated) == "without" for file, _, _ in _files(paths, stated)}
    seen = set()
    for stated in ends:
        for file, trust, by in _files(paths, stated) if _reading(stated) != "without" else ():
            if file not in without and file not in seen and file != stated.file.path:
                seen.add(file)
                row = stated.to(context.files_by_path[file].id, trust, by)
                yield row._replace(source=target) if target else row


def _reading(stated: StatedEnd) -> str:
    return dict(stated.end.more)["how"]


def _files(paths: Paths, stated: StatedEnd) -> Iterator[tuple[str, Trust, str]]:
    """Yield the files that a word refers to, each with its trust."""
    how, language = _reading(stated), stated.file.language
    words, bases = paths.base_folders(stated.file.path, stated.end.text, _ROOT_MARKERS[language])
    if language == "starlark":
        words, bases = _label(paths, words, bases, stated.file.path)
    elif language == "python":
        bases = [*bases, *(base for base in ("",) if base not in bases)]
    for base in bases:
        if how == "object":
            candidates = [paths.file(base, words.removesuffix(".o") + ending) for ending in _OBJECTS]
            files = [file for file in candidates if file][:1]
        elif any(sign in words for sign in "*?["):
            files = paths.matching(base, words, below=how == "glob below")
            if language == "starlark":
                files = [file for file in files if _package(paths, file) == _package(paths, stated.file.path)]
        else:
            files = [file for file in (paths.file(base, words),) if file]
        if files:
            trust, by = _trust_of(how, words)
            yield from ((file, trust, by) for file in files)
            return


def _package(paths: Paths, path: str) -> str:
    """Return the folder of a file's Bazel package; a pattern does not match files of other packages."""
    for folder in enclosing_folders(path.rpartition("/")[0]):
        if any(paths.file(folder, name) for name in ("BUILD.bazel", "BUILD", "BUCK", "TARGETS")):
            return folder
    return ""


def _trust_of(how: str, words: str) -> tuple[Trust, str]:
    if how == "object":
        return Trust.VIA_IMPORT, "the source of this object"
    if any(sign in words for sign in "*?["):
        return Trust.VIA_IMPORT, f"matches {words}"
    return Trust.EXACT, "named explicitly"


def _label(paths: Paths, words: str, folders: list[str], file: str) -> tuple[str, list[str]]:
    """Return a label as a path: `//pkg:a.c` relative to the workspace, `:a.c` to the package."""
    if words.startswith("@"):
        return "", []
    if words.startswith("//"):
        folder, _, name = words[2:].partition(":")
        _, tops = paths.base_folders(file, "${TOP_SOURCE_DIR}/", _ROOT_MARKERS["starlark"])
        return f"{folder}/{name}".lstrip("/") if name else folder, tops[::-1]
    return words.lstrip(":"), folders


# --- Files by the paths and patterns in build files


class Paths:
    """All paths of a repository, searched by path and by pattern.

    In a pattern, one star matches within one part of a path, two match any number of parts. Only paths that begin like
    the pattern are examined, because a repository may have very many.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._sorted = sorted(paths)
        self._all = frozenset(self._sorted)

    def base_folders(self, file: str, written: str, markers: tuple[str, ...]) -> tuple[str, list[str]]:
        """Split off a leading variable from a word; return the rest, and the folders that it may be relative to.

        These are the folder of the file, or, if the variable is for the top, the folders above that have a build file.
        """
        folder = file.rpartition("/")[0]
        here = _HERE.match(written)
        if here:
            return written[here.end() :], [folder]
        top = _TOP.match(written)
        if top:
            folders = [
                ancestor
                for ancestor in enclosing_folders(folder)
                if any(f"{ancestor}/{marker}".lstrip("/") in self._all for marker in markers)
            ]
            return written[top.end() :], folders[::-1] or [""]
        return written, [folder]

    def file(self, folder: str, words: str) -> str:
        """Return the file at a path, or "" if there is none."""
        path = join_path(folder, words) if words and not words.startswith("/") else None
        return path if path is not None and path in self._all else ""

    def matching(self, base: str, pattern: str, below: bool = False) -> list[str]:
        """Return the files that match a pattern; with `below`, also in every folder under its own."""
        whole = join_path(base, pattern)
        if whole is None or "$" in whole:
            return []
        start = re.split(r"[*?\[]", whole, maxsplit=1)[0]
        start = start[: start.rfind("/") + 1]
        if below:
            folder, _, name = whole.rpartition("/")
            whole = f"{folder}/**/{name}".lstrip("/")
        regex = _compile_pattern(whole)
        files = []
        for path in self._sorted[bisect_left(self._sorted, start) :]:
            if not path.startswith(start):
                break
            if regex.fullmatch(path):
                files.append(path)
        return files


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a shell pattern as a regular expression."""
    regexes = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    parts = (regexes.get(part, part if part.startswith("[") else re.escape(part)) for part in _PART.findall(pattern))
    return re.compile("".join(parts))
