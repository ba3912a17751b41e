"""Updates the list of a repository's files when it is known which paths may have changed.

In: the last list, and paths. Out: the list that a complete walk would give, at the cost of those paths alone; None if
only a walk can tell, because a folder appeared or vanished, or because git's ignore rules or a book may have changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from concordance.base.model import ListedFile, Skip
from concordance.collect import own_output, walk

MOST = 500  # number of paths above which a complete walk costs about as much
# Files that affect how other files are treated.
DECIDE = frozenset((".gitignore", ".gitmodules", own_output.MANIFEST, own_output.FRONT))


def relisted(root: str, entries: list[ListedFile], paths: Collection[str]) -> list[ListedFile] | None:
    """Return the entries, updated at some paths; None if that takes a walk."""
    if len(paths) > MOST or any(path.rpartition("/")[2] in DECIDE for path in paths):
        return None
    root = os.path.realpath(root)
    known = {entry.path: entry for entry in entries}
    folders = {"": True}
    strange = []
    # The entry of a link depends on its target, which is another path.
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
        return None  # a folder became a file, or is gone
    new = _belonging(root, strange, folders) if strange else []
    return None if new is None else sorted([*known.values(), *new], key=walk.by_bytes)


def _is_folder(root: str, path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode)
    except OSError:
        return False


def _belonging(root: str, paths: list[str], folders: dict[str, bool]) -> list[ListedFile] | None:
    """Return the entries of new paths that belong to the repository; None if only a walk can tell."""
    if not walk.is_in_git(root):
        return [entry for path in paths if (entry := walk.on_disk(root, path, folders)) is not None]
    # If the folder is not the top of a git work tree, only a walk finds out which rules apply.
    return walk.git_entries(root, paths) if os.path.lexists(os.path.join(root, ".git")) else None
