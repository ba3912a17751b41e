"""Runs a command and measures its time, and the memory of all its processes together.

Memory is the sum of the processes' proportional set sizes, sampled while the command runs: a page that two of them
share counts once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import NamedTuple


class Measured(NamedTuple):
    """One run."""

    seconds: float
    peak: int  # bytes
    output: str


def run(command: list[str], cwd: str | None = None, env: dict[str, str] | None = None) -> Measured:
    """Run a command to its end."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    peak, running = 0, True
    while running:
        peak = max(peak, sum(map(memory_of, process_tree(process.pid))))
        try:
            process.wait(0.1)
            running = False
        except subprocess.TimeoutExpired:
            continue
    seconds = time.perf_counter() - began
    output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{output}")
    return Measured(seconds, peak, output)


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for one in found:
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children") as file:
                    found += [int(child) for child in file.read().split()]
        except OSError:
            continue
    return found


def memory_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)
    except (OSError, ValueError):
        return 0


def row(what: str, bar: str, measured: str) -> None:
    """Print one line of a table of measurements."""
    print(f"| {what} | {bar} | {measured} |", flush=True)
