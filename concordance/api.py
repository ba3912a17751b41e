"""The program for other programs: `concordance.open(repo)` is a repository that answers.

In: a folder. Out: a `Repository` with one method for each command of `query/commands`, which gives
what the command prints with `--json`. The command line asks through the same object.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import TracebackType

from concordance import plugins
from concordance.collect.source import find_root
from concordance.config import Config
from concordance.errors import StoreBroken, UserError
from concordance.facts import lock
from concordance.facts.read import Facts
from concordance.pipeline import FOLDER, Build, Progress, Summary, quiet
from concordance.query.answers import Answer, Row, page_for
from concordance.query.index import Index

COMMANDS = "concordance.query.commands"
PATIENCE = 3.0  # seconds that a question waits for a running build, where there is a store to answer from


def build(root: str, jobs: int | None = None, progress: Progress = quiet) -> Summary:
    """Brings a repository's store up to date, and says what could not be read whole."""
    summary = Build(root, replace(Config(), jobs=jobs) if jobs else Config(), progress).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is in the ledger, without facts")
    return summary


class Repository:
    """A repository that is asked: `repository.define("a.py:3:7")`, `repository.refs("add", trust="candidate")`.

    Each command of `concord` is a method. It takes what the command is asked about and, by their names, the command's
    options, and gives a list of dictionaries: all rows, unless `limit` says how many.
    """

    def __init__(
        self, root: str | os.PathLike[str] | None = None, update: bool = True, progress: Progress = quiet
    ) -> None:
        """Opens the repository at `root` (default: the one around the current folder). Its store is made where it is
        missing, and is brought up to date first, unless `update` is off."""
        self.root = os.fspath(root) if root is not None else find_root(os.getcwd())
        self._index = Index(_opened(self.root, update, progress), self.root)

    def ask(
        self, command: str, asked: str | None = None, limit: int = 1000, cursor: str = "", **options: object
    ) -> Answer:
        """One answer, with how many rows there are, and the cursor that asks for more of them."""
        module = plugins.load(COMMANDS, command)
        if asked is None and module.ARGUMENT and not module.ARGUMENT.startswith("["):
            raise UserError(f"{command} is asked about nothing", f"Say which {module.ARGUMENT}")
        answer: Answer = module.answer(self._index, asked, page_for(module, limit, cursor, options))
        return answer

    def __getattr__(self, command: str) -> Callable[..., list[Row]]:
        if command not in plugins.names(COMMANDS):
            raise AttributeError(f"no command {command}; there are: {', '.join(plugins.names(COMMANDS))}")
        return partial(self._rows, command)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *plugins.names(COMMANDS)]

    def _rows(
        self, command: str, asked: str | None = None, limit: int = sys.maxsize, cursor: str = "", **options: object
    ) -> list[Row]:
        named = {name.rstrip("_"): value for name, value in options.items()}  # `in_`, for `in` is a word of Python's
        return self.ask(command, asked, limit, cursor, **named).rows

    def close(self) -> None:
        """Lets go of the store."""
        self._index.facts.close()

    def __enter__(self) -> Repository:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(root: str, update: bool, progress: Progress) -> Facts:
    """The store, brought up to date where that is wanted and nobody else is at it."""
    folder = os.path.join(root, FOLDER)
    there = os.path.exists(os.path.join(folder, "index.db"))
    if there and not update:
        return Facts(folder)
    if there and lock.is_held(folder):
        progress("say", 0, 0, "a build of this repository is running; waiting for it")
        if lock.is_held(folder, PATIENCE):
            try:
                found = Facts(folder)
            except StoreBroken:  # of another version, or none yet: only the build's end helps
                progress("say", 0, 0, "there is no complete store yet to answer from; waiting on")
            else:
                progress("say", 0, 0, "it still runs: the answer is from the last complete store")
                return found
    build(root, None, progress)
    return Facts(folder)
