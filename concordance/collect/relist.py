"""Brings the list of a repository's files up to date where it is known which paths may have changed.

In: the last list, and paths. Out: the list as a walk of the whole would give it, at the cost of those paths alone; None
where only a walk can tell: a folder came or went, git's rules of what it ignores changed, a book may have.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from concordance.base.model import ListedFile, Skip
from concordance.collect import own_output, walk

MOST = 500  # paths; to walk the whole costs about as much as so many
# Files that decide about other files than themselves.
DECIDE = frozenset((".gitignore", ".gitmodules", own_output.MANIFEST, own_output.FRONT))


def relisted(root: str, entries: list[ListedFile], paths: Collection[str]) -> list[ListedFile] | None:
    """The entries with what is now at some paths; None where it takes a walk."""
    if len(paths) > MOST or any(path.rpartition("/")[2] in DECIDE for path in paths):
        return None
    root = os.path.realpath(root)
    known = {entry.path: entry for entry in entries}
    folders = {"": True}
    strange = []
    # What a link's entry says depends on where it leads, which is another path.
    links = (entry.path for entry in entries if entry.skip is Skip.SYMLINK)
    for path in {*paths, *links}:
        was = known.pop(path, None)
        if _is_folder(root, path) or (was is not None and was.skip is Skip.SUBMODULE):
            return None
        if (now := walk.on_disk(root, path, folders)) is None:
            continue
        if was is not None:
            known[path] = now
        else:
            strange.append(path)
    if any(path.startswith(tuple(f"{gone}/" for gone in paths)) for path in known):
        return None  # a folder has become a file, or is gone
    new = _belonging(root, strange, folders) if strange else []
    return None if new is None else sorted([*known.values(), *new], key=walk.by_bytes)


def _is_folder(root: str, path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode)
    except OSError:
        return False


def _belonging(root: str, paths: list[str], folders: dict[str, bool]) -> list[ListedFile] | None:
    """The entries of those paths, new to the list, that belong to the repository."""
    if not walk.is_in_git(root):
        return [entry for path in paths if (entry := walk.on_disk(root, path, folders)) is not None]
    # Where git does not take the folder for a repository of its own, a walk finds out what is meant.
    return walk.git_entries(root, paths) if os.path.lexists(os.path.join(root, ".git")) else None
