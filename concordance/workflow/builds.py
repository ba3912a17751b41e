"""Builds, checks and verifies a repository's store, book and site: what the commands and the API start.

In: a repository and what its book shall hold. Out: a current store and a book or a site, with a summary of each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

from concordance.base import config_file
from concordance.base.config import Book, Config, cache_folder, of_site
from concordance.base.errors import UserError
from concordance.base.progress import BuildSummary, Progress, Totals, quiet
from concordance.collect.revisions import commits
from concordance.collect.walk import Walked, find_root
from concordance.extract import ruleset
from concordance.facts.counts import Counts
from concordance.facts.integrity import lock
from concordance.facts.integrity.audit import Damage, audit
from concordance.query.index.counts.totals import counted
from concordance.render.output import folder_checks
from concordance.render.summary import BookDifference, BookSummary, VerifyResult
from concordance.workflow import book_check
from concordance.workflow.pipeline import GENERATED, Build
from concordance.workflow.publish import publish
from concordance.workflow.stages import pages
from concordance.workflow.state.resident import ResidentState
from concordance.workflow.state.store_state import StoreState
from concordance.workflow.store_location import check_store, has_store, store_path

SITE = "site"  # the folder of the site, where none is said


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
    memory: ResidentState | None = None,
) -> BuildSummary:  # fmt: skip
    """Brings a repository's store up to date, and says what could not be read whole. `walked` are its files, where they
    are known; `memory` is for who does so again and again."""
    return _build(root, _config(settings_of(root), jobs), progress, walked, memory)


def _build(
    root: str, config: Config, progress: Progress, walked: Walked | None = None, memory: ResidentState | None = None
) -> BuildSummary:
    kept = memory.kept if memory is not None else StoreState()
    summary = Build(root, config, progress, walked=walked, kept=kept).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is in the ledger, without facts")
    return summary


def book(
    root: str, out: str | None = None, wishes: Book | None = None, jobs: int | None = None, progress: Progress = quiet,
    walked: Walked | None = None, memory: ResidentState | None = None,
) -> tuple[BuildSummary, BookSummary]:  # fmt: skip
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
        folder_checks.check(out, (root, check_store(root)), site)


def site(
    root: str, out: str | None = None, wishes: Book | None = None, jobs: int | None = None, progress: Progress = quiet
) -> tuple[BuildSummary, BookSummary]:
    """Brings a repository's store up to date, and writes its site: pages for a browser, without a server."""
    said = settings_of(root)
    config, folder = _config(said, jobs), store_path(root)
    where = out or os.path.join(folder, SITE)
    _check_out(root, where, site=True)
    summary = _build(root, config, progress)
    with _at_pages(root, summary, progress):
        written = publish(root, folder, where, of_site(wishes or said.book), config, partial(_told, progress))
    for page, reason in written.failed:
        progress("say", 0, 0, f"the page {page} could not be made: {reason}")
    return summary, written


@contextmanager
def _at_pages(root: str, summary: BuildSummary, progress: Progress) -> Iterator[None]:
    """Pages are made by one process at a time, and how long that takes is kept."""
    began = time.perf_counter()
    progress("pages", 0, 0, "")
    with lock.held(store_path(root), lambda word: progress("say", 0, 0, word)):
        yield
    summary.seconds["pages"] = time.perf_counter() - began


def _write(
    root: str,
    out: str,
    wishes: Book,
    config: Config,
    summary: BuildSummary,
    progress: Progress,
    compared: bool = False,
    memory: ResidentState | None = None,
) -> BookSummary:
    """Writes the book, and where that is wished for the pages of its pages; or only compares."""
    told = partial(_told, progress)
    here = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    passed = {folder: count for folder, count in summary.passed.items() if (folder or ".") != here}
    written = pages.write(root, store_path(root), out, wishes, config, told, passed, compared, memory)
    if wishes.generated and not (compared and (written.changed or written.gone)):  # of pages that are there
        entries = pages.own_entries(root, out)
        Build(root, config, progress, pages=entries).run()
        folder = os.path.join(store_path(root), GENERATED)
        more = pages.write_generated(root, folder, out, wishes, config, told, compared)
        for name in ("pages", "written", "removed", "bytes", "claims", "failed", "changed", "gone"):
            setattr(written, name, getattr(written, name) + getattr(more, name))
    return written


def check(
    root: str | None = None, out: str | None = None, wishes: Book | None = None, jobs: int | None = None,
    progress: Progress = quiet,
) -> BookDifference:  # fmt: skip
    """Says in what a repository's book is other than it would be written now. The store is brought up to date, the book
    is left as it is."""
    root = root if root is not None else find_root(os.getcwd())
    said = settings_of(root)
    where, config = out or _folder(root, said), _config(said, jobs)
    if os.path.isdir(root) and not book_check.is_there(where):
        return BookDifference(where, missing=True)
    summary = _build(root, config, progress)
    with _at_pages(root, summary, progress):
        made = _write(root, where, wishes or said.book, config, summary, progress, True)
        return book_check.explained(root, store_path(root), where, made)


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
) -> VerifyResult:
    """Checks a repository's book, by default where its owners have set, against the repository as it is now."""
    root = root if root is not None else find_root(os.getcwd())
    said = settings_of(root)
    folder, config = out or _folder(root, said), _config(said, jobs)
    return book_check.verify(root, folder, config, partial(_told, progress))


def _told(progress: Progress, done: int, total: int) -> None:
    progress("pages", done, total, "")


def check_revisions(root: str | None, revisions: tuple[str, ...]) -> None:
    """Says what is wrong with revisions before anything is built for them."""
    commits(root if root is not None else find_root(os.getcwd()), revisions)
