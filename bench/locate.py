"""How well `concord locate` finds the files and functions that the fix of a bug changed.

In: reports, one JSON object a line (`id`, `repo`, `commit`, `text`, `files`, `patch`), and a folder with clones of
their repositories, named owner+name (`python -m bench locate REPORTS CLONES [SCRATCH]`). Each commit is checked out
below SCRATCH, which keeps the checkouts and their stores for the next run. Out: the rank of every report, and the
shares that have a bar.

A function is changed if the patch changes a line of it; a nested function is found if the function around it is. Reports
whose patch changes no function (a constant, imports) do not count for functions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from concordance.api import Repository

_HUNK = re.compile(r"@@ -(\d+)")


def changed_lines(patch: str) -> Iterator[tuple[str, int]]:
    """Return the lines of the old files that a patch removes, or after which it adds some."""
    path, line, added = "", 0, False
    for row in patch.split("\n"):
        if row.startswith(("--- a/", "--- /dev/null")):
            path = row[6:] if row.startswith("--- a/") else ""
        elif hunk := _HUNK.match(row):
            line, added = int(hunk[1]) - 1, False
        elif row.startswith("-"):
            line, added = line + 1, False
            if path:
                yield path, line
        elif row.startswith("+") and not row.startswith("+++"):
            if not added and line > 0 and path:
                yield path, line
            added = True
        elif row.startswith(" "):
            line, added = line + 1, False


def changed_functions(repository: Repository, patch: str) -> list[set[tuple[str, str]]]:
    """Return, for each function that a patch changes, its name and those of the functions around it."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path, line in changed_lines(patch):
        rows: list[dict[str, Any]] = [row for row in repository.symbols(path) if row["kind"] in ("function", "method", "property")]
        around = [row for row in rows if row["line"] <= line <= row["end_line"]]
        if around:
            names = {(path, str(row["qualified"])) for row in around}
            found[path, str(around[-1]["qualified"])] = names
    return list(found.values())


def check_out(report: dict[str, Any], clones: Path, scratch: Path) -> Path:
    """Check out the files of a report's commit."""
    folder = scratch / report["id"]
    if not folder.exists():
        origin = clones / report["repo"].replace("/", "+")
        origin = origin / "repo" if (origin / "repo").exists() else origin
        subprocess.run(["git", "clone", "-q", "-n", "-s", str(origin), str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "checkout", "-q", report["commit"]], check=True)
    return folder


def place_of(found: list[Any], wanted: list[set[Any]]) -> int:
    """Return the position by which every wanted item is found, from 1; 0 if one is not."""
    places = [first_place(found, names) for names in wanted]
    return max(places) if places and all(places) else 0


def first_place(found: list[Any], names: set[Any]) -> int:
    """Return the position of the first item that has one of some names, from 1; 0 if none has."""
    return next((n for n, one in enumerate(found, 1) if one in names), 0)


def main(args: list[str]) -> None:
    """Print one line for each report, and the shares."""
    reports = [json.loads(line) for line in Path(args[0]).read_text().splitlines()]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(args[2] if args[2:] else temporary)
        files, first, functions, one_function, seconds = [], [], [], [], []
        for report in reports:
            with Repository(check_out(report, Path(args[1]), scratch)) as repository:
                began = time.process_time()
                rows = repository.locate(report["text"])
                seconds.append(time.process_time() - began)
                wanted = changed_functions(repository, report["patch"])
            paths = list(dict.fromkeys(row["path"] for row in rows))
            files.append(place_of(paths, [{path} for path in report["files"]]))
            first.append(paths[:1] and paths[0] in report["files"])
            named = [(row["path"], row["symbol"]) for row in rows if row["kind"] != "file"]
            functions += [place_of(named, wanted)] if wanted else []
            one_function += [first_place(named, set().union(*wanted))] if wanted else []
            print(f"{report['id']:32} file {files[-1] or '–':>2}  function {functions[-1] or '–' if wanted else 'none':>4}", flush=True)
    print(f"\n| {len(reports)} reports | bar | measured |\n|---|---|---|")
    print(f"| every changed file among the first 5 | >= 0.88 | {sum(0 < one <= 5 for one in files) / len(files):.2f} |")
    print(f"| a changed file first | >= 0.60 | {sum(map(bool, first)) / len(first):.2f} |")
    print(f"| every changed function among the first 10 ({len(functions)}) | >= 0.60 | {sum(0 < one <= 10 for one in functions) / len(functions):.2f} |")
    print(f"| a changed function among the first 10 ({len(functions)}) | >= 0.60 | {sum(0 < one <= 10 for one in one_function) / len(functions):.2f} |")
    print(f"| processor time, median | | {1000 * sorted(seconds)[len(seconds) // 2]:.0f} ms |")


if __name__ == "__main__":
    main(sys.argv[1:])
