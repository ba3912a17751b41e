"""Determines the commit that each line of a file comes from, by one run of `git blame`.

In: a folder, a path in it, and the current bytes of the file. Out: the commits, each once, and runs of lines with the
commit they come from; or why that is unknown.

Git is asked only about the last commit, never about the work tree: to compare the two it would run the filters that a
repository's settings name. Which lines are unchanged since the last commit is determined here. If git applies a filter
to the file (large file storage, other encodings), a difference is not an edit, so no blame is returned.

Times are commit times and authors are named according to `.mailmap`, as in the history of files.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from concordance.base.errors import ToolFailed, ToolMissing, ToolStopped
from concordance.collect import subprocesses, walk
from concordance.collect.line_diff import align_lines

SECONDS = 10.0  # maximum time for git
_MAX_OUTPUT_BYTES = 64 << 20  # maximum bytes of git's output
_ASKING = 3.0  # seconds for commands that git answers immediately
_LIST = 1 << 20  # maximum bytes of a list of commits to ignore
_SHORT = 10  # characters of an abbreviated commit id
_LONGEST = 300  # maximum characters of a name or a summary
_BLAME = (
    "blame", "--porcelain", "--no-textconv", "--no-progress", "--encoding=UTF-8", "HEAD", "--",
)  # fmt: skip
_LINE = re.compile(rb"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")
_UNTOUCHED = (b"unspecified", b"unset")
_FILTERS = ("filter", "working-tree-encoding", "ident")
_BRANCH = re.compile(r"refs/heads/(?:[\w-][\w.-]*/)*[\w-][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Commit(NamedTuple):
    """A commit that lines come from."""

    number: str  # abbreviated id
    when: int  # seconds since the epoch
    author: str
    summary: str
    oldest: bool  # True if the history before it is missing: lines may be older


class Blame(NamedTuple):
    """The commits of a file's lines."""

    commits: tuple[Commit, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()  # number of lines, and index of their commit; -1: not committed yet
    note: str = ""  # why there is no blame


class _Git:
    """Git in one folder, with a time limit for all commands together."""

    def __init__(self, root: str, seconds: float) -> None:
        self.root, self._seconds, self._end = root, seconds, time.monotonic() + seconds

    def ask(self, *args: str) -> bytes:
        """Return all that a command writes."""
        try:
            return subprocesses.bounded_git(
                self.root, max(0.001, self._end - time.monotonic()), _MAX_OUTPUT_BYTES, *args
            )
        except ToolStopped as error:
            if time.monotonic() >= self._end:
                raise ToolStopped(f"git took longer than {self._seconds:g} seconds") from error
            raise


def blame(root: str, path: str, data: bytes, seconds: float = SECONDS) -> Blame:
    """Return the blame of a file's current lines."""
    if not walk.is_in_git(root):
        return Blame(note="this is not a git repository")
    git = _Git(root, seconds)
    failed = "nothing is committed yet"
    try:
        shallow = git.ask("rev-parse", "--is-shallow-repository", "--verify", "HEAD").startswith(b"true")
        failed = "the file is not committed yet"
        git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"HEAD:./{path}")
        if not _is_plain(git):
            return Blame(note="git is configured to ignore commits listed in a file that is too large or not regular")
        failed = "git cannot determine where its lines come from"
        return _compared(git, path, data, *_read(git.ask(*_BLAME, path), shallow))
    except ToolStopped as error:
        return Blame(note=error.message)
    except ToolMissing:
        return Blame(note="git is not installed")
    except ToolFailed:
        return Blame(note=failed)


def _compared(git: _Git, path: str, data: bytes, commits: list[Commit], lines: list[tuple[bytes, int]]) -> Blame:
    """Return the blame of the current lines, given that of the last commit's lines."""
    now = data.split(b"\n")
    if not now[-1]:
        now.pop()  # the text ends with a line end, so there is no further line
    now = [line.removesuffix(b"\r") for line in now]  # git may have added it at checkout
    then = [line.removesuffix(b"\r") for line, _ in lines]
    if now != then and _is_filtered(git, path):
        return Blame(note="git applies a filter to the file, so it differs from its commits")
    places = [lines[place][1] if place >= 0 else -1 for place in align_lines(then, now)]
    used = sorted(set(places) - {-1})
    order = {place: new for new, place in enumerate(used)}
    return Blame(tuple(commits[place] for place in used), tuple(_ranges([order.get(place, -1) for place in places])))


def _ranges(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    begin = 0
    for at in range(1, len(places) + 1):
        if at == len(places) or places[at] != places[begin]:
            yield at - begin, places[begin]
            begin = at


def _read(written: bytes, shallow: bool) -> tuple[list[Commit], list[tuple[bytes, int]]]:
    """Parse the output of `git blame`: for each line the commit's id, its details where it first occurs, and the text.

    A row's type follows from its position: only the text starts with a tab, and it always does.
    """
    commits: list[Commit] = []
    places: dict[bytes, int] = {}
    lines: list[tuple[bytes, int]] = []
    number, known = b"", dict[bytes, bytes]()
    for row in written.split(b"\n"):
        if row.startswith(b"\t"):
            if number not in places:
                places[number] = len(commits)
                commits.append(_commit(number, known, shallow))
            lines.append((row[1:], places[number]))
            number, known = b"", {}
        elif not number:
            match = _LINE.fullmatch(row)
            number = match[1] if match is not None else b""
        else:
            name, _, value = row.partition(b" ")
            known.setdefault(name, value)
    return commits, lines


def _commit(number: bytes, commits: dict[bytes, bytes], shallow: bool) -> Commit:
    when = commits.get(b"committer-time", b"")
    return Commit(
        number[:_SHORT].decode(),
        int(when) if when.isdigit() and len(when) < 12 else 0,
        _text(commits.get(b"author", b"")),
        _text(commits.get(b"summary", b"")),
        shallow and b"boundary" in commits,
    )


def _text(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _is_plain(git: _Git) -> bool:
    """True if the lists of commits to ignore (`blame.ignoreRevsFile`) are regular files and not large.

    Git reads them completely, and cannot be told not to.
    """
    try:
        setting = git.ask("config", "-z", "--type=path", "--get-all", "blame.ignoreRevsFile")
        top = git.ask("rev-parse", "--show-toplevel").removesuffix(b"\n")
    except ToolStopped:
        raise
    except ToolFailed:  # git's way to say that there are none
        return True
    for name in filter(None, setting.split(b"\0")):
        try:
            status = os.stat(os.path.join(top, name))
        except OSError:
            continue  # git will report it
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LIST:
            return False
    return True


def _is_filtered(git: _Git, path: str) -> bool:
    """True if git may store a file differently from how it is on disk."""
    attributes = git.ask("check-attr", "-z", *_FILTERS, "--", path)
    return any(value not in _UNTOUCHED for value in attributes.split(b"\0")[2::3])


def _loose_head(folder: str) -> str:
    """Return the commit of a branch whose reference is a file, as after each commit, without starting git; "" for
    every other form of `HEAD`."""
    try:
        reference = _line(os.path.join(folder, "HEAD")).removeprefix("ref: ")
        commit = _line(os.path.join(folder, reference)) if _BRANCH.fullmatch(reference) else ""
    except (OSError, ValueError):
        return ""
    return commit if _COMMIT.fullmatch(commit) else ""


def _line(path: str) -> str:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
        raise ValueError
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def quick_head_commit(root: str) -> str:
    """Return the current commit of a work tree; "" if there is none, or if git does not answer quickly."""
    if not walk.is_in_git(root):
        return ""
    if commit := _loose_head(os.path.join(root, ".git")):
        return commit
    try:
        return os.fsdecode(_Git(root, _ASKING).ask("rev-parse", "--verify", "--quiet", "HEAD")).strip()
    except ToolFailed:
        return ""
