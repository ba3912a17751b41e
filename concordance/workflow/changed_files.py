"""Which files have changed since the last build.

In: the entries of a walk, and the ledger of the last build. Out: the entries to be read again, and the ledger's lines
of those that have other times but the same content.

As git does, a file is taken for unchanged where its size, modification time, change time and inode are the same. Nobody
can set the change time, so an edit that keeps size and modification time is seen. Where only the times or the inode
differ (a checkout, a restored cache, a copy, `touch`), or say nothing, the file's digest decides: hashing is a hundred
times cheaper than to read and link it again. Times say nothing of a file that was changed just before the walk, for it
may have been changed again within the clock's grain, nor where all files have the same ones.
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

LEFT_OUT = "left_out"  # the note that says how many files each pattern left out
GRAIN = 2_000_000_000  # nanoseconds: no file system has coarser times
_UNKNOWN = -1  # a change time that is equal to none


def with_known_times(entries: list[ListedFile], walked: int) -> list[ListedFile]:
    """The entries, without the change times that say nothing; the walk did not begin before `walked` (nanoseconds)."""
    times = ((entry.changed, entry.altered) for entry in entries if entry.skip is Skip.NONE)
    first = next(times, None)
    alike = len(entries) > 1 and all(one == first for one in times)
    late = walked - GRAIN
    return [
        entry._replace(altered=_UNKNOWN) if entry.altered and (alike or entry.altered >= late) else entry
        for entry in entries
    ]


def delta(
    root: str, entries: Iterable[ListedFile], files: Mapping[str, File], touched: Callable[[ListedFile], bool] | None
) -> tuple[list[ListedFile], dict[str, File]]:
    """The entries that have changed, or that `touched` says must be read again; and the lines of the ledger, by path,
    whose times are others though the content is the same."""
    changed, renewed = [], {}
    for entry in entries:
        file = files.get(entry.path)
        if file is None or (touched is not None and touched(entry)) or not _is_same(root, file, entry):
            changed.append(entry)
        elif file.altered != entry.altered or file.changed != entry.changed or file.inode != entry.inode:
            renewed[entry.path] = file._replace(changed=entry.changed, altered=entry.altered, inode=entry.inode)
    return changed, renewed


def _is_same(root: str, file: File, entry: ListedFile) -> bool:
    """Whether a file is as it was by its status or content, a link or submodule by where it points."""
    if file.size != entry.size:
        return False
    if entry.skip is not Skip.NONE:
        return file.skip == entry.skip and file.note == extract.as_text(entry.note)
    if file.skip == Skip.UNREADABLE and not file.note.startswith(extract.GIVEN_UP):
        # Whether it may be read is also decided by the folders above it, which leaves no mark on it.
        return file.changed == entry.changed and not os.access(os.path.join(root, entry.path), os.R_OK)
    if file.skip in (Skip.SYMLINK, Skip.SUBMODULE):
        return False
    if file.altered == entry.altered != _UNKNOWN and file.changed == entry.changed and file.inode == entry.inode:
        return True
    return extract.is_still(root, entry, file.digest)


# ---
# What a store notes of the settings that it was made by, so that the next build knows what others touch.
#
# In: a `Config`. Out: rows of the store's notes; and, by the notes of the last build, which files must be read again.
# What only pages depend on is no matter of the store: a book notes its own wishes.


def notes(config: Config, linkers: str, left_out: Mapping[str, int]) -> dict[str, str]:
    """What is noted. Roots and categories decide where names lead: where they are others, so are the linkers."""
    told = hashlib.sha256(repr((config.roots, config.categories)).encode()).hexdigest()[:16]
    return {
        "linkers": f"{linkers} {told}" if config.roots != Config.roots or config.categories else linkers,
        "largest": str(config.largest),
        "categories": json.dumps(config.categories),
        LEFT_OUT: json.dumps(left_out),
    }


def settings_changed(config: Config, meta: Mapping[str, str]) -> Callable[[ListedFile], bool] | None:
    """Whether an unchanged file is to be read again by these settings, by its entry; None where no file is."""
    largest = int(meta.get("largest", Config.largest))
    given = [(pattern, category) for pattern, category in json.loads(meta.get("categories", "[]"))]
    least = min(largest, config.largest)
    before, now = Categories(given), Categories(config.categories)
    is_other = tuple(given) != config.categories
    if largest == config.largest and not is_other:
        return None

    def is_touched(entry: ListedFile) -> bool:
        folder = entry.skip is Skip.SUBMODULE
        if is_other and before.given(entry.path, folder) is not now.given(entry.path, folder):
            return True
        return largest != config.largest and entry.size > least

    return is_touched
