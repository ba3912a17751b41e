"""`python -m bench diff [CHECKOUT]`: how long `concord diff` takes between two revisions a hundred files apart.

In: a checkout with a commit (default `$CORPUS/pytorch`). Out: a line of the table, and the edits that were missed. The
work is done in a clone: a hundred files are edited with a fixed seed (a function added, moved, renamed or removed, a
parameter added, a body changed, a file renamed) and committed; the store is built, and both revisions are compared once
so that facts are cached. Then it is measured. Each edit is looked for in the answer.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import measure

CONCORD = str(Path(sys.executable).parent / "concord")
COUNT, BAR, SEED = 100, 5.0, 1
_DEFINED = re.compile(r"^def (\w+)\((.*?)\)(?: ->[^:\n]*)?:\n((?:(?:    .*)?\n)+)", re.M)
_LONG = 150  # characters of a function that is moved or renamed: of shorter ones nobody could be sure
_WHO = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
Row = dict[str, Any]


class Edit(NamedTuple):
    """An edit of a file, and the row of the answer that reports it."""

    change: str
    path: str
    name: str


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *_WHO, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


def edit(folder: Path) -> list[Edit]:
    """Edit a hundred files, and commit them."""
    draw = random.Random(SEED)
    listed = git(folder, "ls-files", "-z", "*.py").split("\0")[:-1]
    paths = [path for path in listed if (folder / path).is_file() and _functions(folder / path)]
    moved: list[str] = []
    edits = [
        _edit(folder, path, number, draw, moved) for number, path in enumerate(draw.sample(sorted(paths), COUNT - 1))
    ]
    (folder / "moved_here.py").write_text("\n\n".join(moved))
    git(folder, "add", "-A", "--", "*.py")
    git(folder, "commit", "-q", "--no-verify", "-m", "a hundred edits")
    return edits


def _functions(path: Path) -> list[re.Match[str]]:
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return []
    found = list(_DEFINED.finditer(text))
    names = [one[1] for one in found]
    return [one for one in found if len(one[0]) >= _LONG and names.count(one[1]) == 1]


def _edit(folder: Path, path: str, number: int, draw: random.Random, moved: list[str]) -> Edit:
    file = folder / path
    text, one = file.read_text(), draw.choice(_functions(file))
    kind = ("added", "moved", "renamed", "removed", "signature", "body", "file")[number % 7]
    if kind == "file":
        new = file.with_name(f"renamed_{file.name}")
        file.rename(new)
        return Edit("renamed", str(new.relative_to(folder)), "")
    before, inside, after = text[: one.start()], one[0], text[one.end() :]
    if kind == "added":
        after += f"\n\ndef added_{number}(x, y=1):\n    return x + y\n"
    elif kind in ("moved", "removed"):
        inside = ""
    elif kind == "renamed":
        inside = inside.replace(f"def {one[1]}(", f"def renamed_{one[1]}(", 1)
    elif kind == "signature":
        inside = inside.replace(f"def {one[1]}(", f"def {one[1]}(extra, ", 1)
    else:
        inside = inside.rstrip("\n") + "\n    pass  # more\n\n"
    file.write_text(before + inside + after)
    if kind == "moved":
        moved.append(one[0])
    name = f"added_{number}" if kind == "added" else f"renamed_{one[1]}" if kind == "renamed" else one[1]
    return Edit(kind, "moved_here.py" if kind == "moved" else path, name)


def missed(edits: list[Edit], rows: list[Row]) -> list[Edit]:
    """Return the edits that the answer does not report."""
    said = {(row["change"], row["path"], row["qualified"]) for row in rows}
    return [one for one in edits if tuple(one) not in said]


def run(checkout: Path, row: Callable[[str, str, str], None]) -> None:
    """Measure, and print a line."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "clone")
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", f"file://{checkout.resolve()}", folder], check=True)
        edits = edit(folder)
        env = {"CONCORDANCE_CACHE": os.path.join(scratch, "cache")}
        measure.run([CONCORD, "build", str(folder), "--no-book"], env=env)
        answer = Path(scratch, "answer.json")  # longer than a pipe holds that is read at the end
        asked = ["sh", "-c", 'exec "$0" diff HEAD~1 HEAD --repo "$1" --json > "$2"', CONCORD, str(folder), str(answer)]
        measure.run(asked, env=env)
        runs = [measure.run(asked, env=env) for _ in range(3)]
        rows: list[Row] = json.loads(answer.read_text())
        lost = missed(edits, rows)
    fastest = min(one.seconds for one in runs)
    row(
        f"{checkout.name}, diff of two revisions {COUNT} files apart, facts cached", f"<= {BAR:.0f} s",
        f"{fastest:.2f} s, {max(one.peak for one in runs) / 2**20:.0f} MiB; {len(edits) - len(lost)} of {len(edits)} edits "
        f"named in {len(rows):,} rows",
    )  # fmt: skip
    for one in lost:
        print(f"    missed: {one.change} {one.name} in {one.path}")
