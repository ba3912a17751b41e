"""Finds the files that have changed since the last build.

In: the entries of a walk, and the ledger of the last build. Out: the entries to read again, and the ledger rows of
files with new times but the same content.

As in git, a file counts as unchanged if its size, modification time, change time and inode are the same. Nobody can set
the change time, so an edit that keeps size and modification time is noticed. If only the times or the inode differ (a
checkout, a restored cache, a copy, `touch`), or are not reliable, the file's digest decides: hashing is a hundred times
cheaper than extracting and linking again. Times are not reliable for a file that was changed just before the walk,
which may have been changed again within the clock's resolution, nor if all files have the same times.

The store also records the settings it was built with, so that the next build knows which files are affected if they
change. Settings that only affect pages are not part of this: a book records its own.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping

from concordance.base.config import Config
from concordance.base.model import File, ListedFile, Skip
from concordance.collect.category import Categories
from concordance.workflow.stages import extract

LEFT_OUT = "left_out"  # metadata key: how many files each pattern excluded
CLOCK_RESOLUTION_NS = 2_000_000_000  # nanoseconds: no file system has a coarser resolution
_UNKNOWN = -1  # a change time that never compares as equal


def drop_unreliable_times(entries: list[ListedFile], walk_time: int) -> list[ListedFile]:
    """Return the entries without unreliable change times; the walk began at `walk_time` (nanoseconds) or later."""
    times = ((entry.changed, entry.altered) for entry in entries if entry.skip is Skip.NONE)
    first = next(times, None)
    alike = len(entries) > 1 and all(pair == first for pair in times)
    late = walk_time - CLOCK_RESOLUTION_NS
    return [
        entry._replace(altered=_UNKNOWN) if entry.altered and (alike or entry.altered >= late) else entry
        for entry in entries
    ]


def find_changes(
    root: str, entries: Iterable[ListedFile], files: Mapping[str, File], touched: Callable[[ListedFile], bool] | None
) -> tuple[list[ListedFile], dict[str, File]]:
    """Return the entries that have changed or that `touched` selects, and by path the ledger rows of files with new
    times but the same content."""
    changed, renewed = [], {}
    for entry in entries:
        file = files.get(entry.path)
        if file is None or (touched is not None and touched(entry)) or not _is_same(root, file, entry):
            changed.append(entry)
        elif file.altered != entry.altered or file.changed != entry.changed or file.inode != entry.inode:
            renewed[entry.path] = file._replace(changed=entry.changed, altered=entry.altered, inode=entry.inode)
    return changed, renewed


def _is_same(root: str, file: File, entry: ListedFile) -> bool:
    """True if a file is unchanged by its status or content, or a link or submodule by its target."""
    if file.size != entry.size:
        return False
    if entry.skip is not Skip.NONE:
        return file.skip == entry.skip and file.note == extract.storable_note(entry.note)
    if file.skip == Skip.UNREADABLE and not file.note.startswith(extract.GIVEN_UP):
        # Permissions of the folders above also decide whether it can be read, and they leave no mark on the file.
        return file.changed == entry.changed and not os.access(os.path.join(root, entry.path), os.R_OK)
    if file.skip in (Skip.SYMLINK, Skip.SUBMODULE):
        return False
    if file.altered == entry.altered != _UNKNOWN and file.changed == entry.changed and file.inode == entry.inode:
        return True
    return extract.has_digest(root, entry, file.digest)


# --- settings


def settings_metadata(config: Config, linkers: str, left_out: Mapping[str, int]) -> dict[str, str]:
    """Return the metadata to record. Roots and categories affect linking, so they are part of the linkers' version."""
    settings = hashlib.sha256(repr((config.roots, config.categories)).encode()).hexdigest()[:16]
    return {
        "linkers": f"{linkers} {settings}" if config.roots != Config.roots or config.categories else linkers,
        "largest": str(config.largest),
        "categories": json.dumps(config.categories),
        LEFT_OUT: json.dumps(left_out),
    }


def settings_changed(config: Config, meta: Mapping[str, str]) -> Callable[[ListedFile], bool] | None:
    """Return a predicate for unchanged files to read again because of new settings; None if there are none."""
    largest = int(meta.get("largest", Config.largest))
    given = [(pattern, category) for pattern, category in json.loads(meta.get("categories", "[]"))]
    least = min(largest, config.largest)
    before, now = Categories(given), Categories(config.categories)
    is_other = tuple(given) != config.categories
    if largest == config.largest and not is_other:
        return None

    def is_touched(entry: ListedFile) -> bool:
        folder = entry.skip is Skip.SUBMODULE
        if is_other and before.from_settings(entry.path, folder) is not now.from_settings(entry.path, folder):
            return True
        return largest != config.largest and entry.size > least

    return is_touched
