"""Which lines of the work tree differ from the last commit.

In: a repository's folder. Out: by path, the stretches of lines that were changed or added, as they are now; where lines
were only taken out, the line before. A file that git does not know yet is changed as a whole. Git is asked for what was
committed and not to compare: for that it would run the filters that a repository's settings name.
"""

from __future__ import annotations

from contextlib import closing, suppress

from concordance.base.config import Config
from concordance.base.errors import Unreadable
from concordance.base.model import Skip
from concordance.collect import walk
from concordance.collect.line_diff import aligned
from concordance.collect.revisions import Blobs, sides

Stretch = tuple[int, int]  # the first and the last line

_WHOLE = (1, 1 << 30)


def changed_lines(root: str) -> dict[str, list[Stretch]]:
    """The changed lines of each file; UserError where the folder has no commit to compare with."""
    before, now, _ = sides(root, ("HEAD",), Config())
    found: dict[str, list[Stretch]] = {}
    with closing(Blobs(root)) as blobs:
        for path, entry in now.entries.items():
            was = before.entries.get(path)
            if was is None or was.skip is not entry.skip:
                found[path] = [_WHOLE]
            elif was.blob != entry.blob and entry.skip is Skip.NONE:
                with suppress(Unreadable):
                    stretches = _stretches(_lines(blobs.get(was.blob)), _lines(walk.read(root, entry)))
                    found.update({path: stretches} if stretches else {})
    return found


def _lines(data: bytes) -> list[bytes]:
    """Lines without their ends, which git may have changed when it laid the file out."""
    lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    return lines if lines[-1] else lines[:-1]


def _stretches(old: list[bytes], new: list[bytes]) -> list[Stretch]:
    found: list[Stretch] = []
    last, first = -1, 0  # the old line that the one before is, and the first of those since that are none
    for number, place in enumerate([*aligned(old, new), len(old)], 1):
        if place < 0:
            first = first or number
            continue
        if first:
            found.append((first, number - 1))
        elif place > last + 1:  # lines were only taken out
            found.append((max(1, number - 1), max(1, number - 1)))
        last, first = place, 0
    return found
