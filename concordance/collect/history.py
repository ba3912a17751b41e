"""Reads the history of a repository's files from one run of `git log`.

In: a folder. Out: for each file how often, by whom and when it was changed, and which files were changed in the same
commits. Deleted files are included: the result depends only on the commit, `.mailmap` and the depth of the clone
(`history_key`), so it stays valid whatever else is deleted or restored in the work tree before the next commit.

Merges are left out, because the changes they bring were already counted. Times are commit times, that is, when a change
came into this history; authors are named according to `.mailmap`. The log runs from new to old, so a rename is read
before the commits that use the old name, and those count for the current path. If git lacks contents (a partial clone),
renames are followed only if the content stayed the same.

Files that changed together are counted from the file lists of the commits, after all commits were read: counting pairs
while reading would keep tens of millions of them in memory. Commits that touch many files say little about any two of
them, and are left out of that count.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from time import gmtime, strftime
from typing import NamedTuple

from concordance.base import confined_folder
from concordance.base.errors import ToolFailed, ToolStopped
from concordance.base.model import FileHistory
from concordance.collect import subprocesses

NO_GIT = "no git history"  # the note of a folder that is not a git work tree
_MOST_FILES = 30  # maximum files of a commit that counts as evidence of files belonging together
_MOST_TOGETHER = 30  # files to keep for each file; some of them may be deleted
_LEAST_TOGETHER = 2  # minimum number of commits that two files must share
_LATEST = 253_402_300_799  # the end of the year 9999: a commit can claim any time
_HEADER = b"\x01"
_LOG = (
    "log",
    "--no-merges",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--encoding=UTF-8",
    "--relative",
    "-z",
    "--name-status",
    "-l1000",
    "--format=tformat:%x01%ct %aN",
)


class History(NamedTuple):
    """The history of all files, from git."""

    changes: tuple[FileHistory, ...] = ()  # of all files with a history, sorted by the bytes of their paths
    commits: int = 0
    note: str = ""  # its limits: a shallow clone, no repository
    months: tuple[tuple[str, int], ...] = ()  # commits per month that has any, as `2026-11`, in order


class _Commit(NamedTuple):
    time: int
    author: str
    changes: list[tuple[bytes, bytes]]  # path and previous path of each file; the latter is empty if unchanged


class _Record:
    """The history of one file while the log is read."""

    __slots__ = ("authors", "commits", "first", "last", "telling")

    def __init__(self) -> None:
        self.commits = self.first = self.last = 0
        self.authors: dict[str, int] = {}
        self.telling: list[tuple[int, ...]] = []  # the files of each commit that is small enough to count as evidence

    def add(self, commit: _Commit) -> None:
        self.commits += 1
        self.first = min(self.first, commit.time) if self.first else commit.time
        self.last = max(self.last, commit.time)
        self.authors[commit.author] = self.authors.get(commit.author, 0) + 1


class HistoryReader:
    """Reads the history in a thread, so that git runs while the caller does something else."""

    def __init__(self, root: str) -> None:
        self._programs = subprocesses.ProgramGroup()
        self._thread = ThreadPoolExecutor(1)
        self._history = self._thread.submit(history, root, self._programs)

    def result(self) -> History:
        """Wait for the history; the thread has then ended."""
        history = self._history.result()
        self._thread.shutdown()
        return history

    def close(self) -> None:
        """Stop git if it is still running, and end the thread."""
        self._programs.stop()
        self._thread.shutdown()


def history(root: str, programs: subprocesses.ProgramGroup | None = None) -> History:
    """Return the history of all files; paths are relative to `root`. Another thread can stop git through `programs`."""
    git = partial(subprocesses.run_git, root, group=programs)
    try:
        asked = b"".join(git("rev-parse", "--is-shallow-repository", "--show-prefix", "HEAD"))
    except ToolStopped:
        raise
    except ToolFailed:
        return History(note=NO_GIT)
    shallow, prefix, _ = asked.split(b"\n", 2)
    below = ("--full-history", "--", ".") if prefix else ()
    notes = ["a shallow clone: only its newest commits are known"] if shallow == b"true" else []
    try:
        times, records = _read(_commits(git(*_LOG, "-M", *below)))
    except ToolStopped:
        raise
    except ToolFailed:
        times, records = _read(_commits(git(*_LOG, "-M100%", *below)))
        notes.append("git lacks some contents: renames with edits are not followed")
    names = [os.fsdecode(path) for path in records]
    changes = [_change(place, record, names) for place, record in enumerate(records.values())]
    changes.sort(key=lambda change: os.fsencode(change.path))
    return History(tuple(changes), len(times), "; ".join(notes), _months(times))


def _commits(pieces: Iterable[bytes]) -> Iterator[_Commit]:
    """Yield the commits in git's output: a header, then a status and one or two paths for each file.

    Only the position of a token tells what it is, because a path may contain any byte but NUL.
    """
    tokens = _tokens(pieces)
    commit = None
    for token in tokens:
        status = token.removeprefix(b"\n")
        if status.startswith(_HEADER):
            if commit is not None:
                yield commit
            time, _, author = status[1:].partition(b" ")
            seconds = min(int(time), _LATEST) if time.isdigit() else 0
            commit = _Commit(seconds, author.decode("utf-8", "replace"), [])
        elif commit is not None:
            before = next(tokens, b"") if status[:1] in (b"R", b"C") else b""
            commit.changes.append((next(tokens, b""), before))
    if commit is not None:
        yield commit


def _tokens(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _months(times: Iterable[int]) -> tuple[tuple[str, int], ...]:
    """Return how many of the times fall into each month."""
    counts = Counter(strftime("%Y-%m", gmtime(time)) for time in times)
    return tuple(sorted(counts.items()))


def _read(commits: Iterable[_Commit]) -> tuple[list[int], dict[bytes, _Record]]:
    """Return the times of all commits, and a record for each file, by its current path."""
    records: dict[bytes, _Record] = {}
    places: dict[bytes, int] = {}  # index of a path's record
    present: dict[bytes, bytes] = {}  # current path of a file, by its path in older commits
    times = []
    for commit in commits:
        times.append(commit.time)
        touched: list[_Record] = []
        together: list[int] = []
        renamed: list[tuple[bytes, bytes]] = []
        for path, before in commit.changes:
            now = present.get(path, path)
            if before:
                renamed.append((before, now))
            record = records.get(now)
            if record is None:
                places[now] = len(places)
                record = records[now] = _Record()
            record.add(commit)
            touched.append(record)
            together.append(places[now])
        present.update(renamed)  # only now: all paths within a commit are from the same time
        if 1 < len(touched) <= _MOST_FILES:
            telling = tuple(together)
            for record in touched:
                record.telling.append(telling)
    return times, records


def _change(place: int, record: _Record, names: list[str]) -> FileHistory:
    counts = Counter(chain.from_iterable(record.telling))
    del counts[place]
    together = sorted((-count, names[other]) for other, count in counts.items() if count >= _LEAST_TOGETHER)[
        :_MOST_TOGETHER
    ]
    return FileHistory(
        names[place],
        record.commits,
        tuple(sorted(record.authors.items(), key=lambda row: (-row[1], row[0]))),
        record.first,
        record.last,
        tuple((path, -count) for count, path in together),
    )


def history_key(root: str) -> str:
    """Return what the history depends on: the current commit, and digests of `.mailmap` and of where the clone ends."""
    head = head_commit(root)
    files = [digest for path in subprocesses.history_files(root) if (digest := _digest(path))]
    return " ".join([head, *files])


def _digest(path: str) -> str:
    """Return the digest of a file; "" if there is none."""
    try:
        with confined_folder.open_regular_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def head_commit(root: str) -> str:
    """Return the current commit of a work tree; "" if there is none."""
    try:
        return b"".join(subprocesses.run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")).decode().strip()
    except ToolStopped:
        raise
    except ToolFailed:
        return ""


# --- the name of a repository in the address of its remote
# The configuration is read without git: every command needs the name, and starting a program takes longer than most
# answers.


_REMOTE = re.compile(r'^[ \t]*\[remote "([^"\n]*)"\]([^\[]*)', re.M)
_URL = re.compile(r"^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$", re.M)
_NAME = re.compile(r"[/:\\]([\w.-]+?)(?:\.git)?[/\\]*\Z")


def remote_name(root: str) -> str:
    """Return the name of a repository in the address of its remote; "" if there is none, or for a folder inside one."""
    root = os.path.abspath(root)
    if subprocesses.find_git_top(root) != root:
        return ""
    text = subprocesses.git_configuration(root)
    urls = {str(match[1]): str(url[1]) for match in _REMOTE.finditer(text) if (url := _URL.search(match[2]))}
    name = _NAME.search(urls.get("origin") or next(iter(urls.values()), ""))
    return name[1] if name and name[1] not in (".", "..") else ""
