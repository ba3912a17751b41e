"""Asks before a folder is read that nobody called a repository.

In: the folder that a question is about. Out: nothing where it may be read; a `UserError` where it may not. A question
builds the store it needs, and `concord define x` typed in a home folder would read all of it. A work tree of a version
control system, or a folder that has a store, was meant to be read. Any other needs a yes: from a terminal, or `--yes`.
`concord build DIR` names the folder, and is a yes.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from itertools import islice

import click

from concordance.base.characters import visible
from concordance.base.errors import UserError
from concordance.collect.walk import find_root, folder_files, is_under_version_control
from concordance.workflow.store_location import has_store

_MOST, _SECONDS = 100_000, 0.5  # files and time that the estimate may take


def root_of(repo: str | None, yes: bool) -> str:
    """The folder that a command is about: the one that was named, else the repository around the current folder."""
    root = repo if repo is not None else find_root(os.getcwd())
    ask_first(root, yes)
    return root


def ask_first(root: str, yes: bool) -> None:
    """Asks where a folder is neither a repository nor indexed."""
    if yes or not os.path.isdir(root) or has_store(root) or is_under_version_control(root):
        return
    shown = visible(os.path.realpath(root))
    what = f"{shown} is neither a repository nor indexed"
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        advice = "To read all files below it, say --yes, or run once: concord build"
        raise UserError(f"{what}, and nothing was read", f"{advice} {shlex.quote(shown)}")
    try:
        agreed = click.confirm(f"{what}. Read all of it: {_estimate(root)}?", err=True)
    except click.Abort:  # Ctrl-C, or the end of the input
        agreed = False
    if not agreed:
        raise UserError("Nothing was read", "Name a repository with --repo, or ask in one")


def _is_terminal(stream: object) -> bool:
    return stream is not None and stream.isatty()  # type: ignore[attr-defined]  # None where the caller closed it


def _estimate(root: str) -> str:
    """How much there is to read, as far as can be seen at once."""
    end = time.monotonic() + _SECONDS
    number, size = 0, 0
    for entry in islice(folder_files(root), _MOST):
        number, size = number + 1, size + entry.size
        if time.monotonic() > end:
            return f"more than {number:,} files, {size / 1e6:,.0f} MB"
    return f"{number:,} files, {size / 1e3:,.0f} KB" if number < _MOST else f"more than {number:,} files"
