"""How the cost of a build grows with one dimension of a repository: functions in a file, files in a folder, links in a chain.

In: optionally names of shapes (all by default), and `--size N` (1,000 by default). Out: for each shape the processor time of a build
with N and with 4 N of it, less that of an empty repository, and the exponent: 1 is in proportion, 2 is the square. A
shape above 1.4 that takes more than a second is marked; generated and vendored files really have such shapes.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.growth import SHAPES

CONCORD = str(Path(sys.executable).parent / "concord")
_TIMEOUT = 600
_BAR = 1.4


def main(arguments: list[str]) -> None:
    size = 1000
    if "--size" in arguments:
        place = arguments.index("--size")
        size = int(arguments[place + 1])
        del arguments[place : place + 2]
    nothing = seconds({"a.py": "x = 1\n"})
    print(f"| shape | {size:,} | {4 * size:,} | exponent |\n|---|---|---|---|", flush=True)
    for name in arguments or SHAPES:
        small, large = (max(0.05, seconds(SHAPES[name](count)) - nothing) for count in (size, 4 * size))
        exponent = math.log(large / small, 4)
        mark = " **" if exponent > _BAR and large > 1 else ""
        print(f"| {name} | {small:.2f} s | {large:.2f} s | {exponent:.2f}{mark} |", flush=True)


def seconds(files: Mapping[str, str]) -> float:
    """Return the processor time of a first build of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "repo")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        env = {**os.environ, "CONCORDANCE_CACHE": str(Path(folder, "cache"))}
        try:
            subprocess.run([CONCORD, "build", root, "--jobs", "1"], env=env, check=True, capture_output=True, timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            return math.inf
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
