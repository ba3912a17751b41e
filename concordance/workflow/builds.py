"""Entry points of the commands and the API: build, check and verify the store, the book and the site of a repository.

In: a repository and the settings of its book. Out: a current store, and a book or a site, with a summary of each.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

from concordance.base import plugins
from concordance.base.config import ANY_WORKERS, Book, Config, Workers, cache_folder, site_book
from concordance.base.errors import UserError
from concordance.base.progress import BuildSummary, Progress, Totals, ignore_progress
from concordance.collect.revisions import commits
from concordance.collect.walk import WalkResult, find_root
from concordance.facts.integrity import lock
from concordance.facts.integrity.audit import Damage, audit
from concordance.facts.read import Facts
from concordance.facts.schema import GENERATED
from concordance.query.index.findings import count_totals
from concordance.render.formats import FORMATS
from concordance.render.output import folder_checks, manifest
from concordance.render.summary import BookDifference, BookSummary, VerifyResult
from concordance.workflow.book_options import HTML, MARKDOWN, book_settings, default_folder, read_settings
from concordance.workflow.checks import staleness
from concordance.workflow.checks.verify import BookVerification
from concordance.workflow.pipeline import Build
from concordance.workflow.resident import ResidentState, release_freed_memory
from concordance.workflow.stages import pages
from concordance.workflow.stages.site import publish
from concordance.workflow.store_location import check_store, has_store, store_path
from concordance.workflow.store_update import update_store, with_workers
from concordance.workflow.workers.ray_executor import RayExecutor, opened_cluster


def formats() -> list[str]:
    """Return what can be built: a book in Markdown, a site, or a book in the format of an extension."""
    return [MARKDOWN, HTML, *(name for name in plugins.names(FORMATS) if name not in (MARKDOWN, HTML))]


def write_book(
    root: str,
    out: str | None = None,
    book_options: Book | None = None,
    jobs: int | None = None,
    progress: Progress = ignore_progress,
    listing: WalkResult | None = None,
    resident: ResidentState | None = None,
    form: str = MARKDOWN,
    workers: Workers = ANY_WORKERS,
) -> tuple[BuildSummary, BookSummary]:
    """Update a repository's store and write its book or its site, by default as its settings say. `resident` keeps
    state for a process that does this repeatedly; `form` is the name of a format."""
    settings = read_settings(root)
    folder, config = out or default_folder(root, settings, form), with_workers(settings, jobs, workers)
    book_options = book_options or settings.book
    if book_options.generated and form not in (MARKDOWN, HTML):
        raise UserError(f"pages about pages cannot be written in {form}", "Omit --include-generated")
    _check_out(root, folder, site=form == HTML)
    with opened_cluster(config, lambda word: progress("say", 0, 0, word)) as cluster:
        summary = update_store(root, config, progress, listing, resident, cluster)
        for remark in settings.remarks:
            progress("say", 0, 0, remark)
        if resident is None:
            release_freed_memory()  # else the processes that write pages hold what linking needed as well
        with _page_step(root, summary, progress):
            if form == HTML:
                report = partial(_report_pages, progress)
                written = publish(root, store_path(root), folder, site_book(book_options), config, report, cluster)
            else:
                written = _write(
                    root, folder, book_options, config, summary, progress, resident=resident, form=form, cluster=cluster
                )
    for page, reason in written.failed:
        progress("say", 0, 0, f"the page {page} could not be rendered: {reason}")
    return summary, written


def _check_out(root: str, out: str, site: bool) -> None:
    """Refuse an unsuitable folder before spending minutes on reading. A problem of the repository is reported first."""
    if os.access(root, os.R_OK | os.X_OK) and os.path.isdir(root):
        folder_checks.check(out, (root, check_store(root)), site)


@contextmanager
def _page_step(root: str, summary: BuildSummary, progress: Progress) -> Iterator[None]:
    """Hold the lock while pages are written, and record how long that takes."""
    began = time.perf_counter()
    progress("pages", 0, 0, "")
    with lock.hold_lock(store_path(root), lambda word: progress("say", 0, 0, word)):
        yield
    summary.seconds["pages"] = time.perf_counter() - began


def _write(
    root: str,
    out: str,
    book_options: Book,
    config: Config,
    summary: BuildSummary,
    progress: Progress,
    only_compare: bool = False,
    resident: ResidentState | None = None,
    form: str = MARKDOWN,
    cluster: RayExecutor | None = None,
) -> BookSummary:
    """Write the book, and if requested the pages about its pages; with `only_compare` only compare."""
    report = partial(_report_pages, progress)
    book_folder = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    skipped = {folder: count for folder, count in summary.passed.items() if (folder or ".") != book_folder}
    written = pages.write(
        root, store_path(root), out, book_options, config, report, skipped, only_compare, resident, form, cluster
    )
    if book_options.generated and not (only_compare and (written.changed or written.gone)):  # only of pages that exist
        entries = pages.own_pages(root, out)
        Build(root, config, progress, pages=entries).run()
        folder = os.path.join(store_path(root), GENERATED)
        more = pages.write_generated(root, folder, out, book_options, config, report, only_compare)
        for name in ("pages", "written", "removed", "bytes", "claims", "failed", "changed", "gone"):
            setattr(written, name, getattr(written, name) + getattr(more, name))
    return written


def check(
    root: str | None = None, out: str | None = None, book_options: Book | None = None, jobs: int | None = None,
    progress: Progress = ignore_progress,
) -> BookDifference:  # fmt: skip
    """Return how a repository's book differs from what would be written now. The store is updated; the book is not
    changed."""
    root = root if root is not None else find_root(os.getcwd())
    settings = read_settings(root)
    folder, config = out or default_folder(root, settings), with_workers(settings, jobs)
    if os.path.isdir(root) and not staleness.has_book(folder):
        return BookDifference(folder, missing=True)
    summary = update_store(root, config, progress)
    with _page_step(root, summary, progress):
        written = _write(
            root, folder, book_options or settings.book, config, summary, progress, True, form=_format_of(folder)
        )
        return staleness.explain_difference(root, store_path(root), folder, written)


def _format_of(out: str) -> str:
    """Return the name of the format of the book in a folder."""
    ending = manifest.ending(manifest.read(out).pages)
    return next((name for name in plugins.names(FORMATS) if ending == plugins.load(FORMATS, name).ENDING), MARKDOWN)


def audit_store(root: str | None = None, progress: Progress = ignore_progress) -> list[Damage]:
    """Read everything that is stored for a repository (store, text index, notes about pages, the user's cache) and
    return what is damaged. Nothing is updated."""
    root = root if root is not None else find_root(os.getcwd())
    folder = check_store(root)
    if not has_store(root):
        raise UserError(f"{root} has no store", "Build it first: concord build")
    with lock.hold_lock(folder, lambda word: progress("say", 0, 0, word)):
        return audit(folder, cache_folder(), read_settings(root).config.cache_bytes)


def totals(root: str, book_options: Book | None = None) -> Totals:
    """Return how much a repository's store contains, counted as in its book."""
    with closing(Facts(store_path(root))) as facts:
        return count_totals(facts, root, book_options or book_settings(root))


def verify(
    root: str | None = None, out: str | None = None, jobs: int | None = None, progress: Progress = ignore_progress,
    sample: int = 0,
) -> VerifyResult:  # fmt: skip
    """Check a repository's book, by default the one in its settings, against the current repository; with `sample`
    only that many of its pages, chosen at random."""
    root = root if root is not None else find_root(os.getcwd())
    settings = read_settings(root)
    folder, config = out or default_folder(root, settings), with_workers(settings, jobs)
    form = _format_of(folder)
    store = check_store(root)
    return BookVerification(root, folder, store, config, settings.book, form, progress, sample).run()


def _report_pages(progress: Progress, done: int, total: int) -> None:
    progress("pages", done, total, "")


def check_revisions(root: str | None, revisions: tuple[str, ...]) -> None:
    """Raise if a revision is not valid, before anything is built for it."""
    commits(root if root is not None else find_root(os.getcwd()), revisions)
