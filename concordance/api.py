"""The program for other programs: `concordance.open(repo)` is a repository that answers.

In: a folder. Out: a `Repository` with one method for each command of `query/commands`, which gives what the command
prints with `--json`. The command line asks through the same object. What only a build or a page needs is imported when
it is needed: a question about a store that is current loads neither the readers nor the linker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from types import TracebackType

from concordance.base import plugins
from concordance.base.errors import StoreBroken
from concordance.base.progress import Progress, quiet
from concordance.collect.walk import find_root
from concordance.facts.integrity import lock
from concordance.facts.read import Facts
from concordance.query.answers import Answer, Row
from concordance.query.dispatch import COMMANDS, ask
from concordance.query.index.repository import Index
from concordance.workflow.store_location import check_store

PATIENCE = 3.0  # seconds that a question waits for a running build, where there is a store to answer from


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
        return ask(self._index, command, asked, limit, cursor, **options)

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

    def verify(self, out: str | None = None) -> list[Row]:
        """What no longer holds of the repository's book: its pages, lines, what they say there, and what is wrong."""
        from concordance.workflow import builds

        return [problem._asdict() for problem in builds.verify(self.root, out).problems]

    def show(self, asked: str) -> list[Row]:
        """The page of a file, folder or name, as Markdown."""
        from concordance.workflow import builds, show

        self._index.book = builds.wishes_of(self.root)
        return show.shown(self._index, asked, builds.book_folder(self.root))

    def diff(self, *revisions: str) -> list[Row]:
        """What changed between two revisions, between one and the work tree, or since the last commit."""
        return self.compared(*revisions)[0]

    def compared(self, *revisions: str, progress: Progress = quiet) -> tuple[list[Row], str]:
        """The same, and as a page."""
        from concordance.workflow import builds, show

        said = builds.settings_of(self.root)
        self._index.book = said.book

        def told(done: int, total: int) -> None:
            progress("compare", done, total, "")

        return show.compared(self._index, revisions, builds.book_folder(self.root), said.config, told)

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
    folder = check_store(root)
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
    if not there and os.path.isdir(root):
        progress("say", 0, 0, f"{os.path.realpath(root)} is read for the first time; its store is {folder}")
    from concordance.workflow import builds

    builds.build(root, None, progress)
    return Facts(folder)
