"""Reads and writes files below a folder without following links; all output into a book, site or store goes this way.

In: the path of a folder as the user typed it, and the folders whose content others may control (the repository, the
store). Out: reads, atomic writes and removals of files below it.

A repository can contain a link in any place where the program writes. Checking a path before writing to it is not
enough: a component can be replaced by a link between the check and the write. So the system is never given a whole
path. Each component is opened relative to the descriptor of the folder above it, and a component that is a link is
refused. The path that the user typed is trusted up to the first folder that others control: `--out /srv/book` may lead
through links of the machine, `--out docs` may not lead through a link in the clone.

Descriptors of folders are cached, because the pages of one folder are written one after the other. An instance lives
for one run: a folder that is renamed during the run keeps its descriptor.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO

from concordance.base.errors import UserError

_CACHED = 64  # descriptors of folders; some systems allow a process only 256
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # O_NONBLOCK: opening a named pipe must not block
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_A_FILE = (errno.ELOOP, errno.EMLINK, errno.ENXIO)  # errors of opening a link or a socket
_NOT_A_FOLDER = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)  # errors of opening a link as a folder, by system


class LinkRefused(UserError):
    """A link, or something else that is not a folder, where a folder of ours should be."""


class NotRegularFile(OSError):
    """A link, a folder, a pipe or a device where a file should be."""


def is_inside(path: str) -> bool:
    """True if a relative path can be that of a file and stays below its folder; the manifest in a repository, which
    anybody may have written, may contain others."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return possible and not any(part in ("", ".", "..") for part in path.split("/"))


def split_trusted(path: str, controlled: Iterable[str]) -> tuple[str, str]:
    """Split a path into the trusted part and the rest, below the outermost folder that others control."""
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
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


class ConfinedFolder:
    """A folder whose content is reached without following links."""

    def __init__(self, path: str, controlled: Iterable[str] = (), what_to_do: str = "") -> None:
        """`what_to_do` is the advice to the user if a link is in the way."""
        self.path = path
        self._advice = what_to_do or "Remove it, or write elsewhere (--out)"
        self._base, self._inside = split_trusted(path, controlled)
        self._top = -1
        self._folders: OrderedDict[str, int] = OrderedDict()

    def close(self) -> None:
        """Close the descriptors; the next access opens them again."""
        for handle in (*self._folders.values(), *((self._top,) if self._top >= 0 else ())):
            os.close(handle)
        self._folders.clear()
        self._top = -1

    def check(self) -> None:
        """Raise `LinkRefused` if the folder itself is reached through a link, or is not a folder."""
        with suppress(FileNotFoundError):
            self._opened_top(False)

    def read(self, path: str, max_bytes: int = 0) -> bytes:
        """Return the content of a file, or its first `max_bytes` bytes.

        Raise `NotRegularFile` if it is not a regular file, FileNotFoundError if there is none.
        """
        folder, name = os.path.split(path)
        with open_regular_file(name, follow=False, folder=self._handle(folder, False)) as file:
            return file.read(max_bytes) if max_bytes else file.read()

    def lstat(self, path: str) -> os.stat_result:
        """Return the status of a path; a link is not followed."""
        folder, name = os.path.split(path)
        return os.stat(name, dir_fd=self._handle(folder, False), follow_symlinks=False)

    def write(self, temporary: str, path: str, data: bytes) -> None:
        """Write a file atomically: write the file `temporary`, then rename it to `path`.

        Whatever has that name is replaced; a link is not followed.
        """
        try:
            self._write(temporary, path, data)
        except FileNotFoundError:  # somebody removed a folder whose descriptor is cached
            self.close()
            self._write(temporary, path, data)

    def _write(self, temporary: str, path: str, data: bytes) -> None:
        (first, beside), (folder, name) = os.path.split(temporary), os.path.split(path)
        source = self._handle(first, True)
        try:
            handle = os.open(beside, _CREATE, 0o666, dir_fd=source)
        except FileExistsError:  # left by a killed process, or planted: never write into it
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
        """Remove a file, or the link itself."""
        folder, name = os.path.split(path)
        os.unlink(name, dir_fd=self._handle(folder, False))

    def rmdir(self, folder: str) -> None:
        """Remove an empty folder."""
        above, name = os.path.split(folder)
        os.rmdir(name, dir_fd=self._handle(above, False))
        self._forget(folder)

    def names(self, folder: str = "") -> list[str]:
        """Return the names of the entries of a folder."""
        return os.listdir(self._handle(folder, False))

    # --- folders

    def _forget(self, folder: str) -> None:
        handle = self._folders.pop(folder, None)
        if handle is not None:
            os.close(handle)

    def _handle(self, folder: str, make: bool) -> int:
        """Return the descriptor of a folder below this one."""
        if not folder:
            return self._top if self._top >= 0 else self._opened_top(make)
        known = self._folders.get(folder)
        if known is not None:
            self._folders.move_to_end(folder)
            return known
        if not is_inside(folder):
            raise LinkRefused(f"{os.path.join(self.path, folder)} is not inside {self.path}", self._advice)
        above, name = os.path.split(folder)
        handle = self._open_subfolder(self._handle(above, make), name, folder, make)
        self._folders[folder] = handle
        if len(self._folders) > _CACHED:
            os.close(self._folders.popitem(last=False)[1])
        return handle

    def _opened_top(self, make: bool) -> int:
        if make:
            with suppress(FileExistsError):  # if it is not a folder, the next call reports it
                os.makedirs(self._base, exist_ok=True)
        try:
            at = os.open(self._base, _FOLDER)
        except NotADirectoryError:
            raise LinkRefused(f"{self._base} is not a folder", "Name a folder") from None
        opened = self._base
        for name in filter(None, self._inside.split("/")):
            opened = os.path.join(opened, name)
            try:
                below = self._open_subfolder(at, name, opened, make)
            finally:
                os.close(at)
            at = below
        self._top = at
        return at

    def _open_subfolder(self, at: int, name: str, shown: str, make: bool) -> int:
        """Open a folder inside another; create it if it is missing and `make` is set."""
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            self._refuse(error, at, name, shown)
        with suppress(FileExistsError):  # another process created it at the same moment
            os.mkdir(name, dir_fd=at)
        try:
            return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
        except OSError as error:
            self._refuse(error, at, name, shown)
            raise

    def _refuse(self, error: OSError, at: int, name: str, shown: str) -> None:
        """Raise an error that says what is in the way; re-raise any other error unchanged."""
        if error.errno not in _NOT_A_FOLDER:
            raise error
        shown = os.path.join(self.path, shown)
        try:
            target = os.readlink(name, dir_fd=at)
        except OSError:
            raise LinkRefused(f"{shown} is not a folder", self._advice) from error
        raise LinkRefused(f"{shown} is a link to {target}, which is not followed here", self._advice) from error


def remove_tree(path: str) -> None:
    """Remove a folder and its content, or the link itself; ignore what cannot be removed."""
    if os.path.islink(path):
        with suppress(OSError):
            os.unlink(path)
    else:
        shutil.rmtree(path, ignore_errors=True)  # does not follow links inside the folder


def open_regular_file(path: str, follow: bool = True, folder: int | None = None) -> FileIO:
    """Open a regular file for reading, without waiting for a writer if it is a named pipe.

    Unless `follow`, a link is refused. `folder` is the descriptor that the path is relative to. Raise `NotRegularFile`
    if it is not a regular file, OSError if it cannot be opened.
    """
    try:
        handle = os.open(path, _READ if follow else _READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise NotRegularFile(error.errno, "not a regular file", path) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegularFile(errno.EINVAL, "not a regular file", path)
    return FileIO(handle)


def is_special_file(path: str) -> bool:
    """True if a path exists and is not a regular file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False
