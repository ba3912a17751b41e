"""Tells from the status of files alone that nothing has changed since a store was last found to be up to date.

In: a repository and its store. Out: True if the store is certainly current; False if only a build can tell.

A build lists the repository with git, compares the ledger and the settings, and must import most of the program to do
so. Most questions follow another one with nothing changed in between. So once a build has found the store to be
current, `record` stores the status (size, times, inode) of everything that it depended on, and the next question
compares these. As in git's untracked cache, the times of a folder tell whether a file was added to it or removed:

- every file of the repository, and every folder in which git looks for files;
- what else decides which files belong to it: `.gitignore` files, git's index and settings, the settings of the program;
- the current commit, the modules and libraries of the program, ruff, and the files of the full-text index.

A status says nothing about a file that was changed just before it was taken, which may change again within the
resolution of the clock. If there is such a file, or anything that a status cannot describe, nothing is recorded.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import IO, Self

import msgspec

from concordance.base import plugins
from concordance.base.errors import ToolFailed, ToolMissing
from concordance.base.model import ListedFile, Skip
from concordance.collect import ruff, subprocesses, walk
from concordance.facts import code_versions
from concordance.facts.integrity import checksums

RECORD = "current"  # the file in the store's folder
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MAX_FOLDERS = 100_000
_CLOCK_RESOLUTION_NS = 2_000_000_000
_VARIABLES = ("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
              "GIT_DISCOVERY_ACROSS_FILESYSTEM", "HOME", "PATH", "XDG_CONFIG_HOME")  # fmt: skip


class _Recorded(msgspec.Struct, array_like=True, frozen=True):
    """What the store depended on when it was current."""

    started: str  # the build that the store is from
    process: tuple[str, ...]  # what the result depends on besides files
    top: tuple[tuple[str, bool], ...]  # the names in the top folder, and whether they are folders
    inside: bytes  # paths in the repository, joined by NUL
    outside: bytes  # absolute paths
    links: tuple[tuple[str, str], ...]  # symbolic links, and what the ledger says of them
    status: bytes  # of the paths


class _Uncertain(Exception):
    """Something that a status cannot describe."""


def is_current(root: str, folder: str, started: str) -> bool:
    """True if nothing has changed since the store of the build that began at `started` was found to be current."""
    known = checksums.read_record(os.path.join(folder, RECORD), _Recorded)
    if known is None or known.started != started or known.process != _process():
        return False
    try:
        return (
            known.top == _top(root)
            and known.status == _status(root, known.inside, known.outside).tobytes()
            and all(walk.link_note(root, path) == note for path, note in known.links)
        )
    except (OSError, _Uncertain):
        return False


def _forget(folder: str) -> None:
    """Remove the record, so that a build finds out what has changed."""
    with suppress(OSError):
        os.remove(os.path.join(folder, RECORD))


def record(root: str, folder: str, started: str, entries: Iterable[ListedFile], walked: int) -> None:
    """Record the status of everything that the current store depends on, if changes to it can be noticed that way.

    `entries` are the files of the repository, and `walked` the time at which listing them began (nanoseconds).
    """
    if is_current(root, folder, started):
        return
    _forget(folder)
    with suppress(_Uncertain, OSError, ToolFailed, ToolMissing, UnicodeEncodeError):  # a name need not be UTF-8
        checksums.write_record(os.path.join(folder, RECORD), _describe(root, folder, started, list(entries), walked))


def _describe(root: str, folder: str, started: str, entries: list[ListedFile], walked: int) -> _Recorded:
    known = {entry.path: entry for entry in entries}
    if any(entry.skip is Skip.UNREADABLE for entry in entries):
        raise _Uncertain  # permissions of the folders above decide, too
    links = tuple((entry.path, entry.note) for entry in entries if entry.skip is Skip.SYMLINK)
    files = [entry.path for entry in entries if entry.skip not in (Skip.SYMLINK, Skip.SUBMODULE)]
    folders, rules = _searched(root, known)
    inside = _join_paths([*files, *folders, *rules])
    outside = _join_paths([*_outside(root), *_index_files(folder)])
    status = _status(root, inside, outside)
    for place, path in enumerate(files):
        entry = known[path]
        if tuple(status[4 * place : 4 * place + 4]) != (entry.size, entry.changed, entry.altered, entry.inode):
            raise _Uncertain
    own = len(_index_files(folder))  # the last ones, which only a build changes
    times = status[: len(status) - 4 * own]
    if max(max(times[1::4], default=0), max(times[2::4], default=0)) >= walked - _CLOCK_RESOLUTION_NS:
        raise _Uncertain
    return _Recorded(started, _process(), _top(root), inside, outside, links, status.tobytes())


def _process() -> tuple[str, ...]:
    variables = (f"{name}={os.environ.get(name)}" for name in _VARIABLES)
    return (sys.version, sys.prefix, str(os.getuid()), *plugins.extensions(), *variables)


def _join_paths(paths: Iterable[str]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))


def _top(root: str) -> tuple[tuple[str, bool], ...]:
    """The names in the top folder. Its times change with the store's folder."""
    with os.scandir(root) as inside:
        items = ((item.name, item.is_dir(follow_symlinks=False)) for item in inside)
        return tuple(sorted(row for row in items if row[0] != walk.OWN_FOLDER))


def _status(root: str, inside: bytes, outside: bytes) -> array[int]:
    """Return size, times and inode of each path; zeros for one that does not exist."""
    stamps = array("Q")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in (*inside.split(b"\0"), *outside.split(b"\0")):
            try:
                status = os.lstat(path, dir_fd=at)
                stamps.extend((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
            except (FileNotFoundError, NotADirectoryError):
                stamps.extend((0, 0, 0, 0))
            except OverflowError as error:  # a time before 1970
                raise _Uncertain from error
    finally:
        os.close(at)
    return stamps


def _searched(root: str, known: dict[str, ListedFile]) -> tuple[list[str], list[str]]:
    """Return the folders in which git, or a walk, looks for files, and the `.gitignore` files in them."""
    certain = {""}  # folders of known files
    for path, entry in known.items():
        above = path if entry.skip is Skip.SUBMODULE else path.rpartition("/")[0]
        while above not in certain:
            certain.add(above)
            above = above.rpartition("/")[0]
    folders, rules = [], []
    with _IgnoredFolders(root) as ignored:
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            if folder not in certain and ignored.includes(folder):
                continue
            if folder:
                folders.append(folder)
            if folder in known:  # a repository inside this one
                continue
            with os.scandir(os.path.join(root, folder)) as inside:
                for item in inside:
                    path = f"{folder}/{item.name}" if folder else item.name
                    if item.name == ".gitignore" and path not in known:
                        rules.append(path)
                    elif item.name not in walk.CONTROL_FOLDERS and item.is_dir(follow_symlinks=False):
                        waiting.append(path)
            if len(folders) > _MAX_FOLDERS:
                raise _Uncertain
    return folders, rules


class _IgnoredFolders:
    """The folders that git ignores, in which it does not look for files."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._git: AbstractContextManager[subprocesses.RunningProgram] | None = None
        self._program: subprocesses.RunningProgram | None = None

    def includes(self, folder: str) -> bool:
        """True if git ignores a folder, which is not among those that git ignores."""
        if not walk.is_in_git(self._root):
            return False
        if self._program is None:
            self._git = subprocesses.running_git(self._root, "check-ignore", "--stdin", "-z", "-v", "-n")
            self._program = self._git.__enter__()
        self._program.say(os.fsencode(folder) + b"/\0")
        _, _, pattern, _ = (_until_nul(self._program.output) for _ in range(4))
        return pattern != b"" and not pattern.startswith(b"!")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._git is not None:
            self._git.__exit__(kind, error, trace)


def _until_nul(stream: IO[bytes]) -> bytes:
    read = bytearray()
    while (byte := stream.read(1)) != b"\0":
        if not byte:
            raise _Uncertain
        read += byte
    return bytes(read)


def _outside(root: str) -> list[str]:
    """Return the paths of files and folders, outside the repository or in git's folder, on which a build depends."""
    top = subprocesses.find_git_top(root)
    if top not in ("", root):
        raise _Uncertain  # a part of a repository, which the rules above it concern, too
    paths = [*code_versions.installed_files(), *filter(os.path.isabs, sys.path), ruff.program(root)]
    if top:
        paths += [*subprocesses.state_files(root), *subprocesses.history_files(root)]
    above = os.path.dirname(root)
    while not top and above != os.path.dirname(above):
        paths.append(os.path.join(above, ".git"))  # to be made
        above = os.path.dirname(above)
    return list(dict.fromkeys(filter(None, paths)))


def _index_files(folder: str) -> list[str]:
    """Return the files of the full-text index."""
    text = os.path.join(folder, "text")
    return sorted(os.path.join(at, name) for at, _, names in os.walk(text) for name in names)
