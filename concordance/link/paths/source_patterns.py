"""Files by the paths and patterns that build files write.

In: all paths of a repository. Out: those that a pattern names. A star stands for one part of a path, two for any
number; where the ledger is large, only what begins like the pattern is looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cache

from concordance.link.paths.tree import above, joined

_HERE = re.compile(r"\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/?|\$\(srctree\)/\$\(src\)/|\$\(src\)/|\./")
_TOP = re.compile(r"\$\{(?:CMAKE|PROJECT|[A-Za-z]\w*)_SOURCE_DIR\}/?|\$\(srctree\)/|\$\{CMAKE_SOURCE_DIR\}/?")
_PART = re.compile(r"\*\*/?|\*|\?|\[[^\]]*\]|[^*?\[]+")


class Paths:
    """All paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._sorted = sorted(paths)
        self._all = frozenset(self._sorted)

    def homes(self, file: str, written: str, marks: tuple[str, ...]) -> tuple[str, list[str]]:
        """What of a word is a path, and the folders that it may be seen from: that of the file, or, behind a variable
        for the top, those above that have a build file."""
        folder = file.rpartition("/")[0]
        here = _HERE.match(written)
        if here:
            return written[here.end() :], [folder]
        top = _TOP.match(written)
        if top:
            found = [home for home in above(folder) if any(f"{home}/{mark}".lstrip("/") in self._all for mark in marks)]
            return written[top.end() :], found[::-1] or [""]
        return written, [folder]

    def file(self, home: str, words: str) -> str:
        """The file at a path; "" where there is none."""
        path = joined(home, words) if words and not words.startswith("/") else None
        return path if path is not None and path in self._all else ""

    def matching(self, home: str, pattern: str, below: bool = False) -> list[str]:
        """The files that a pattern names; `below` also in every folder under its own."""
        whole = joined(home, pattern)
        if whole is None or "$" in whole:
            return []
        start = re.split(r"[*?\[]", whole, maxsplit=1)[0]
        start = start[: start.rfind("/") + 1]
        if below:
            folder, _, name = whole.rpartition("/")
            whole = f"{folder}/**/{name}".lstrip("/")
        fits = _compiled(whole)
        found = []
        for path in self._sorted[bisect_left(self._sorted, start) :]:
            if not path.startswith(start):
                break
            if fits.fullmatch(path):
                found.append(path)
        return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a shell as one of Python's."""
    said = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    parts = (said.get(part, part if part.startswith("[") else re.escape(part)) for part in _PART.findall(pattern))
    return re.compile("".join(parts))
