"""A folder whose files are reached without following links: all writing into a book, a site or a store goes this way.

In: the path of a folder as the user typed it, and the folders whose content others may control (the repository, the
store). Out: reads, atomic writes and removals of files below it. A repository can come with a link in any place where
the program writes, so a path is never handed to the system as a whole: each component is opened relative to the one
above it, and one that is a link is refused. A check before a write by path would leave a moment in which the component
can be exchanged; an open descriptor does not. What the user typed is trusted up to the first folder that others
control: `--out /srv/book` may lead through links of the machine, `--out docs` may not lead through one in the clone.

Descriptors of folders are cached, since pages of one folder are written one after the other. An instance lives for one
run: a folder that is renamed meanwhile keeps its descriptor.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

from concordance.base.errors import UserError

_CACHED = 64  # descriptors of folders: a process may have 256 on some systems
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a named pipe must not block
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO)  # a link; a socket
_NOT_A_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)  # what systems say of a link that is not followed


class NotFollowed(UserError):
    """A link, or something else that is no folder, where a folder of ours should be."""


class NotRegular(OSError):
    """A link, a folder, a pipe or a device where a file should be."""


def is_inside(path: str) -> bool:
    """True if a relative path stays below its folder: a repository may come with a manifest that says otherwise."""
    return "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def split(path: str, controlled: Iterable[str]) -> tuple[str, str]:
    """A path as the part that is trusted and the part below the outermost folder that others control."""
    marks = {mark for folder in controlled if (mark := _identity(folder)) is not None}
    whole = os.path.abspath(path)
    parts = whole.split(os.sep)
    for end in range(1, len(parts) + 1):
        above = os.sep.join(parts[:end]) or os.sep
        if _identity(above) in marks:
            return above, "/".join(parts[end:])
    return whole, ""


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


class ConfinedFolder:
    """A folder, with everything below it, that is reached through real folders alone."""

    def __init__(self, path: str, controlled: Iterable[str] = (), what_to_do: str = "") -> None:
        """`what_to_do` is the advice where a link stands in the way."""
        self.path = path
        self._advice = what_to_do or "Remove it, or write elsewhere (--out)"
        self._base, self._inside = split(path, controlled)
        self._top = -1
        self._folders: OrderedDict[str, int] = OrderedDict()

    def close(self) -> None:
        """Closes the descriptors; the next access opens them again."""
        for handle in (*self._folders.values(), *((self._top,) if self._top >= 0 else ())):
            os.close(handle)
        self._folders.clear()
        self._top = -1

    def check(self) -> None:
        """Raises `NotFollowed` where the folder itself is reached through a link, or is something else."""
        with suppress(FileNotFoundError):
            self._opened_top(False)

    def make(self, folder: str = "") -> None:
        """Makes a folder and those above it."""
        self._handle(folder, True)

    def read(self, path: str, most: int = 0) -> bytes:
        """The content of a file, or its first bytes; `NotRegular` where there is something else, FileNotFoundError
        where nothing is."""
        folder, name = os.path.split(path)
        try:
            handle = os.open(name, _READ, dir_fd=self._handle(folder, False))
        except OSError as error:
            if error.errno in _NOT_A_FILE:
                raise NotRegular(error.errno, "not a regular file", path) from error
            raise
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise NotRegular(errno.EINVAL, "not a regular file", path)
            if most:
                return os.read(handle, most)
            parts = []
            while part := os.read(handle, max(found.st_size + 1, 1 << 16)):
                parts.append(part)
            return parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            os.close(handle)

    def lstat(self, path: str) -> os.stat_result:
        """What is at a path, links themselves included."""
        folder, name = os.path.split(path)
        return os.stat(name, dir_fd=self._handle(folder, False), follow_symlinks=False)

    def write(self, aside: str, path: str, data: bytes) -> None:
        """Writes a file aside, and renames it when it is whole. Whatever has the name is replaced, and not followed."""
        try:
            self._write(aside, path, data)
        except FileNotFoundError:  # somebody removed a folder whose descriptor is cached
            self.close()
            self._write(aside, path, data)

    def _write(self, aside: str, path: str, data: bytes) -> None:
        (first, beside), (folder, name) = os.path.split(aside), os.path.split(path)
        source = self._handle(first, True)
        try:
            handle = os.open(beside, _CREATE, 0o666, dir_fd=source)
        except FileExistsError:  # of a process that was killed, or laid there by somebody: nothing is written into it
            os.unlink(beside, dir_fd=source)
            handle = os.open(beside, _CREATE, 0o666, dir_fd=source)
        try:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
            finally:
                os.close(handle)
            os.rename(beside, name, src_dir_fd=source, dst_dir_fd=self._handle(folder, True))
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=self._handle(first, False))
            raise

    def unlink(self, path: str) -> None:
        """Removes a file, or a link itself."""
        folder, name = os.path.split(path)
        os.unlink(name, dir_fd=self._handle(folder, False))

    def rmdir(self, folder: str) -> None:
        """Removes an empty folder."""
        above, name = os.path.split(folder)
        os.rmdir(name, dir_fd=self._handle(above, False))
        self._forget(folder)

    def names(self, folder: str = "") -> list[str]:
        """What is in a folder."""
        return os.listdir(self._handle(folder, False))

    # --- folders

    def _forget(self, folder: str) -> None:
        handle = self._folders.pop(folder, None)
        if handle is not None:
            os.close(handle)

    def _handle(self, folder: str, make: bool) -> int:
        """The descriptor of a folder below this one."""
        if not folder:
            return self._top if self._top >= 0 else self._opened_top(make)
        known = self._folders.get(folder)
        if known is not None:
            self._folders.move_to_end(folder)
            return known
        if not is_inside(folder):
            raise NotFollowed(f"{os.path.join(self.path, folder)} does not stay in {self.path}", self._advice)
        above, name = os.path.split(folder)
        handle = self._below(self._handle(above, make), name, folder, make)
        self._folders[folder] = handle
        if len(self._folders) > _CACHED:
            os.close(self._folders.popitem(last=False)[1])
        return handle

    def _opened_top(self, make: bool) -> int:
        if make:
            with suppress(FileExistsError):  # what is no folder is said below
                os.makedirs(self._base, exist_ok=True)
        try:
            at = os.open(self._base, _FOLDER)
        except NotADirectoryError:
            raise NotFollowed(f"{self._base} is not a folder", "Name a folder") from None
        passed = self._base
        for name in filter(None, self._inside.split("/")):
            passed = os.path.join(passed, name)
            try:
                below = self._below(at, name, passed, make)
            finally:
                os.close(at)
            at = below
        self._top = at
        return at

    def _below(self, at: int, name: str, shown: str, make: bool) -> int:
        """Opens a folder in another; makes it where it is missing and that is wanted."""
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            self._refuse(error, at, name, shown)
        with suppress(FileExistsError):  # of another process, at the same moment
            os.mkdir(name, dir_fd=at)
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
        except OSError as error:
            self._refuse(error, at, name, shown)
            raise

    def _refuse(self, error: OSError, at: int, name: str, shown: str) -> None:
        """Says what is in the way; any other error is raised as it is."""
        if error.errno not in _NOT_A_FOLDER:
            raise error
        shown = os.path.join(self.path, shown)
        try:
            target = os.readlink(name, dir_fd=at)
        except OSError:
            raise NotFollowed(f"{shown} is not a folder", self._advice) from error
        raise NotFollowed(f"{shown} is a link to {target}, and links are not followed here", self._advice) from error


def remove_tree(path: str) -> None:
    """Removes a folder with all that is in it, or a link itself; what cannot be removed stays."""
    if os.path.islink(path):
        with suppress(OSError):
            os.unlink(path)
    else:
        shutil.rmtree(path, ignore_errors=True)  # follows no links where it looks into folders


def opened(path: str) -> BinaryIO:
    """A plain file, open for reading; OSError where there is none."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a plain file", path)
    return os.fdopen(handle, "rb")


def is_other(path: str) -> bool:
    """Whether there is something at a path, and no plain file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
