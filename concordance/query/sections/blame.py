"""Where the lines of a source come from.

In: a path of the store. Out: its lines by commits, or why there are none. Only a file that is still as the store knows
it is asked about: lines are counted on a page that was made of the store.
"""

from __future__ import annotations

import hashlib

from concordance.base.errors import Unreadable
from concordance.base.model import Entry, Skip
from concordance.collect import walk
from concordance.collect.blame import Blame, blame
from concordance.query.index.repository import Index


def blamed(index: Index, path: str) -> Blame:
    """The lines of a file by commits."""
    opened = index.opened(path)
    file, lines = opened.file, opened.lines()
    if file.skip != Skip.NONE:
        return Blame(note="the file is not shown")
    try:
        data = walk.read(index.root, Entry(path, file.size, file.changed))
    except (OSError, Unreadable):
        data = b""
    if lines is None or hashlib.sha256(data).hexdigest() != file.digest:
        return Blame(note="the file has changed since it was read")
    found = blame(index.root, path, data)
    if not found.note and sum(count for count, _ in found.ranges) != len(lines):
        return Blame(note="its lines do not end where git's do")
    return found
