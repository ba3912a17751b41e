"""Reads and writes `workspace.toml`: the repositories of a workspace, by name.

In: the folder of a workspace. Out: the folder of each repository by its name, sorted. A path in the file is relative to
the workspace's folder. A name is part of addresses and of questions (`flask:src/flask/app.py:9:7`), so only letters,
digits, dots, dashes and underscores are allowed, and no name that the server uses itself.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping

from concordance.base.confined_folder import open_regular_file
from concordance.base.errors import NoPermission, UserError

FILE = "workspace.toml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_RESERVED = frozenset(("api", "assets", "events", "healthz", "metrics", "index.html", "search.html"))
_LARGEST = 4 << 20  # bytes read of the file
_HEAD = (
    "# The repositories of a workspace of Concordance: name = path. See `concord workspace --help`.\n[repositories]\n"
)


def is_workspace(folder: str) -> bool:
    """True if a folder is that of a workspace."""
    return os.path.isfile(os.path.join(folder, FILE))


def find_workspace(folder: str) -> str | None:
    """Return the innermost workspace around a folder; None if there is none."""
    folder = os.path.abspath(folder)
    while not is_workspace(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def read_repositories(folder: str) -> dict[str, str]:
    """Return the absolute folder of each repository of a workspace, by name."""
    path = os.path.join(folder, FILE)
    try:
        with open_regular_file(path) as file:
            table = tomllib.loads(file.read(_LARGEST).decode())
    except FileNotFoundError:
        raise UserError(f"{folder} is not a workspace", "Create one with: concord workspace init") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}", "Correct the file") from error
    rows = table.get("repositories", {})
    if not isinstance(rows, dict) or not all(isinstance(row, str) for row in rows.values()):
        raise UserError(f"{path}: [repositories] must have one path for each name", 'Write: name = "path"')
    for name in rows:
        check_name(name)
    return {name: os.path.normpath(os.path.join(folder, rows[name])) for name in sorted(rows)}


def write_repositories(folder: str, repositories: Mapping[str, str]) -> None:
    """Write the repositories of a workspace, sorted by name; paths near the workspace are written relative to it."""
    rows = (
        f"{json.dumps(name)} = {json.dumps(_written_path(folder, repositories[name]))}\n"
        for name in sorted(repositories)
    )
    aside = os.path.join(folder, f"{FILE}.{os.getpid()}.new")
    try:
        with open(aside, "w", encoding="utf-8") as file:
            file.write(_HEAD + "".join(rows))
        os.replace(aside, os.path.join(folder, FILE))
    except OSError as error:
        raise NoPermission(f"{folder} cannot be written: {error.strerror}", "Choose another folder") from error


def check_name(name: str) -> None:
    """Raise a UserError if this cannot be the name of a repository."""
    if not _NAME.fullmatch(name) or name in _RESERVED:
        advice = "Use letters, digits, dots, dashes and underscores: concord workspace add PATH --name NAME"
        raise UserError(f"a repository cannot be called {name}", advice)


def _written_path(folder: str, path: str) -> str:
    """Return a path as it is written: relative, unless that leaves most of the way to the workspace."""
    relative = os.path.relpath(path, folder)
    return path if relative.startswith(os.path.join("..", "..", "..")) else relative
