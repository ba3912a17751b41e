"""Finds files for which git would wait for ever: named pipes and devices in places where it expects a file.

In: a folder. Out: the path of such a file, if there is one.

Git opens its own files, and `.gitignore`, `.gitattributes` and `.mailmap`, without a look at what they are. Those whose
names are known are looked at before git is run. What may lie anywhere (a `.gitignore` in any folder, a loose object, a
path in git's settings) is looked for once git has been silent for a while.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from concordance.base import confined_folder

_OWN = ("HEAD", "config", "config.worktree", "index", "packed-refs", "shallow", "commondir", "info/exclude",
        "info/attributes", "info/sparse-checkout", "info/grafts", "objects/info/alternates")  # fmt: skip
_IN_TREE = (".gitignore", ".gitattributes", ".mailmap")
_LARGEST = 1 << 16  # bytes of a file that says where git's folder is, or of settings
_MOST = 100_000  # files that are looked at


def top_of(folder: str) -> str:
    """The nearest folder upwards that holds `.git`; "" where none does."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def at_known_places(folder: str) -> str:
    """A file with a known name that git would wait for; "" where there is none."""
    top = top_of(folder)
    if not top:
        return ""
    for place in dict.fromkeys((top, folder)):
        for name in _IN_TREE:
            path = os.path.join(place, name)
            with suppress(OSError):
                if _is_endless(os.lstat(path)):  # git does not follow links to these
                    return path
    for own in _own_folders(top):
        for name in _OWN:
            path = os.path.join(own, name)
            with suppress(OSError):
                if _is_endless(os.stat(path)):
                    return path
    return ""


def anywhere(folder: str) -> str:
    """The first pipe or device at any path that git may read; "" if there is none. Walks the whole repository."""
    top = top_of(folder)
    for path, in_tree in islice(_candidates(top), _MOST) if top else ():
        with suppress(OSError):
            if (not in_tree or os.path.basename(path) in _IN_TREE) and _is_endless(os.stat(path)):
                return path
    return ""


def _candidates(top: str) -> Iterator[tuple[str, bool]]:
    """Files that are no plain ones, each with whether it lies in the work tree, and what git's settings name."""
    for own in _own_folders(top):
        for line in _text(os.path.join(own, "config")).splitlines():
            name = line.partition("=")[2].strip().strip('"')
            if name:
                yield os.path.join(own, os.path.expanduser(name)), False
                yield os.path.join(top, name), False
        for path in _special(own):
            yield path, False
    for path in _special(top):
        yield path, True


def _special(folder: str) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as inside:
                for item in inside:
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(item.path)
                    elif not item.is_file(follow_symlinks=False):
                        yield item.path
        except OSError:
            continue


def _own_folders(top: str) -> list[str]:
    """Git's folder, and the one that all work trees of a repository share."""
    own = os.path.join(top, ".git")
    if not os.path.isdir(own):
        said = _text(own)
        if not said.startswith("gitdir:"):
            return []
        own = os.path.join(top, said.removeprefix("gitdir:").strip())
    shared = _text(os.path.join(own, "commondir")).strip()
    return [own, os.path.join(own, shared)] if shared else [own]


def _text(path: str) -> str:
    """What stands in a small plain file; "" where there is none."""
    try:
        with confined_folder.opened(path) as file:
            return os.fsdecode(file.read(_LARGEST))
    except OSError:
        return ""


def _is_endless(found: os.stat_result) -> bool:
    if stat.S_ISCHR(found.st_mode):
        return found.st_rdev != os.stat(os.devnull).st_rdev  # which people link to on purpose
    return stat.S_ISFIFO(found.st_mode)
