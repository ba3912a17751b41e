"""Kills a run of the program at a chosen moment, as a power cut, a full disk or `kill -9` would.

In: a point (see `POINTS`) and the words of a command. The whole process group is killed there, including workers.
"""

from __future__ import annotations

import errno
import importlib
import multiprocessing
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from concordance.facts.fulltext.index import TextWriter
from tests.support import program


class Point(NamedTuple):
    """A moment of a run: the n-th call of a function whose arguments, or the beginning of the file that the first of
    them names, match a pattern."""

    function: str
    call: int = 1
    fits: str = ""
    after: bool = False  # it is let run before the end comes
    full: bool = False  # the disk is full, instead


LIST = r"manifest\.json'.*counts"  # the last one: what is written before the first page counts nothing
POINTS = {
    "files are read": Point("concordance.facts.cache:Cache.put", after=True),
    "files are put into the store": Point("concordance.facts.write:StoreWriter.put", after=True),
    "the index says what it will change": Point("concordance.facts.fulltext.index:_write_note", after=True),
    "one part of the index is written": Point("concordance.facts.fulltext.index:commit", 1, after=True),
    "three parts of the index are written": Point("concordance.facts.fulltext.index:commit", 3, after=True),
    "the index is written": Point("concordance.facts.fulltext.index:TextWriter.finish", after=True),
    "all but the store is written": Point("concordance.facts.write:StoreWriter.commit"),
    "the store would be renamed": Point("os:replace", 1, r"index\.db"),
    "the store is written": Point("concordance.facts.write:StoreWriter.commit", after=True),
    "the index would be placed": Point("os:rename", 1, r"text\.\d+\.new"),
    "the index is placed": Point("concordance.facts.fulltext.index:TextWriter.place_it", after=True),
    "the first page would be renamed": Point("os:rename", 1, r"_docs\.md'"),
    "a page is there without its claims": Point("os:rename", 4, r"_docs\.(md|html)'", after=True),
    "claims are there": Point("os:rename", 7, r"\.md\.json'", after=True),
    "pages that are gone are taken away": Point("os:unlink", 1, r"gone\.py_docs\.md'", after=True),
    "the list of pages would be renamed": Point("os:rename", 1, LIST),
    "the list of pages is written": Point("os:rename", 1, LIST, after=True),
    "the notes of pages would be renamed": Point("os:replace", 1, r"pages-\w+\.db'"),
    "the disk is full for a page": Point("os:rename", 5, r"_docs\.md'", full=True),
    "the disk is full for the store": Point("concordance.facts.write:StoreWriter._insert_files", full=True),
    "the disk is full for the list of pages": Point("os:rename", 1, LIST, full=True),
}


def stopped(point: str, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command and kill it at a point."""
    return program.concord(*args, code=None, killed_at=point)


def kill_at(name: str) -> None:
    """Have this process killed at a point."""
    point = POINTS[name]
    if point.function.endswith(":commit"):
        _count_commits(point)
        return
    name, _, path = point.function.partition(":")
    owner: Any = importlib.import_module(name)
    *outer, last = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    setattr(owner, last, _stopping(getattr(owner, last), point))


def _stopping(run: Callable[..., Any], point: Point) -> Callable[..., Any]:
    left = multiprocessing.Value("i", point.call)  # pages are written by several processes: their calls count together

    def fits(args: tuple[Any, ...], more: dict[str, Any]) -> bool:
        said = repr(args)
        at = more.get("src_dir_fd")  # of a file in a folder that is confined
        if args and isinstance(args[0], str) and (at is not None or os.path.isfile(args[0])):
            with open(args[0], "rb", opener=lambda path, flags: os.open(path, flags, dir_fd=at)) as file:
                said += repr(file.read(200))
        return re.search(point.fits, said) is not None

    def stopping(*args: Any, **more: Any) -> Any:
        if not fits(args, more):
            return run(*args, **more)
        with left.get_lock():
            left.value -= 1
            is_the_one = left.value == 0
        if not is_the_one:
            return run(*args, **more)
        if point.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        if point.after:
            run(*args, **more)
        os.killpg(0, signal.SIGKILL)
        return None

    return stopping


class _Counted:
    """A writer of the index that counts its commits."""

    def __init__(self, writer: Any, commit: Callable[[Any], None]) -> None:
        self._writer, self._commit = writer, commit

    def commit(self) -> None:
        self._commit(self._writer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def _count_commits(point: Point) -> None:
    finish = TextWriter.finish
    commit = _stopping(lambda writer: writer.commit(), point)

    def counted(self: TextWriter, store: str) -> None:
        self._writers = {home: _Counted(writer, commit) for home, writer in self._writers.items()}  # type: ignore[misc]
        finish(self, store)

    TextWriter.finish = counted  # type: ignore[method-assign]

