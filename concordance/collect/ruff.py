"""Runs ruff, which knows Python's own rules, over some files.

In: paths of a repository, and the ids of rules. Out: what ruff says of each path. The repository's own
settings are not read: what is looked for is the same everywhere, and a foreign configuration is not obeyed; neither are
files that say what git ignores, one of which may be a pipe that never ends. What authors have silenced with `noqa`
stays silent. The program is the one installed beside this one, or the first on the PATH that is not the repository's;
where there is none the caller says so.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from concordance.base.errors import ToolFailed, ToolMissing
from concordance.collect import subprocesses

_CRASHED = "(exit code -"  # how a run that a signal ended is told: ruff's parser overflows its stack on some files
_MOST = 100_000  # bytes of paths for one run; a command line may be longer, but not on every system
_OPTIONS = ("check", "--isolated", "--no-cache", "--no-fix", "--no-preview", "--quiet", "--exit-zero",
            "--no-respect-gitignore", "--output-format", "json-lines")  # fmt: skip


class RuffRemark(NamedTuple):
    """What ruff says of a place."""

    rule: str
    message: str
    line: int
    column: int
    end_line: int


class _Place(msgspec.Struct):
    row: int
    column: int


class _Row(msgspec.Struct):
    filename: str
    message: str
    code: str | None
    location: _Place
    end_location: _Place


def program(root: str) -> str:
    """Where ruff is; "" where it is not installed."""
    beside = os.path.join(sysconfig.get_path("scripts"), "ruff")
    return beside if os.access(beside, os.X_OK) else subprocesses.find("ruff", root)


def identity(root: str) -> str:
    """What changes when another ruff is installed; "" where there is none. Asking ruff itself would cost a process."""
    where = program(root)
    if not where:
        return ""
    seen = os.stat(where)
    return f"{seen.st_size} {seen.st_mtime_ns}"


def check(
    root: str, paths: Sequence[str], rules: Sequence[str], crashed: list[str]
) -> Iterator[tuple[str, list[RuffRemark]]]:
    """What ruff says of each file of which it says anything; a path in no encoding is not given to it. A file on which
    ruff crashes is added to `crashed`, and costs the others nothing."""
    where = program(root)
    if not where:
        raise ToolMissing("ruff is not installed", "Install ruff")
    home = os.path.join(os.path.realpath(root), "")
    decode = msgspec.json.Decoder(_Row).decode
    waiting = list(_parts(paths))
    while waiting:
        part = waiting.pop()
        found: dict[str, list[RuffRemark]] = {}
        command = [where, *_OPTIONS, "--select", ",".join(rules), "--", *part]
        try:
            output = b"".join(subprocesses.run(command, root))
        except ToolFailed as error:
            if _CRASHED not in str(error):
                raise
            half = len(part) // 2
            if half:
                waiting += [part[:half], part[half:]]
            else:
                crashed.append(os.path.normpath(part[0]))
            continue
        for line in filter(None, output.split(b"\n")):
            try:
                row = decode(line)
            except (ValueError, TypeError) as error:
                raise ToolFailed(f"ruff says what is not understood: {error}") from error
            path = row.filename.removeprefix(home)
            if row.code is not None and row.code in rules:
                said = RuffRemark(row.code, row.message, row.location.row, row.location.column, row.end_location.row)
                found.setdefault(path, []).append(said)
        yield from found.items()


def _parts(paths: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for path in paths:
        try:
            size += len(path.encode()) + 1
        except UnicodeEncodeError:  # ruff would write it otherwise than it is
            continue
        part.append(os.path.join(".", path))
        if size > _MOST:
            yield part
            part, size = [], 0
    if part:
        yield part
