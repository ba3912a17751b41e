"""The page writer: renders files in worker processes and writes them into the folder of a book or a site.

In: a function that renders the files of a subject, and the subjects. Out: files, claims beside pages, and the manifest;
what the book or site no longer has is removed. Every worker needs data about the whole repository (names, ranks,
dependencies between files), so workers are forked from the build once it has loaded that; those of a cluster have a
copy of the store and load it from there. A file depends on the store alone, so it does not matter
which worker renders it, or when.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.config import Config
from concordance.base.confined_folder import ConfinedFolder
from concordance.base.errors import BookFailed, NoPermission, UserError
from concordance.collect.own_output import MANIFEST
from concordance.facts.integrity.archive import store_files
from concordance.facts.integrity.failures import is_disk_full
from concordance.facts.read import Facts
from concordance.facts.updates.page_reads import Digests
from concordance.facts.updates.reads import ReadRecord, Subject, pack_slots
from concordance.query.index.file_counts import RowsByPath
from concordance.query.index.repository import Index
from concordance.query.index.updates.tables import table_digests
from concordance.query.pages import PAGES
from concordance.render.addresses import claims_of
from concordance.render.output import folder_checks
from concordance.render.output.manifest import ManifestPage, digest
from concordance.render.output.page_sink import PageSink
from concordance.render.summary import BookSummary
from concordance.workflow.workers import forked, pool
from concordance.workflow.workers.executor import FailedItem
from concordance.workflow.workers.machine_files import FILES, STORE, FolderFiles, repository_files
from concordance.workflow.workers.ray_executor import RayExecutor

BATCH = 48  # subjects per batch: about a tenth of a second of work
_MIN_BATCHES = 24  # subjects differ in what they cost; with fewer batches, one process would wait for the other
# Up to this many subjects are rendered here: they would not keep two processes busy, and what this process has cached
# is lost when a new one ends.
MAX_PAGES_RENDERED_HERE = 2 * BATCH
# About how many pages of each kind are rendered in advance, but at most one of so many: where a kind has few pages,
# most of the work is for one page alone.
_PRELOAD_SAMPLES, _PRELOAD_DISTANCE = 8, 2 * BATCH
_TABLES: Subject = ("", "")  # no page: the digests of the tables that pages share


class PageFile(NamedTuple):
    """A rendered file."""

    path: str  # inside the folder
    data: bytes
    claims: int = 0
    claims_data: bytes = b""  # the file of claims; empty if there are none
    inputs: str = ""  # digest of what it is rendered from


Render = Callable[[Index, str, str], Iterable[PageFile]]  # returns the files of a kind and subject


@dataclass(frozen=True)
class Renderer:
    """Everything that a book or a site consists of, not yet rendered."""

    index: Index
    render: Render
    work: list[Subject]


class RenderedSubject(NamedTuple):
    """The files of one subject, and what was read for them."""

    subject: Subject
    files: list[PageFile]
    slots: bytes  # encoded
    values: dict[Subject, ReadRecord]  # those that were computed for them, and are compared after an update
    counts: Mapping[str, RowsByPath]  # tables of counts that were computed for them


class _WrittenSubject(NamedTuple):
    """A subject whose files were written, and whether each changed; `files` is empty."""

    rendered: RenderedSubject
    rows: list[tuple[ManifestPage, bool]]
    digests: dict[str, Digests]  # of `_TABLES`


_Written = list[_WrittenSubject] | FailedItem[Subject]


@contextmanager
def opened_folder(root: str, folder: str, out: str, site: bool) -> Iterator[ConfinedFolder]:
    """Open the folder of a book or a site, after checking that it may be written to. Errors about a full or read-only
    disk become messages that say what to do."""
    controlled = (root, folder)
    try:
        folder_checks.check(out, controlled, site)
        with closing(ConfinedFolder(out, controlled)) as confined:
            yield confined
    except OSError as error:
        if is_disk_full(error):
            raise BookFailed(f"{out} cannot be written: {error.strerror}", "Free some space, and run again") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
            advice = "Write the book where you may write (--out)"
            raise NoPermission(f"{error.filename or out} cannot be written: {error.strerror}", advice) from error
        raise


@dataclass
class PageWriter:
    """Writes into one folder. Workers inherit it from the process that forks them."""

    index: Index
    render: Render
    sink: PageSink
    summary: BookSummary
    config: Config
    progress: Callable[[int, int], None]
    cluster: RayExecutor | None = None  # where many subjects are rendered; None for processes
    kind_suffix: str = ""  # suffix of the kind of each page
    is_logged_anew: bool = False  # the log needs the digests of all tables: a worker computes them beside the pages
    digests: dict[str, Digests] = field(default_factory=dict)  # those that a worker has computed
    index_reused: bool = False  # the index is the last run's, and already has what pages need from the whole
    records: dict[Subject, ReadRecord] = field(default_factory=dict)  # what was read for each subject
    opened_by: int = field(default_factory=os.getpid)  # the process that opened the store

    def write(
        self, work: list[Subject], planned: Iterable[str], unchanged: Iterable[ManifestPage],
        others: Mapping[str, ManifestPage], doubtful: bool, incomplete: bool = False,
    ) -> tuple[list[ManifestPage], bool]:  # fmt: skip
        """Write the files of subjects, remove those that are not listed any more, and list the rest; return the rows of
        the book or site, and whether the manifest is marked as unfinished.

        `planned` are paths that will be written, as far as they are known; `unchanged` and `others` are listed without
        being rendered; `doubtful`: there may be files that the manifest does not list; `incomplete`: more will be
        written.
        """
        sink, summary = self.sink, self.summary
        sink.check((MANIFEST, *planned))
        rows = [*unchanged, *self._render(work)]
        names = {row.page for row in rows}
        if len(names) != len(rows):
            raise UserError("two pages have one address; please report this", "")
        if sink.site and summary.failed:  # one lost style or search file would cost more than outdated pages do
            rows += [row for page, row in sink.before.items() if page not in names]
            names.update(sink.before)
        names |= others.keys()
        strays = sink.unlisted(names) if doubtful and not incomplete else ()
        summary.gone = sorted({*sink.before, *strays} - names)
        summary.removed = sink.remove(summary.gone)
        count_pages(summary, rows)
        unfinished = incomplete and bool(sink.unfinished or summary.written or summary.removed)
        summary.listing = sink.finish([*rows, *others.values()], unfinished)
        return rows, unfinished

    def _render(self, work: list[Subject]) -> list[ManifestPage]:
        """Render and write the files of subjects."""
        rows: list[ManifestPage] = []
        if len(work) > MAX_PAGES_RENDERED_HERE:
            # Files of one folder need the same other files.
            batches = pool.batches_by_subject(work, lambda subject: subject[1], min(BATCH, len(work) // _MIN_BATCHES))
            results = self._in_forks(work, batches) if self.cluster is None else self._in_cluster(self.cluster, batches)
        else:
            ordered = sorted(work, key=lambda subject: subject[1])  # the pages of a file share what they show of it
            results = pool.map_here(lambda subject: write_subjects(self, [subject]), ordered, self.config.patience)
        for result in results:
            if isinstance(result, FailedItem):
                if result.item == _TABLES:
                    continue  # this process computes them for the log, and meets the error again
                self.summary.failed.append((f"{result.item[0]} {result.item[1]}", result.reason))
                continue
            for (subject, _, slots, values, counts), pages, digests in result:
                if self.index.reads.values is not None:
                    self.index.reads.values.update(values)
                self.index.summaries.add(counts)
                if subject == _TABLES:
                    self.digests = digests
                    continue
                self.summary.made += len(pages)
                rows += [row for row, _ in pages]
                self.summary.changed += [row.page for row, changed in pages if changed]
                self.records[subject] = ReadRecord(slots, tuple(row.page for row, _ in pages))
            self.progress(len(rows), max(len(rows), len(work)))
        return rows

    def _in_forks(self, work: list[Subject], batches: Iterator[list[Subject]]) -> Iterator[_Written]:
        if not self.index_reused:
            preload_kinds(self.index, work)
        every = chain([[_TABLES]] if self.is_logged_anew else [], batches)  # first: they take longer than any batch
        return forked.map_forked(self, write_subjects, every, self.config.jobs, self.config.patience)

    def _in_cluster(self, cluster: RayExecutor, batches: Iterator[list[Subject]]) -> Iterator[_Written]:
        cluster.patience = lambda subjects: self.config.patience * (1 + len(subjects))
        shared = _RemoteRenderer(self.render, self.index)
        for result in cluster.map_batches(_render_subjects, shared, batches, _sent_files(self.index)):
            yield result if isinstance(result, FailedItem) else [self.write_rendered(subject) for subject in result]

    def write_rendered(self, rendered: RenderedSubject) -> _WrittenSubject:
        """Write the files of one subject."""
        rows = [self._write(file, rendered.subject[0]) for file in rendered.files]
        return _WrittenSubject(rendered._replace(files=[]), rows, {})

    def _write(self, file: PageFile, kind: str) -> tuple[ManifestPage, bool]:
        path, data, before = file.path, file.data, self.sink.before
        row = manifest_row(file, kind + self.kind_suffix)
        changed = self.sink.put(path, data)
        if file.claims_data:
            changed |= self.sink.put(claims_of(path), file.claims_data)
        elif path in before and before[path].claims:
            changed |= self.sink.drop(claims_of(path))
        return row, changed


def manifest_row(file: PageFile, kind: str) -> ManifestPage:
    """Return what the manifest lists of a rendered file."""
    checksum = digest(file.claims_data) if file.claims_data else ""
    return ManifestPage(file.path, kind, digest(file.data), len(file.data), file.claims, checksum, file.inputs)


def write_subjects(writer: PageWriter, subjects: list[Subject]) -> list[_WrittenSubject]:
    """Render and write the files of the given subjects, in a worker or here."""
    if writer.opened_by != os.getpid():
        writer.index.facts.reopen()
        writer.opened_by = os.getpid()
    if subjects == [_TABLES]:
        return [_digest_tables(writer.index)]
    return [writer.write_rendered(render_subject(writer.index, writer.render, subject)) for subject in subjects]


def _digest_tables(index: Index) -> _WrittenSubject:
    """Compute the digests of the tables that pages share. What is computed for them is recorded as for a page."""
    digests: dict[str, Digests] = {}

    def compute(index: Index, kind: str, subject: str) -> Iterable[PageFile]:
        digests.update(table_digests(index, {}, None))
        return ()

    return _WrittenSubject(render_subject(index, compute, _TABLES), [], digests)


def render_subject(index: Index, render: Render, subject: Subject) -> RenderedSubject:
    """Render the files of one subject, and record what is read for them."""
    reads, tables = index.reads, set(index.summaries.tables)
    before, reads.values = reads.values, {}
    with reads.recording() as slots:
        files = list(render(index, *subject))
    values, reads.values = reads.values, before
    counts = {name: rows for name, rows in index.summaries.tables.items() if name not in tables}
    return RenderedSubject(subject, files, pack_slots(slots), values, counts)


class _RemoteRenderer:
    """What workers on other machines render from: a copy of the store, and of the files that pages quote."""

    def __init__(self, render: Render, index: Index) -> None:
        self.render, self._book, self._skipped, self._of_pages = render, index.book, index.skipped_pages, index.of_pages

    def use_files(self, folders: Mapping[str, str]) -> None:
        """Open the copies of this machine."""
        self.index = Index(Facts(folders[STORE]), folders[FILES], self._book, self._skipped)
        self.index.of_pages = self._of_pages


def _sent_files(index: Index) -> list[FolderFiles]:
    """Return the files of a store, and those of its repository."""
    store = os.path.abspath(os.path.dirname(index.facts.path))
    own = tuple(name for name in store_files(store) if not name.startswith("pages-"))
    return [FolderFiles(STORE, store, own), repository_files(index.root, index.facts.files())]


def _render_subjects(shared: _RemoteRenderer, subjects: list[Subject]) -> list[RenderedSubject]:
    """Render the files of subjects in a worker of a cluster; the build writes them."""
    return [render_subject(shared.index, shared.render, subject) for subject in subjects]


def count_pages(summary: BookSummary, rows: Collection[ManifestPage]) -> None:
    """Count the listed files, and those that were written."""
    summary.pages, summary.bytes = len(rows), sum(row.size for row in rows)
    summary.claims = sum(row.claims for row in rows)
    summary.written = len(summary.changed)


def preload_kinds(index: Index, work: Iterable[Subject]) -> None:
    """Render some pages of each kind and discard them, only to load what they need from the whole before workers are
    forked; otherwise each worker would load it again."""
    by_kind: dict[str, list[str]] = {}
    for kind, subject in work:
        by_kind.setdefault(kind, []).append(subject)
    for kind, subjects in by_kind.items():
        distance = max(len(subjects) // _PRELOAD_SAMPLES + 1, _PRELOAD_DISTANCE)
        for subject in subjects[::distance] if kind in plugins.names(PAGES) else ():
            with suppress(Exception):  # a worker will meet the error again and report it
                next(plugins.load(PAGES, kind).pages(index, subject), None)
