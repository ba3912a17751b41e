"""What each command prints about the sample repository, on terminals of several widths.

In: a copy of the sample with its store and book. Out: text as on a terminal, without colours and links.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from concordance import cli
from tests.support import golden_files, program

WIDTHS = (60, 80, 100, 200)
_ASKED = (
    "--help",
    "build . --jobs 1",
    "symbols abacus/ledger.py",
    "define abacus.Ledger",
    "define abacus.Leger",
    "refs abacus.Ledger",
    "callers abacus.Ledger",
    "callees abacus.Ledger.add",
    "imports abacus/ledger.py",
    "importers abacus/ledger.py",
    "impact abacus.Ledger",
    "tests abacus.Ledger",
    "related abacus/ledger.py",
    "search ledger",
    "search nowhere_to_be_found",
    "locate README.md -n 3",
    "keywords abacus/ledger.py --limit 12",
    "keywords --limit 5",
    "path test_adds native/src/sum.cpp",
    "path test_adds Ledger.total --chains 2",
    "op tally",
    "show abacus.Ledger",
    "diff --no-update",
    "check --jobs 1",
    "verify --jobs 1",
)  # fmt: skip
_HELPED = ("batch", "init", "lsp", "mcp", "pack", "serve", "unpack", "watch", "workspace")  # which wait for something, or write
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b]*\x1b\\")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Errors:
    """Standard error, in the order of the terminal's output; not a terminal, on which progress bars would be drawn."""

    def __init__(self, terminal: _Terminal) -> None:
        self.write, self.flush = terminal.write, terminal.flush

    def isatty(self) -> bool:
        return False


def make(folder: Path) -> Path:
    """Make a copy of the sample a repository, with its store and book."""
    root = golden_files.built(folder)
    program.sample(root, {})
    shown(root, "build . --jobs 1", 80)
    return root


def shown(root: Path, asked: str, width: int = 80) -> str:
    """Return what a command prints on standard output and standard error, with its escape sequences."""
    ours, kept, here, arguments = _Terminal(), dict(os.environ), os.getcwd(), sys.argv
    os.environ.update(COLUMNS=str(width), TERM="xterm", PAGER="cat")
    os.chdir(root)
    try:
        errors: Any = _Errors(ours)
        with contextlib.redirect_stdout(ours), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
            sys.argv = ["concord", *shlex.split(asked)]
            cli._run()
    finally:
        sys.argv = arguments
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)
    return ours.getvalue()


def screens(root: Path, width: int) -> Iterator[str]:
    """Return each command and what it prints, without times and hashes, which differ from run to run."""
    for asked in (*_ASKED, *(f"{name} --help" for name in _HELPED)):
        text = _ESCAPES.sub("", shown(root, asked, width)).replace(str(root), "/sample")
        text = re.sub(r"\d+\.\d+ s$", "… s", re.sub(r"\([0-9a-f]{12}\)", "(…)", text), flags=re.M)
        yield f"$ concord {asked}\n" + "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def commands() -> set[str]:
    """Return the commands that are shown."""
    return {asked.split()[0] for asked in _ASKED[1:]} | set(_HELPED)


def all_commands() -> set[str]:
    return set(cli.cli.list_commands(click.Context(cli.cli)))
