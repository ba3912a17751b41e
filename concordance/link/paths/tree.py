"""The repository as one who looks for files sees it: which paths there are, and what a setting's file says.

In: a repository's root and its ledger. Out: look-ups by path, folder and base name, and texts of
configuration files. Making one costs a pass over the ledger; everything else is worked out when it
is first asked for. A symbolic link is no file of its own: a path through one is the file it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar, cast

from concordance.base.config import Roots
from concordance.base.errors import Unreadable
from concordance.base.model import File, ListedFile, Skip
from concordance.collect import walk

_LARGEST = 4_000_000  # bytes of a configuration file; what is longer is data
_POINTS = "points to "
_HOPS = 8  # links that lead to links
Made = TypeVar("Made")


class Tree:
    """Paths are relative to the root, "/" between parts; the root itself is ""."""

    def __init__(self, root: str, files: Iterable[File], roots: Roots | None = None) -> None:
        """`roots`: where names of files start, as the owners have set."""
        self.root, self.roots = root, roots or Roots()
        self._files = files
        self._texts: dict[str, str] = {}
        self._made: dict[Callable[[Tree], object], object] = {}

    @cached_property
    def files(self) -> dict[str, File]:
        """The ledger, read when it is first asked for: where all imports lead as they did, nobody does."""
        return {file.path: file for file in self._files}

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every file that is there, also a binary one."""
        elsewhere = (Skip.SYMLINK, Skip.SUBMODULE)
        return frozenset(path for path, file in self.files.items() if file.skip not in elsewhere)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder with a file somewhere below it."""
        found = {""}
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Paths by their last part, sorted."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def folders_by_name(self) -> dict[str, list[str]]:
        """Folders by their last part, sorted."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.folders):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    @cached_property
    def by_folder(self) -> dict[str, list[str]]:
        """The files that lie directly in each folder, sorted."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(path.rpartition("/")[0], []).append(path)
        return found

    @cached_property
    def submodules(self) -> frozenset[str]:
        """Folders that hold another repository: those in the ledger, and those that `.gitmodules` names."""
        found = {path for path, file in self.files.items() if file.skip == Skip.SUBMODULE}
        for line in self.text(".gitmodules").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "path":
                found.add(value.strip())
        return frozenset(found)

    @cached_property
    def links(self) -> dict[str, str]:
        """Symbolic links that lead to something in the repository, and to what."""
        found = {}
        for path, file in self.files.items():
            if file.skip == Skip.SYMLINK and file.note.startswith(_POINTS):
                to = file.note.removeprefix(_POINTS)
                for ending in (", outside the repository", ", in a loop", ", which does not exist"):
                    to = to.removesuffix(ending)
                target = joined(path.rpartition("/")[0], to) if not to.startswith("/") else None
                if target is not None:
                    found[path] = target
        return found

    def file(self, path: str) -> str:
        """The file that a path leads to, through links if need be; "" where there is none."""
        if path in self.paths:
            return path
        real = self._real(path) if self.links else path
        return real if real in self.paths else ""

    def folder(self, path: str) -> str | None:
        """The folder that a path leads to; None where there is none."""
        if path in self.folders:
            return path
        real = self._real(path) if self.links else path
        return real if real in self.folders else None

    def _real(self, path: str) -> str:
        for _ in range(_HOPS):
            parts = path.split("/")
            for end in range(1, len(parts) + 1):
                at = "/".join(parts[:end])
                if at in self.links:
                    path = "/".join(filter(None, (self.links[at], *parts[end:])))
                    break
            else:
                break
        return path

    def once(self, make: Callable[[Tree], Made]) -> Made:
        """What is worked out from the tree, the same for all who ask."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(Made, self._made[make])

    def language(self, path: str) -> str:
        """A file's language; "" where it has none."""
        file = self.files.get(path)
        return file.language if file else ""

    @property
    def asked(self) -> set[str]:
        """The files that were read to find others: where one of them changes, imports may lead elsewhere."""
        return set(self._texts)

    def text(self, path: str) -> str:
        """What a configuration file says; "" where it is missing, unreadable or too long to be one."""
        said = self._texts.get(path)
        if said is None:
            said = self._texts[path] = self._read(path)
        return said

    def _read(self, path: str) -> str:
        file = self.files.get(path)
        if file is None or file.skip or file.size > _LARGEST:
            return ""
        try:
            data = walk.read(self.root, ListedFile(path, file.size, file.changed), _LARGEST)
        except Unreadable:
            return ""
        try:
            return data.decode(file.encoding or "utf-8", "replace").removeprefix("\ufeff")
        except LookupError:
            return data.decode("utf-8", "replace")


def joined(folder: str, relative: str) -> str | None:
    """A relative path seen from a folder; None where it leaves the repository."""
    parts = folder.split("/") if folder else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def above(folder: str) -> list[str]:
    """A folder and those around it, the innermost first, the root ("") last."""
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found


def nearness(one: str, other: str) -> int:
    """How many folders two paths share from the root on."""
    count = 0
    for mine, theirs in zip(one.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count
