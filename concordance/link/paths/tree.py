"""The repository's files for import resolution: look-ups by path, folder and name, and texts of settings files.

In: a repository's root and its list of files. Out: look-ups by path, folder and base name, and the texts of
configuration files. Everything is computed on first use. A symbolic link is not a file of its own: a path through one
is the file it points to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar, cast

from concordance.base.config import Roots
from concordance.base.errors import Unreadable
from concordance.base.model import File, ListedFile, Skip
from concordance.base.paths import parent_folders
from concordance.collect import walk

_MAX_SETTINGS_BYTES = 4_000_000  # bytes of a configuration file; longer ones are data
_POINTS = "points to "
_MAX_LINKS_FOLLOWED = 8  # links to links that are followed
Value = TypeVar("Value")


class Tree:
    """The files of a repository. Paths are relative to the root, with "/" between parts; the root itself is ""."""

    def __init__(self, root: str, files: Iterable[File], roots: Roots | None = None) -> None:
        """`roots` are the folders from which files are named, as set in the configuration."""
        self.root, self.roots = root, roots or Roots()
        self._files = files
        self._texts: dict[str, str] = {}
        self._values: dict[Callable[[Tree], object], object] = {}

    @cached_property
    def files(self) -> dict[str, File]:
        """All files by path; loaded on first use, because an update without changed imports does not need them."""
        return {file.path: file for file in self._files}

    @property
    def is_loaded(self) -> bool:
        """True if the files have been loaded."""
        return "files" in vars(self)

    def replace_files(self, files: Iterable[File]) -> None:
        """Replace the rows of files whose content changed; the text of none of them may have been used here."""
        self.files.update((file.path, file) for file in files)

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every file that exists, including binary ones."""
        elsewhere = (Skip.SYMLINK, Skip.SUBMODULE)
        return frozenset(path for path, file in self.files.items() if file.skip not in elsewhere)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder with a file somewhere below it."""
        folders = {""}
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder not in folders:
                folders.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(folders)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Paths by their last part, sorted."""
        paths: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            paths.setdefault(path.rpartition("/")[2], []).append(path)
        return paths

    @cached_property
    def folders_by_name(self) -> dict[str, list[str]]:
        """Folders by their last part, sorted."""
        folders: dict[str, list[str]] = {}
        for path in sorted(self.folders):
            folders.setdefault(path.rpartition("/")[2], []).append(path)
        return folders

    @cached_property
    def by_folder(self) -> dict[str, list[str]]:
        """The files directly in each folder, sorted."""
        paths: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            paths.setdefault(path.rpartition("/")[0], []).append(path)
        return paths

    @cached_property
    def submodules(self) -> frozenset[str]:
        """Folders with another repository in them: known submodules, and those that `.gitmodules` names."""
        paths = {path for path, file in self.files.items() if file.skip == Skip.SUBMODULE}
        for line in self.text(".gitmodules").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "path":
                paths.add(value.strip())
        return frozenset(paths)

    @cached_property
    def links(self) -> dict[str, str]:
        """Symbolic links to something in the repository, and their targets."""
        links = {}
        for path, file in self.files.items():
            if file.skip == Skip.SYMLINK and file.note.startswith(_POINTS):
                to = file.note.removeprefix(_POINTS)
                for ending in (", outside the repository", ", in a loop", ", which does not exist"):
                    to = to.removesuffix(ending)
                target = join_path(path.rpartition("/")[0], to) if not to.startswith("/") else None
                if target is not None:
                    links[path] = target
        return links

    def file(self, path: str) -> str:
        """Return the file at a path, following symbolic links; "" if there is none."""
        if path in self.paths:
            return path
        real = self._real(path) if self.links else path
        return real if real in self.paths else ""

    def folder(self, path: str) -> str | None:
        """Return the folder at a path, following symbolic links; None if there is none."""
        if path in self.folders:
            return path
        real = self._real(path) if self.links else path
        return real if real in self.folders else None

    def _real(self, path: str) -> str:
        for _ in range(_MAX_LINKS_FOLLOWED):
            parts = path.split("/")
            for end in range(1, len(parts) + 1):
                at = "/".join(parts[:end])
                if at in self.links:
                    path = "/".join(filter(None, (self.links[at], *parts[end:])))
                    break
            else:
                break
        return path

    def once(self, make: Callable[[Tree], Value]) -> Value:
        """Return a value computed from the tree, computing it only once for all callers."""
        if make not in self._values:
            self._values[make] = make(self)
        return cast(Value, self._values[make])

    def language(self, path: str) -> str:
        """Return a file's language; "" if it has none."""
        file = self.files.get(path)
        return file.language if file else ""

    @property
    def files_read(self) -> set[str]:
        """The files that were read to resolve imports; a change of one of them may change the targets of imports."""
        return set(self._texts)

    def text(self, path: str) -> str:
        """Return the text of a configuration file; "" if it is missing, unreadable or too long to be one."""
        text = self._texts.get(path)
        if text is None:
            text = self._texts[path] = self._read(path)
        return text

    def _read(self, path: str) -> str:
        file = self.files.get(path)
        if file is None or file.skip or file.size > _MAX_SETTINGS_BYTES:
            return ""
        try:
            data = walk.read(self.root, ListedFile(path, file.size, file.changed), _MAX_SETTINGS_BYTES)
        except Unreadable:
            return ""
        try:
            return data.decode(file.encoding or "utf-8", "replace").removeprefix("\ufeff")
        except LookupError:
            return data.decode("utf-8", "replace")


def join_path(folder: str, relative: str) -> str | None:
    """Return a relative path as seen from a folder; None if it leaves the repository."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def enclosing_folders(folder: str) -> list[str]:
    """Return a folder and those around it, innermost first, the root ("") last."""
    return [folder, *parent_folders(folder)]


def shared_prefix_length(one: str, other: str) -> int:
    """Return the number of leading parts that two paths have in common."""
    count = 0
    for mine, theirs in zip(one.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
