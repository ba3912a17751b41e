"""The program for other programs: `concordance.open(repo)` is a repository that answers.

In: a folder. Out: a `Repository` with one method for each command of `query/commands`, which gives
what the command prints with `--json`. The command line asks through the same object.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType, TracebackType

from concordance import plugins
from concordance.collect.source import find_root
from concordance.config import Book, Config
from concordance.errors import StoreBroken, UserError
from concordance.facts import lock
from concordance.facts.read import Facts
from concordance.pipeline import FOLDER, GENERATED, Build, Progress, Summary, quiet
from concordance.query.answers import Answer, Row, page_for
from concordance.query.index import Index
from concordance.render.summary import BookSummary, Verified

COMMANDS = "concordance.query.commands"
BOOK = "book"  # the folder of the book, beside the store
PATIENCE = 3.0  # seconds that a question waits for a running build, where there is a store to answer from


def _only_for_books(name: str) -> ModuleType:
    """A module that makes or checks pages, found by its name when it is needed: to load it with the others would make
    every question start half as long again."""
    return plugins.load("concordance", name)


def _config(jobs: int | None) -> Config:
    return replace(Config(), jobs=jobs) if jobs else Config()


def build(root: str, jobs: int | None = None, progress: Progress = quiet) -> Summary:
    """Brings a repository's store up to date, and says what could not be read whole."""
    summary = Build(root, _config(jobs), progress).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is in the ledger, without facts")
    return summary


def book(
    root: str, out: str | None = None, wishes: Book | None = None, jobs: int | None = None, progress: Progress = quiet
) -> tuple[Summary, BookSummary]:
    """Brings a repository's store up to date, and writes its book; by default beside the store."""
    summary = build(root, jobs, progress)
    folder = os.path.join(root, FOLDER)
    began = time.perf_counter()
    with lock.held(
        folder, lambda: progress("say", 0, 0, "another build of this repository is running; waiting for it")
    ):
        written = _write(root, out or os.path.join(folder, BOOK), wishes or Book(), _config(jobs), summary, progress)
    summary.seconds["pages"] = time.perf_counter() - began
    for page, reason in written.failed:
        progress("say", 0, 0, f"the page {page} could not be made: {reason}")
    return summary, written


def _write(root: str, out: str, wishes: Book, config: Config, summary: Summary, progress: Progress) -> BookSummary:
    """Writes the book, and where that is wished for the pages of its pages."""
    told = partial(_told, progress)
    here = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    passed = {folder: count for folder, count in summary.passed.items() if (folder or ".") != here}
    writing = _only_for_books("writing")
    written: BookSummary = writing.write(root, os.path.join(root, FOLDER), out, wishes, config, told, passed)
    if wishes.generated:
        entries = writing.own_entries(root, out)
        Build(root, config, progress, pages=entries).run()
        folder = os.path.join(root, FOLDER, GENERATED)
        more = writing.write_generated(root, folder, out, wishes, config, told)
        for name in ("pages", "written", "removed", "bytes", "claims", "failed"):
            setattr(written, name, getattr(written, name) + getattr(more, name))
    return written


def verify(
    root: str | None = None, out: str | None = None, jobs: int | None = None, progress: Progress = quiet
) -> Verified:
    """Checks a repository's book, by default the one beside the store, against the repository as it is now."""
    root = root if root is not None else find_root(os.getcwd())
    folder = out or os.path.join(root, FOLDER, BOOK)
    found: Verified = _only_for_books("checking").verify(root, folder, _config(jobs), partial(_told, progress))
    return found


def _told(progress: Progress, done: int, total: int) -> None:
    progress("pages", done, total, "")


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

    def verify(self, out: str | None = None) -> list[Row]:
        """What no longer holds of the repository's book: its pages, lines, what they say there, and what is wrong."""
        return [problem._asdict() for problem in verify(self.root, out).problems]

    def show(self, asked: str) -> list[Row]:
        """The page of a file, folder or name, as Markdown."""
        shown: list[Row] = _only_for_books("showing").shown(self._index, asked, os.path.join(self.root, FOLDER, BOOK))
        return shown

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
