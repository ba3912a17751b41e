"""Which lines of the work tree differ from the last commit.

In: a repository's folder. Out: by path, the stretches of lines that were changed or added, as they are now; where lines
were only taken out, the line before. A file that git does not know yet is changed as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from . import tools

Stretch = tuple[int, int]  # the first and the last line

_WHOLE = (1, 1 << 30)
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_DIFF = ("-c", "core.quotePath=false", "diff", "-U0", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames",
         "--relative", "--src-prefix=a/", "--dst-prefix=b/", "HEAD", "--")  # fmt: skip


def changed_lines(root: str) -> dict[str, list[Stretch]]:
    """The changed lines of each file; ToolFailed where the folder has no commit to compare with."""
    found: dict[str, list[Stretch]] = {}
    path, skipped = "", 0
    for line in _lines(tools.run_git(root, *_DIFF)):
        hunk = _HUNK.match(line)
        if skipped and not line.startswith(b"\\"):  # "\ No newline at end of file" is no line of the file
            skipped -= 1
        elif line.startswith(b"+++ "):
            path = _path(line[4:])
        elif hunk is not None:
            gone, first, here = (int(part or 1) for part in hunk.groups())
            skipped = gone + here
            if path:
                first = max(1, first)  # 0 where the lines were taken out before the first
                found.setdefault(path, []).append((first, max(first, first + here - 1)))
    for name in b"".join(tools.run_git(root, "ls-files", "-z", "--others", "--exclude-standard")).split(b"\0"):
        if name:
            found[os.fsdecode(name)] = [_WHOLE]
    return found


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def _path(said: bytes) -> str:
    """The path in a diff's header; "" where the file is gone."""
    said = said.removesuffix(b"\t")
    if said.startswith(b'"') and said.endswith(b'"'):
        said = re.sub(rb"\\([0-7]{3}|.)", _unescaped, said[1:-1])
    return os.fsdecode(said[2:]) if said.startswith(b"b/") else ""


_ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def _unescaped(match: re.Match[bytes]) -> bytes:
    one = match.group(1)
    return bytes([int(one, 8)]) if len(one) == 3 else _ESCAPES.get(one, one)

