"""Bug reports from the history of repositories, for `python -m bench locate`: reports that no weight was chosen on.

In: clones with their history, named owner+name (`python -m bench reports COUNT CLONE...`). Out: one JSON object a line, as
`bench locate` reads it, at most COUNT of each clone, drawn at random. A commit counts as a fix with a report if its
message quotes an error, a trace or a failed assertion, and it changes one or two source files that were there before.
Such a message is shorter than a report, and may also say what was done.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_QUOTES_AN_ERROR = re.compile(
    r'File "[^"]+", line \d+|^\s*\w*(?:Error|Exception): \S|#\d+\s+0x[0-9a-f]+ in \w+|Assertion [\'`].*[\'`] failed'
    r"|runtime error: |^\s*panic: |panicked at|--- FAIL: |^\s*(?:error|fatal): \S",
    re.M,
)
_MEASURED = re.compile(r"ns/op|old time/op|^Before:", re.M)  # a change of speed or looks, not of a fault
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by|Fixes|Closes|Resolves|Follow-up for|Release note)\b.*$", re.M)
_TEST = re.compile(r"(?:^|/)(?:tests?|testsuite|testdata|t|man)/|_test\.|test[-_]|fuzz")
_SOURCE = re.compile(r"\.(?:py|c|h|cc|cpp|hpp|go|rs|java|js|ts)$")
_SHORTEST = 200  # letters of a message
_MOST_FILES = 2
_COMMITS = 25_000  # that are looked at, the newest first


def git(clone: Path, *args: str) -> str:
    """Return the output of git."""
    return subprocess.run(["git", "-C", str(clone), *args], capture_output=True, text=True, errors="replace", check=False).stdout


def reports_of(clone: Path, count: int) -> Iterator[dict[str, Any]]:
    """Return the reports of one clone."""
    log = git(clone, "log", "--no-merges", "--format=%x01%H%x02%P%x02%B%x02", "--name-only", "-n", str(_COMMITS))
    found = []
    for commit in log.split("\x01")[1:]:
        identity, parent, message, names = commit.split("\x02", 3)
        files = [name for name in names.split("\n") if _SOURCE.search(name) and not _TEST.search(name)]
        if parent and len(message) >= _SHORTEST and 1 <= len(files) <= _MOST_FILES and _QUOTES_AN_ERROR.search(message) and not _MEASURED.search(message):
            found.append((identity, parent, message, files))
    random.Random(7).shuffle(found)
    owner, _, name = (clone.parent if clone.name == "repo" else clone).name.partition("+")
    for identity, parent, message, files in found:
        old = git(clone, "ls-tree", "--name-only", "-r", parent, "--", *files).split("\n")
        patch = git(clone, "diff", parent, identity, "--", *files)
        if count and set(files) <= set(old) and patch:
            count -= 1
            text = _TRAILER.sub("", message).strip()
            yield {"id": f"{name}-{identity[:8]}", "repo": f"{owner}/{name}", "commit": parent, "text": text, "files": files, "patch": patch}


def main(args: list[str]) -> None:
    """Print the reports."""
    for clone in args[1:]:
        for report in reports_of(Path(clone), int(args[0])):
            print(json.dumps(report))


if __name__ == "__main__":
    main(sys.argv[1:])
