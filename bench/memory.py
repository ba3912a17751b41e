"""What a build takes of memory: all processes together, stage by stage.

In: a repository, optionally a folder for its store and book (a temporary one by default), and optionally `--no-book`. Out: for each stage of a
build without a store its wall time, the peak of all processes together, and how this peak is divided between the build
itself and each of its other processes.

Memory is the proportional set size: a page that two processes share counts half in each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support.measure import memory_of, process_tree

_INTERVAL = 0.5  # seconds between two samples; one takes about 30 ms per gigabyte of a process
_CHILD = "--build"


class Peak(NamedTuple):
    """The largest sum of one stage."""

    total: int
    processes: tuple[int, ...]  # the build itself first


def main(arguments: list[str]) -> None:
    """Builds a repository, and prints its memory by stage."""
    with_book = "--no-book" not in arguments
    root, *where = [one for one in arguments if one != "--no-book"]
    if where:
        measure(root, where[0], with_book)
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(root, folder, with_book)


def measure(root: str, folder: str, with_book: bool) -> None:
    """Builds a repository into a folder, and prints its memory by stage."""
    store, out = str(Path(folder, "store")), str(Path(folder, "book")) if with_book else ""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.memory", _CHILD, root, store, out, str(theirs)], pass_fds=[theirs]
    )
    os.close(theirs)
    print("| stage | until | all processes | the build itself, and the others |\n|---|---|---|---|", flush=True)
    stage, peak, words = "start", Peak(0, ()), b""
    while process.poll() is None:
        sizes = [memory_of(pid) for pid in process_tree(process.pid)]
        peak = max(peak, Peak(sum(sizes), (sizes[0], *sorted(sizes[1:], reverse=True))))
        with suppress(BlockingIOError):
            words += os.read(ours, 4096)
        *names, words = words.split(b"\n")
        for name in names:
            if name.decode() != stage:
                _print_row(stage, time.perf_counter() - began, peak)
                stage, peak = name.decode(), Peak(0, ())
        time.sleep(_INTERVAL)
    _print_row(stage, time.perf_counter() - began, peak)
    if process.returncode:
        sys.exit(process.returncode)


def _print_row(stage: str, seconds: float, peak: Peak) -> None:
    parts = " + ".join(f"{size / 1e6:,.0f}" for size in peak.processes if size > 1e6)
    print(f"| {stage} | {seconds:,.0f} s | {peak.total / 1e6:,.0f} MB | {parts} |", flush=True)


def _build(root: str, store: str, out: str, reports: int) -> None:
    """Build as `concord build` does, and report each stage when it begins."""
    from concordance.base import startup

    startup.harden()
    from concordance.workflow import builds, store_location, store_update

    last = [""]

    def report(stage: str, done: int, total: int, message: str) -> None:
        if stage == "say":
            print(f"    {message}", flush=True)
        elif stage != last[0]:
            last[0] = stage
            os.write(reports, f"{stage}\n".encode())

    store_location.use_store(store)
    if out:
        summary, book = builds.write_book(root, out, jobs=2, progress=report)
        print(f"    {book.pages:,} pages, {book.bytes / 1e6:,.0f} MB", flush=True)
    else:
        summary = store_update.build(root, 2, report)
    seconds = ", ".join(f"{name} {spent:.0f}" for name, spent in summary.seconds.items())
    print(f"    {summary.files:,} files; seconds: {seconds}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == _CHILD:
        _build(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main(sys.argv[1:])
