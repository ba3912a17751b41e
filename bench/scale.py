"""`python -m bench scale [REPOSITORY]`: what a build, a shared cache, a packed store and Ray cost, for the model in `docs/scale.md`.

In: a repository (a copy of `tests/sample` by default). Out: a table: processor time, bytes and memory of a cold build, of a build on a
second machine with a shared cache in an S3 server on this machine, of an update after one edit, of `concord pack` and `concord unpack`;
and of a build with Ray and two workers, whose store and book must be the same. Processor time is that of all processes, also of those
that a fork server started, except Ray's, so it varies little on a busy machine.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from bench import damage
from tests.support import s3_server
from tests.support.measure import run
from tests.support.stored import dump

_SUBREAPER = 36  # of prctl(2): processes whose parent has ended become ours
CONCORD = str(Path(sys.executable).parent / "concord")


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _size(folder: Path, pattern: str = "") -> int:
    return sum(path.stat().st_size for path in _files(folder) if pattern in str(path))


def _measure(name: str, *args: str | Path, **env: str) -> tuple[float, str]:
    """Runs the program; prints and returns the processor seconds of all its processes, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run([CONCORD, *map(str, args)], env=env)
    for _ in range(100):
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{name:24} {spent:8.1f} s of processors {done.seconds:8.1f} s by the clock {done.peak / 1e6:8.0f} MB of memory", flush=True)
    return spent, done.output


def _stored(server: s3_server.S3Server, part: str) -> int:
    """The bytes of the objects whose names have a part."""
    return sum(len(data) for name, data in server.objects().items() if part in name)


def _compare_executors(home: Path) -> None:
    """Builds by turns with processes and with Ray, without caches; the stores and the books must be equal."""
    build = ("build", "--yes", "--json", "--jobs", "2")
    for turn in range(2):
        for where, name in (("fourth", "processes"), ("fifth", "ray")):
            shutil.rmtree(home / where / ".concordance", ignore_errors=True)
            cache = {"CONCORDANCE_CACHE": f"{home}/{name}{turn}"}
            _, output = _measure(name, *build, "--executor", name, home / where, **cache)
            seconds = json.loads(output[output.index("{") :])["seconds"]
            print("   ", ", ".join(f"{step} {seconds[step]:.1f} s" for step in ("learn", "extract", "link", "pages")))
    print("the stores are", "the same" if dump(home / "fourth") == dump(home / "fifth") else "DIFFERENT")
    books = [{path.relative_to(folder): path.read_bytes() for path in _files(folder)} for folder in (home / one / ".concordance" / "book" for one in ("fourth", "fifth"))]
    print("the books are", "the same" if books[0] == books[1] else "DIFFERENT")


def main(arguments: list[str]) -> None:
    """Prints the table."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    source = Path(arguments[0]) if arguments else damage.SAMPLE
    with tempfile.TemporaryDirectory(prefix="scale-") as name, ExitStack() as stack:
        home = Path(name)
        for one in ("first", "second", "third", "fourth", "fifth"):
            shutil.copytree(source, home / one, symlinks=True, ignore=shutil.ignore_patterns(".concordance", ".git"))
        server = stack.enter_context(s3_server.running(home))
        shared = {**server.variables, "CONCORDANCE_SHARED_CACHE": f"s3://{s3_server.BUCKET}/scale"}
        build = ("build", "--yes", "--json", "--no-book")
        cold, output = _measure("cold build", *build, home / "first", CONCORDANCE_CACHE=f"{home}/1", **shared)
        summary = json.loads(output[output.index("{") :])
        _, output = _measure("second machine", *build, home / "second", CONCORDANCE_CACHE=f"{home}/2", **shared)
        second = json.loads(output[output.index("{") :])
        before, after = (one["seconds"]["extract"] for one in (summary, second))
        print(f"extract with the shared cache: {before:.1f} s, then {after:.1f} s: {before / after:.1f} times faster; {second['cached']:,} of {second['read']:,} found")
        _measure("no change", *build, home / "second", CONCORDANCE_CACHE=f"{home}/2", **shared)
        edited = max(_files(home / "second"), key=lambda path: path.suffix == ".py" and ".concordance" not in str(path))
        edited.write_text(edited.read_text() + "\n\ndef added() -> None:\n    pass\n")
        _measure("one edit", *build, home / "second", CONCORDANCE_CACHE=f"{home}/2")
        _compare_executors(home)
        pages, _ = _measure("pages", "build", "--yes", "--json", home / "first", CONCORDANCE_CACHE=f"{home}/1")
        _measure("pack", "pack", home / "file", "--repo", home / "first", CONCORDANCE_CACHE=f"{home}/1")
        _measure("unpack", "unpack", home / "file", "--repo", home / "third", "--yes", CONCORDANCE_CACHE=f"{home}/3")
        text, files = summary["bytes"], summary["files"]
        print(f"\n{files:,} files, {text / 1e6:,.1f} MB; per MB of source: {cold / text * 1e6:.2f} s to build, {pages / text * 1e6:.2f} s for pages")
        store = home / "first" / ".concordance"
        sizes = {
            "store": _size(store) - _size(store, "/book/"), "book": _size(store, "/book/"), "cache": _size(home / "1"),
            "shared cache": _stored(server, "/segment/"), "archive": (home / "file").stat().st_size,
        }  # fmt: skip
        for what, size in sizes.items():
            print(f"{what:24} {size / text:8.2f} bytes for a byte of source")
        print(f"{'index of shared cache':24} {_stored(server, '/index/') / files:8.0f} bytes for a file")
        print("seconds by step:", json.dumps({step: round(value, 1) for step, value in summary["seconds"].items()}))
