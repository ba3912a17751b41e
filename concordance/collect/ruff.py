"""Runs ruff, which has the rules for Python, on some files.

In: paths of a repository, and the ids of rules. Out: ruff's remarks by path.

The repository's own ruff settings are not read: the same rules apply everywhere, and a foreign configuration is not
obeyed. Neither are ignore files read, one of which may be an endless pipe. Remarks that authors have silenced with
`noqa` stay silenced. The ruff that is installed next to this program is used, or else the first on PATH outside the
repository; if there is none, the caller reports it.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from concordance.base.errors import ToolFailed, ToolMissing
from concordance.collect import subprocesses

_CRASHED = "(exit code -"  # marks a run that a signal ended: ruff's parser overflows its stack on some files
_MAX_PATH_BYTES = 100_000  # maximum bytes of paths per run; not every system allows longer command lines
_OPTIONS = ("check", "--isolated", "--no-cache", "--no-fix", "--no-preview", "--quiet", "--exit-zero",
            "--no-respect-gitignore", "--output-format", "json-lines")  # fmt: skip


class RuffRemark(NamedTuple):
    """A remark of ruff about a place."""

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
    """Return the path of ruff; "" if it is not installed."""
    beside = os.path.join(sysconfig.get_path("scripts"), "ruff")
    return beside if os.access(beside, os.X_OK) else subprocesses.find_program("ruff", root)


def ruff_identity(root: str) -> str:
    """Return a string that changes when another ruff is installed; "" if there is none.

    Asking ruff for its version would cost a process.
    """
    executable = program(root)
    if not executable:
        return ""
    seen = os.stat(executable)
    return f"{seen.st_size} {seen.st_mtime_ns}"


def check(
    root: str, paths: Sequence[str], rules: Sequence[str], crashed: list[str]
) -> Iterator[tuple[str, list[RuffRemark]]]:
    """Yield ruff's remarks for each file that has any.

    A path that cannot be encoded is left out. A file on which ruff crashes is added to `crashed`; the other files are
    still checked.
    """
    executable = program(root)
    if not executable:
        raise ToolMissing("ruff is not installed", "Install ruff")
    prefix = os.path.join(os.path.realpath(root), "")
    decode = msgspec.json.Decoder(_Row).decode
    waiting = list(_batches(paths))
    while waiting:
        part = waiting.pop()
        remarks_by_path: dict[str, list[RuffRemark]] = {}
        command = [executable, *_OPTIONS, "--select", ",".join(rules), "--", *part]
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
                raise ToolFailed(f"cannot parse the output of ruff: {error}") from error
            path = row.filename.removeprefix(prefix)
            if row.code is not None and row.code in rules:
                remark = RuffRemark(row.code, row.message, row.location.row, row.location.column, row.end_location.row)
                remarks_by_path.setdefault(path, []).append(remark)
        yield from remarks_by_path.items()


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for path in paths:
        try:
            size += len(path.encode()) + 1
        except UnicodeEncodeError:  # ruff would print it differently
            continue
        part.append(os.path.join(".", path))
        if size > _MAX_PATH_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
