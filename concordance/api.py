"""The program for other programs: `concordance.open(repo)` is a repository that answers.

In: a folder. Out: a `Repository` with one method for each command of `query/commands`, which gives
what the command prints with `--json`. The command line asks through the same object.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from types import ModuleType, TracebackType

from concordance.base import config_file, plugins
from concordance.base.config import Book, Config, cache_folder, of_site
from concordance.base.errors import StoreBroken, UserError
from concordance.collect.revisions import commits
from concordance.collect.walk import Walked, find_root
from concordance.extract import ruleset
from concordance.facts.counts import Counts
from concordance.facts.integrity import lock
from concordance.facts.integrity.audit import Damage, audit
from concordance.facts.read import Facts
from concordance.query.answers import Answer, Row
from concordance.query.dispatch import COMMANDS, ask
from concordance.query.index.repository import Index
from concordance.query.index.totals import Totals, counted
from concordance.render import output_folder
from concordance.render.summary import BookSummary, Compared, Verified
from concordance.workflow.pipeline import GENERATED, Build, Progress, Summary, quiet
from concordance.workflow.resident import Memory
from concordance.workflow.store_location import check_store, has_store, store_path
from concordance.workflow.store_state import Kept

SITE = "site"  # the folder of the site, where none is said
PATIENCE = 3.0  # seconds that a question waits for a running build, where there is a store to answer from


def _only_for_books(name: str) -> ModuleType:
    """A module that makes or checks pages, found by its name when it is needed: to load it with the others would make
    every question start half as long again."""
    return plugins.load("concordance", name)


def settings_of(root: str) -> config_file.Settings:
    """What the owners of a repository have set."""
    return config_file.read(root, ruleset.rules)


def _config(said: config_file.Settings, jobs: int | None) -> Config:
    return replace(said.config, jobs=jobs) if jobs else said.config


def wishes_of(
    root: str, source: bool | None = None, history: bool | None = None, generated: bool | None = None
) -> Book:
    """What a book shall hold: what is said here, else what its owners have set."""
    found = settings_of(root).book
    return replace(
        found, source=found.source if source is None else source,
        history=found.history if history is None else history,
        generated=found.generated if generated is None else generated,
    )  # fmt: skip


def book_folder(root: str, out: str | None = None) -> str:
    """The folder of a repository's book: the one that is said, else the one that its owners have set."""
    return out or _folder(root, settings_of(root))


def _folder(root: str, said: config_file.Settings) -> str:
    return os.path.join(root, said.out) if said.out != config_file.BOOK else os.path.join(store_path(root), "book")


def build(
    root: str, jobs: int | None = None, progress: Progress = quiet, walked: Walked | None = None,
    memory: Memory | None = None,
) -> Summary:  # fmt: skip
    """Brings a repository's store up to date, and says what could not be read whole. `walked` are its files, where they
    are known; `memory` is for who does so again and again."""
    return _build(root, _config(settings_of(root), jobs), progress, walked, memory)


def _build(
    root: str, config: Config, progress: Progress, walked: Walked | None = None, memory: Memory | None = None
) -> Summary:
    kept = memory.kept if memory is not None else Kept()
    summary = Build(root, config, progress, walked=walked, kept=kept).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is in the ledger, without facts")
    return summary


def book(
    root: str, out: str | None = None, wishes: Book | None = None, jobs: int | None = None, progress: Progress = quiet,
    walked: Walked | None = None, memory: Memory | None = None,
) -> tuple[Summary, BookSummary]:  # fmt: skip
    """Brings a repository's store up to date, and writes its book; as its owners have set where nothing is said.
    `memory` is for who does so again and again: what is known of the repository is left there for the next time."""
    said = settings_of(root)
    config, where = _config(said, jobs), out or _folder(root, said)
    _check_out(root, where, site=False)
    summary = _build(root, config, progress, walked, memory)
    for remark in said.remarks:
        progress("say", 0, 0, remark)
    with _at_pages(root, summary, progress):
        written = _write(root, where, wishes or said.book, config, summary, progress, memory=memory)
    for page, reason in written.failed:
        progress("say", 0, 0, f"the page {page} could not be made: {reason}")
    return summary, written


def _check_out(root: str, out: str, site: bool) -> None:
    """Refuses a folder before minutes are spent on reading. What is wrong with the repository is said first."""
    if os.access(root, os.R_OK | os.X_OK) and os.path.isdir(root):
        output_folder.check(out, (root, check_store(root)), site)


def site(
    root: str, out: str | None = None, wishes: Book | None = None, jobs: int | None = None, progress: Progress = quiet
) -> tuple[Summary, BookSummary]:
    """Brings a repository's store up to date, and writes its site: pages for a browser, without a server."""
    said = settings_of(root)
    config, folder = _config(said, jobs), store_path(root)
    where = out or os.path.join(folder, SITE)
    _check_out(root, where, site=True)
    summary = _build(root, config, progress)
    with _at_pages(root, summary, progress):
        publish = _only_for_books("publishing").publish
        written: BookSummary = publish(
            root, folder, where, of_site(wishes or said.book), config, partial(_told, progress)
        )
    for page, reason in written.failed:
        progress("say", 0, 0, f"the page {page} could not be made: {reason}")
    return summary, written


@contextmanager
def _at_pages(root: str, summary: Summary, progress: Progress) -> Iterator[None]:
    """Pages are made by one process at a time, and how long that takes is kept."""
    began = time.perf_counter()
    progress("pages", 0, 0, "")
    with lock.held(store_path(root), lambda word: progress("say", 0, 0, word)):
        yield
    summary.seconds["pages"] = time.perf_counter() - began


def _write(
    root: str, out: str, wishes: Book, config: Config, summary: Summary, progress: Progress, compared: bool = False,
    memory: Memory | None = None,
) -> BookSummary:  # fmt: skip
    """Writes the book, and where that is wished for the pages of its pages; or only compares."""
    told = partial(_told, progress)
    here = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    passed = {folder: count for folder, count in summary.passed.items() if (folder or ".") != here}
    writing = _only_for_books("writing")
    written: BookSummary = writing.write(root, store_path(root), out, wishes, config, told, passed, compared, memory)
    if wishes.generated and not (compared and (written.changed or written.gone)):  # of pages that are there
        entries = writing.own_entries(root, out)
        Build(root, config, progress, pages=entries).run()
        folder = os.path.join(store_path(root), GENERATED)
        more = writing.write_generated(root, folder, out, wishes, config, told, compared)
        for name in ("pages", "written", "removed", "bytes", "claims", "failed", "changed", "gone"):
            setattr(written, name, getattr(written, name) + getattr(more, name))
    return written


def check(
    root: str | None = None, out: str | None = None, wishes: Book | None = None, jobs: int | None = None,
    progress: Progress = quiet,
) -> Compared:  # fmt: skip
    """Says in what a repository's book is other than it would be written now. The store is brought up to date, the book
    is left as it is."""
    root = root if root is not None else find_root(os.getcwd())
    said = settings_of(root)
    where, config = out or _folder(root, said), _config(said, jobs)
    staleness = _only_for_books("staleness")
    if os.path.isdir(root) and not staleness.is_there(where):
        return Compared(where, missing=True)
    summary = _build(root, config, progress)
    with _at_pages(root, summary, progress):
        made = _write(root, where, wishes or said.book, config, summary, progress, True)
        found: Compared = staleness.explained(root, store_path(root), where, made)
    return found


def audit_store(root: str | None = None, progress: Progress = quiet) -> list[Damage]:
    """Reads all that is kept of a repository (store, text index, notes about pages, the user's cache) and says what is
    not as it was written. Nothing is brought up to date."""
    root = root if root is not None else find_root(os.getcwd())
    folder = check_store(root)
    if not has_store(root):
        raise UserError(f"{root} has no store", "Build it first: concord build")
    with lock.held(folder, lambda word: progress("say", 0, 0, word)):
        return audit(folder, cache_folder(), settings_of(root).config.cache_bytes)


def totals(root: str, wishes: Book | None = None) -> Totals:
    """How much a repository's store holds, by what is said in its book."""
    with closing(Counts(store_path(root))) as counts:
        return counted(counts, root, wishes or wishes_of(root))


def verify(
    root: str | None = None, out: str | None = None, jobs: int | None = None, progress: Progress = quiet
) -> Verified:
    """Checks a repository's book, by default where its owners have set, against the repository as it is now."""
    root = root if root is not None else find_root(os.getcwd())
    said = settings_of(root)
    folder, config = out or _folder(root, said), _config(said, jobs)
    found: Verified = _only_for_books("checking").verify(root, folder, config, partial(_told, progress))
    return found


def _told(progress: Progress, done: int, total: int) -> None:
    progress("pages", done, total, "")


def check_revisions(root: str | None, revisions: tuple[str, ...]) -> None:
    """Says what is wrong with revisions before anything is built for them."""
    commits(root if root is not None else find_root(os.getcwd()), revisions)


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
        return [problem._asdict() for problem in verify(self.root, out).problems]

    def show(self, asked: str) -> list[Row]:
        """The page of a file, folder or name, as Markdown."""
        self._index.book = wishes_of(self.root)
        shown: list[Row] = _only_for_books("showing").shown(self._index, asked, book_folder(self.root))
        return shown

    def diff(self, *revisions: str) -> list[Row]:
        """What changed between two revisions, between one and the work tree, or since the last commit."""
        return self.compared(*revisions)[0]

    def compared(self, *revisions: str, progress: Progress = quiet) -> tuple[list[Row], str]:
        """The same, and as a page."""
        said = settings_of(self.root)
        self._index.book = said.book

        def told(done: int, total: int) -> None:
            progress("compare", done, total, "")

        showing, out, config = _only_for_books("showing"), _folder(self.root, said), _config(said, None)
        found: tuple[list[Row], str] = showing.compared(self._index, revisions, out, config, told)
        return found

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
    build(root, None, progress)
    return Facts(folder)
