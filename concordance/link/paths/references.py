"""Resolves a path that is written in a document, script or build file.

In: the path of the file that contains the reference, and the text of the reference. Out: a `Target`: the file, the page
or build file that represents a folder, or the folder itself, which has no path of its own; else unresolved. A path with
a variable (`$(DIR)/x.mk`) is resolved by its end: from the folder of the file or one above it, or if only one file has
that end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from urllib.parse import unquote

from concordance.base.model import Origin, Target
from concordance.link.paths.tree import Tree, enclosing_folders, join_path

_VARIABLE = re.compile(r"\$[\w@<*]|[$@%]\w+[@%]|[$][({]")
_LAST = re.compile(r".*(?:[)}\"'`@%]|\$\w+)", re.S)  # up to the end of the last variable or quote
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.I)
_WILD = re.compile(r"[*?\[]")


def resolve_path(
    tree: Tree, importer: str, written: str, endings: Iterable[str] = ("",), pages: Iterable[str] = (), top: str = ""
) -> Target:
    """Resolve a path relative to the folder of the file that contains it, then to `top`.

    `endings` are extensions to try; `pages` are the files that represent a folder. A path that starts with a slash is
    resolved relative to `top` only.
    """
    path = written.strip().strip("\"'")
    if _SCHEME.match(path) or path.startswith(("//", "~")):
        return Target(Origin.UNRESOLVED, by="outside the repository")
    if _VARIABLE.search(path):
        return _by_end(tree, importer, path, endings, pages)
    bases = {top: f"from {top or 'the root'}"}
    if not path.startswith("/"):
        bases = {importer.rpartition("/")[0]: "relative path"} | bases
    for base, by in bases.items():
        target = target_at(tree, join_path(base, path), endings, pages, by)
        if target:
            return target
    return Target(Origin.UNRESOLVED, by=f"{path} not found")


def resolve_link(
    tree: Tree, importer: str, written: str, endings: Iterable[str], pages: Iterable[str], top: str = ""
) -> Target:
    """Resolve a link of a document, without its anchor, query and escapes; an anchor alone is the file itself."""
    path = unquote(re.split(r"[#?]", written, maxsplit=1)[0])
    if not path:
        return Target(Origin.REPOSITORY, (importer,), by="anchor in this file")
    target = resolve_path(tree, importer, path, endings, pages, top)
    if target.origin == Origin.UNRESOLVED and path.endswith(".html"):  # the page that is rendered from a document
        source = resolve_path(
            tree, importer, path.removesuffix(".html"), [ending for ending in endings if ending], pages, top
        )
        return source if source.paths else target
    return target


def target_at(tree: Tree, path: str | None, endings: Iterable[str], pages: Iterable[str], by: str) -> Target | None:
    """Return the file, files or folder at a path."""
    if path is None:
        return None
    for ending in endings:
        candidate = tree.file(path + ending)
        if candidate:
            return Target(Origin.REPOSITORY, (candidate,), by=by)
    if _WILD.search(path):
        return _matching(tree, path, by)
    folder = tree.folder(path)
    if folder is None:
        return None
    for page in pages:
        candidate = tree.file(f"{folder}/{page}" if folder else page)
        if candidate:
            return Target(Origin.REPOSITORY, (candidate,), by=by)
    return Target(Origin.REPOSITORY, by=f"folder {folder or '.'}")


def _matching(tree: Tree, pattern: str, by: str) -> Target | None:
    """Return the files that match a pattern, which must be in the last part of the path."""
    folder, _, name = pattern.rpartition("/")
    if _WILD.search(folder):
        return None
    regex = re.compile(translate(name))
    paths = tuple(path for path in tree.by_folder.get(folder, ()) if regex.match(path.rpartition("/")[2]))
    return Target(Origin.REPOSITORY, paths, by=by) if paths else None


def _by_end(tree: Tree, importer: str, path: str, endings: Iterable[str], pages: Iterable[str]) -> Target:
    """Resolve a path by what follows its last variable."""
    end = _LAST.sub("", path, count=1).lstrip("/")
    if end.startswith("../"):  # usually relative to the folder of the file itself
        target = target_at(tree, join_path(importer.rpartition("/")[0], end), endings, pages, "relative path")
        return target or Target(Origin.UNRESOLVED, by="the path contains a variable")
    if not re.match(r"[\w.-]", end):
        return Target(Origin.UNRESOLVED, by="the path contains a variable")
    start = _VARIABLE.split(path, maxsplit=1)[0].strip("./\"'`")
    if start:
        return _between(tree, importer, start, end)
    for folder in enclosing_folders(importer.rpartition("/")[0]):
        target = target_at(tree, join_path(folder, end), endings, pages, f"from {folder or 'the root'}")
        if target and target.paths:
            return target
    files = paths_ending_in(tree, end)
    if len(files) == 1:
        return Target(Origin.REPOSITORY, (files[0],), by="the only file whose path ends like this")
    return Target(Origin.UNRESOLVED, by="the path contains a variable")


def _between(tree: Tree, importer: str, start: str, end: str) -> Target:
    """Return the files that a path with a variable in the middle may refer to."""
    for base in (importer.rpartition("/")[0], ""):
        begin = join_path(base, start) or ""
        paths = tuple(path for path in paths_ending_in(tree, end) if path.startswith(begin))
        if paths:
            return Target(Origin.REPOSITORY, paths, by=f"one of {len(paths)} that match; the path contains a variable")
    return Target(Origin.UNRESOLVED, by="the path contains a variable")


def paths_ending_in(tree: Tree, end: str) -> list[str]:
    """Return the files whose paths end in a given path."""
    paths = tree.by_name.get(end.rpartition("/")[2], ())
    return [path for path in paths if path == end or path.endswith(f"/{end}")]
