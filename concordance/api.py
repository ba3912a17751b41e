"""The Python API: `concordance.open(repo)` returns a repository that can be queried.

In: a folder. Out: a `Repository` with one method for each command of `query/commands`; a method returns what the
command prints with `--json`. The command line uses the same object. Modules that only a build or a page needs are
imported on demand: a question about an up-to-date store loads neither the readers nor the linker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial

from concordance.base import plugins
from concordance.base.errors import StoreBroken
from concordance.base.progress import Progress, ignore_progress
from concordance.collect.walk import find_root
from concordance.facts.integrity import lock
from concordance.facts.read import Facts
from concordance.query.answers import Answer, Row
from concordance.query.commands import COMMANDS, ask
from concordance.query.index.repository import Index
from concordance.workflow.checks import freshness
from concordance.workflow.store_location import check_store

PATIENCE = 3.0  # seconds that a question waits for a running build if there is a store to answer from


class Repository:
    """An open repository: `repository.define("a.py:3:7")`, `repository.refs("add", trust="candidate")`.

    Each `concord` command is a method. It takes the command's argument and, as keyword arguments, its options, and
    returns a list of dictionaries: all rows, unless `limit` is given.
    """

    def __init__(
        self, root: str | os.PathLike[str] | None = None, update: bool = True, progress: Progress = ignore_progress
    ) -> None:
        """Open the repository at `root` (default: the one around the current folder).

        The store is built if it is missing, and updated first unless `update` is false.
        """
        self.root = os.fspath(root) if root is not None else find_root(os.getcwd())
        self._index = Index(_open_store(self.root, update, progress), self.root)

    def ask(
        self, command: str, argument: str | None = None, limit: int = 1000, cursor: str = "", **options: object
    ) -> Answer:
        """Answer one question; the answer has the total number of rows and the cursor for the next ones."""
        return ask(self._index, command, argument, limit, cursor, **options)

    def __getattr__(self, command: str) -> Callable[..., list[Row]]:
        if command not in plugins.names(COMMANDS):
            raise AttributeError(f"no command {command}; available commands: {', '.join(plugins.names(COMMANDS))}")
        return partial(self._rows, command)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *plugins.names(COMMANDS)]

    def _rows(
        self, command: str, argument: str | None = None, limit: int = sys.maxsize, cursor: str = "", **options: object
    ) -> list[Row]:
        named = {name.rstrip("_"): value for name, value in options.items()}  # `in_`, because `in` is a Python keyword
        return self.ask(command, argument, limit, cursor, **named).rows

    def verify(self, out: str | None = None) -> list[Row]:
        """Return what does not hold in the repository's book: page, line, the text there, the problem, and whether the
        book, the store or the program is at fault."""
        from concordance.workflow import builds

        return [problem._asdict() for problem in builds.verify(self.root, out).problems]

    def show(self, argument: str) -> list[Row]:
        """Return the page of a file, folder or name, as Markdown."""
        from concordance.workflow import book_options, show

        self._index.book = book_options.book_settings(self.root)
        return show.render_pages(self._index, argument, book_options.book_folder(self.root))

    def agents_section(self) -> str:
        """Return what a coding agent should know about the repository, as a marked section of `AGENTS.md`."""
        from concordance.render.output import agents_file

        return agents_file.render_section(self._index)

    def diff(self, *revisions: str) -> list[Row]:
        """Return what changed between two revisions, between a revision and the work tree, or since the last commit."""
        return self.compared(*revisions)[0]

    def review(self, *revisions: str) -> list[Row]:
        """Return what a reviewer of a change looks at besides the change itself: callers, tests, documents, owners."""
        return self.compared(*revisions, review=True)[0]

    def compared(
        self, *revisions: str, progress: Progress = ignore_progress, review: bool = False
    ) -> tuple[list[Row], str]:
        """Return the rows of `diff`, or of `review`, and the page that shows them."""
        from concordance.workflow import book_options, diff

        settings = book_options.read_settings(self.root)
        self._index.book = settings.book

        def report(done: int, total: int) -> None:
            progress("compare", done, total, "")

        answer = diff.review_change if review else diff.compare_revisions
        return answer(self._index, revisions, book_options.book_folder(self.root), settings.config, report)

    def close(self) -> None:
        """Close the store."""
        self._index.facts.close()

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Workspace:
    """An open workspace of many repositories: `workspace.ask("refs", "click.Command")`.

    Answers come from the stores and the catalogue as they were last built.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Open the workspace in a folder."""
        from concordance.query.workspace.commands import WorkspaceQuestions
        from concordance.query.workspace.repositories import OpenWorkspace
        from concordance.workflow.stages.catalogue import repository_settings

        self.folder = os.path.abspath(folder)
        self._workspace = OpenWorkspace(self.folder, repository_settings)
        self._questions = WorkspaceQuestions(self._workspace)

    def ask(
        self, command: str, argument: str | None = None, limit: int = 1000, cursor: str = "", **options: object
    ) -> Answer:
        """Answer one question; the answer has the total number of rows and the cursor for the next ones."""
        return self._questions.ask(command, argument, limit, cursor, **options)

    def close(self) -> None:
        """Close all stores."""
        self._workspace.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_store(root: str, update: bool, progress: Progress) -> Facts:
    """Return the store, updated first if that is wanted and no other process is building."""
    folder = check_store(root)
    there = os.path.exists(os.path.join(folder, "index.db"))
    if there and not update:
        return Facts(folder)
    if there and lock.is_held(folder):
        progress("say", 0, 0, "a build of this repository is running; waiting for it")
        if lock.is_held(folder, PATIENCE):
            try:
                store = Facts(folder)
            except StoreBroken:  # written by another version, or not there yet: only the running build can help
                progress("say", 0, 0, "there is no complete store to answer from yet; still waiting for the build")
            else:
                progress("say", 0, 0, "the build is still running: answering from the last complete store")
                return store
    elif there and (facts := _open_current(root, folder)) is not None:
        return facts
    if not there and os.path.isdir(root):
        progress("say", 0, 0, f"reading {os.path.realpath(root)} for the first time; its store is {folder}")
    from concordance.workflow import store_update

    store_update.build(root, None, progress)
    return Facts(folder)


def _open_current(root: str, folder: str) -> Facts | None:
    """Return the store if it is certainly up to date; None if only a build can tell."""
    try:
        facts = Facts(folder)
    except StoreBroken:
        return None
    if freshness.is_current(os.path.realpath(root), folder, facts.meta().get("started", "")):
        return facts
    facts.close()
    return None
