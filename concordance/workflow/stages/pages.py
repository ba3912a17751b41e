"""The page stage: choose which pages of the book to write, and render them in worker processes.

In: a current store, and the folder of the book. Out: pages, their claims and the manifest. Every worker needs data
about the whole repository (names, ranks, dependencies between files), so workers are forked from the build once it has
loaded that. A page depends on the store alone, so it does not matter which worker renders it, or when.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.blocks import TO_FILES, TO_FOLDERS, Page, Ref, To
from concordance.base.config import Book, Config, site_book
from concordance.base.confined_folder import ConfinedFolder
from concordance.base.errors import BookFailed, NoPermission, UserError
from concordance.base.model import ListedFile
from concordance.collect.own_output import MANIFEST
from concordance.facts import code_versions
from concordance.facts.read import Facts
from concordance.facts.updates.page_reads import PageReadsStore, PageRecord, Subject, pack_slots
from concordance.query.folders import folders
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import refresh_index
from concordance.query.index.updates.stale_pages import StalePages
from concordance.query.pages import PAGES, kinds, kinds_per_path
from concordance.query.sections.structure import plain_files
from concordance.render import claims
from concordance.render.addresses import Addresses, claims_of
from concordance.render.formats import PageFormat, markdown
from concordance.render.output import folder_checks, manifest
from concordance.render.output.manifest import ManifestPage
from concordance.render.output.page_sink import DryRunSink, PageSink
from concordance.render.summary import BookSummary
from concordance.serve.reader import save_front_page
from concordance.workflow.resident import BookFolder, BookState, ResidentState
from concordance.workflow.workers import forked, pool

OF_A_PAGE = " of a page"  # suffix of the kind of a page that is about a page
BATCH = 48  # subjects per batch: about a tenth of a second of work
FEW = 40  # up to this many subjects are rendered here, since starting processes would take longer
_TRIED = 8  # about how many pages of each kind are rendered in advance


@dataclass
class _PageWorkerState:
    """The data of a worker, inherited from the process that forked it."""

    index: Index
    addresses: Addresses
    out: str
    before: dict[str, ManifestPage]
    sink: PageSink
    format: PageFormat
    mark: str = ""  # suffix of the kind of each page
    goes_on: bool = False  # the index is the last run's, and already has what pages need from the whole
    opened_by: int = field(default_factory=os.getpid)  # the process that opened the store


class _Done(NamedTuple):
    """The pages of one subject, and whether the file of each changed."""

    subject: Subject
    rows: list[tuple[ManifestPage, bool]]
    slots: set[int]  # what was read for them


def write_subjects(desk: _PageWorkerState, subjects: list[Subject]) -> list[_Done]:
    """Render and write the pages of the given subjects."""
    if desk.opened_by != os.getpid():
        desk.index.facts.reopen()
        desk.opened_by = os.getpid()
    return [_subject(desk, kind, subject) for kind, subject in subjects]


def _subject(desk: _PageWorkerState, kind: str, subject: str) -> _Done:
    with desk.index.reads.heard() as slots:
        pages = plugins.load(PAGES, kind).pages(desk.index, subject)
        return _Done((kind, subject), [_write(desk, page, kind) for page in pages], slots)


def _write(desk: _PageWorkerState, page: Page, kind: str) -> tuple[ManifestPage, bool]:
    rendered = desk.format.render(page, desk.addresses)
    path = desk.addresses.page(page.ref)
    data = rendered.text.encode("utf-8", "backslashreplace")
    beside = claims.encode_claims(path, rendered.claims, partial(_claim_text, desk.index))
    file = desk.index.files.get(page.ref.path)
    inputs = file.digest if file is not None else ""
    checksum = manifest.digest(beside) if beside else ""
    row = ManifestPage(path, kind + desk.mark, manifest.digest(data), len(data), len(rendered.claims), checksum, inputs)
    changed = desk.sink.put(path, data)
    if beside:
        changed |= desk.sink.put(claims_of(path), beside)
    elif path in desk.before and desk.before[path].claims:
        changed |= desk.sink.drop(claims_of(path))
    return row, changed


def _claim_text(index: Index, path: str, first: int, last: int) -> str:
    """Return what a claim stores of the given lines of a file, or of the whole file."""
    if not first:
        return index.files[path].digest
    return claims.claim_text(index.opened(path).lines() or [], first, last)


def write(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    passed: Mapping[str, int], only_compared: bool = False, memory: ResidentState | None = None,
    form: PageFormat = markdown,
) -> BookSummary:  # fmt: skip
    """Write the whole book; nothing if it is current, or with `only_compared`. `memory` is the state that the last run
    of this process left, and is updated."""
    memory = memory or ResidentState(lasts=False)
    with _explain_disk_errors(out), forked.without_gc(), memory.used():
        known = memory.books[out] = _book_state(root, folder, out, book, memory.books.get(out))
        known.index.passed = passed
        paths, plain = [row[1] for row in known.index.bases], plain_files(known.index)
        addresses = known.addresses((paths, plain, form), lambda: Addresses(paths, root, out, plain, form.ENDING))
        with _confined(root, folder, out) as confined:
            level = _Level(confined, book, config, False, only_compared, memory.whole, form)
            summary = level.write(known, addresses, progress)
        if not only_compared and not memory.lasts:
            _leave_front(known.index, folder, book)
        return summary


def _leave_front(index: Index, folder: str, book: Book) -> None:
    """Cache the site's front page for a server that may be started next, if this run has loaded the data anyway."""
    if folders in index.worked_out:
        index.book = site_book(book)
        with suppress(Exception):  # only for speed: whoever needs the page will report the error
            save_front_page(index, folder)


def _book_state(root: str, folder: str, out: str, book: Book, before: BookState | None) -> BookState:
    """Return the state of a book for the current store: the last run's, if it can be brought up to date."""
    facts = Facts(folder)
    if before is not None:
        before.goes_on = before.index.book == book and refresh_index(before.index, facts)
        if before.goes_on:
            return before
    index = Index(facts, root, book)
    if before is None:
        return BookState(index, PageReadsStore(folder, out), BookFolder(out))
    before.index.facts.close()
    before.index.__dict__.clear()  # it has reference cycles: otherwise it would stay until a collection
    before.index = index
    return before


def write_generated(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    only_compared: bool = False,
) -> BookSummary:  # fmt: skip
    """Write the pages about a book's own pages, which have a store of their own."""
    with (
        _explain_disk_errors(out),
        closing(BookState(Index(Facts(folder), root, book), PageReadsStore(folder, out), BookFolder(out))) as known,
    ):
        known.index.of_pages = True
        listed = known.shelf.read().pages
        own = frozenset(page for page, row in listed.items() if not row.kind.endswith(OF_A_PAGE))
        addresses = _Inner([row[1] for row in known.index.bases], root, out, own)
        with _confined(root, folder, out) as confined:
            return _Level(confined, book, config, True, only_compared, True).write(known, addresses, progress)


def own_pages(root: str, out: str) -> list[ListedFile]:
    """Return the pages of a book as files of its repository, except those that are about pages."""
    inside = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    if inside.split("/")[0] == "..":
        advice = "Write it into a folder of the repository, or omit --include-generated"
        raise UserError(f"{out} is outside the repository, so its pages are not files of it", advice)
    found = []
    for page, row in manifest.read(out).pages.items():
        if not row.kind.endswith(OF_A_PAGE) and not f"{page}/".startswith(f"{inside}/"):
            stat = os.lstat(os.path.join(out, page))
            path, times = f"{inside}/{page}", (stat.st_mtime_ns, stat.st_ctime_ns)
            found.append(ListedFile(path, stat.st_size, times[0], altered=times[1], inode=stat.st_ino & (1 << 63) - 1))
    return sorted(found, key=lambda entry: os.fsencode(entry.path))


class _Inner(Addresses):
    """The addresses of pages about pages. Front pages are those of the book itself."""

    def __init__(self, paths: Iterable[str], root: str, out: str, known: frozenset[str]) -> None:
        super().__init__(paths, root, out)
        self.known = known

    def page(self, ref: Ref) -> str:
        return super().page(self._there(ref))

    def link(self, page: str, ref: Ref) -> str:
        return super().link(page, self._there(ref))

    def _there(self, ref: Ref) -> Ref:
        whole = ref.to not in TO_FILES | TO_FOLDERS | {To.REPORT}
        return ref._replace(path="", at="", part=1) if whole and super().page(ref) not in self.known else ref


@contextmanager
def _confined(root: str, folder: str, out: str) -> Iterator[ConfinedFolder]:
    """Open the folder of a book, after checking that it may be written to."""
    controlled = (root, folder)
    folder_checks.check(out, controlled, site=False)
    with closing(ConfinedFolder(out, controlled)) as confined:
        yield confined


@contextmanager
def _explain_disk_errors(out: str) -> Iterator[None]:
    """Turn errors about a full or read-only disk into messages that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise BookFailed(f"{out} cannot be written: {error.strerror}", "Free some space, and run again") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
            advice = "Write the book where you may write (--out)"
            raise NoPermission(f"{error.filename or out} cannot be written: {error.strerror}", advice) from error
        raise


@dataclass
class _Level:
    """The pages of a repository's files, or the pages about those pages: written separately, into one book."""

    folder: ConfinedFolder
    book: Book
    config: Config
    generated: bool
    only_compared: bool
    whole: bool  # compare all existing pages with the manifest
    format: PageFormat = markdown

    def write(self, known: BookState, addresses: Addresses, progress: Callable[[int, int], None]) -> BookSummary:
        """Write the pages that are missing or not current."""
        out, summary = self.folder.path, BookSummary(self.folder.path, front=f"index{self.format.ENDING}")
        index, shelf = known.index, known.shelf
        listed, unfinished, sound = shelf.read()
        before = {page: row for page, row in listed.items() if row.kind.endswith(OF_A_PAGE) == self.generated}
        others = {p: row for p, row in listed.items() if p not in before} if self.book.generated else {}
        settled = not unfinished and len(before) + len(others) == len(listed)
        sink = DryRunSink(self.folder, listed) if self.only_compared else PageSink(self.folder, listed)
        made_of, mark = self._made_of(index, addresses), shelf.mark(before.values()) if sound else ""
        chooser = StalePages(index, known.notes, made_of, mark, self.generated)
        astray = sink.astray(before) if shelf.is_due(self.whole) else []
        sink.tidy()  # a run may have been killed before it could mark its beginning
        if settled and before and not astray and chooser.is_current:
            summary.listing = self.only_compared and sink.finish(listed.values(), False)
            return _counted(summary, list(before.values()))
        choice = chooser.choice(lambda: self._work(known, addresses, others), astray)
        work = choice.work
        taken = manifest.collisions(out, _planned(addresses, work), listed)
        if taken:
            raise manifest.PathTaken(out, taken)
        mark_of_kind = OF_A_PAGE if self.generated else ""
        desk = _PageWorkerState(index, addresses, out, listed, sink, self.format, mark_of_kind, known.goes_on)
        made: dict[Subject, PageRecord] = {}
        rows = [row for page, row in before.items() if not choice.anew and page not in choice.replaced]
        rows += _render_pages(desk, work, self.config, progress, summary, made)
        names = {row.page for row in rows}
        if len(names) != len(rows):
            raise UserError("two pages have the same address; please report this", "")
        more = not self.generated and self.book.generated  # the pages about pages are still to be written
        doubtful = unfinished or choice.anew or self.only_compared
        strays = manifest.find_unlisted_pages(self.folder, names | others.keys()) if doubtful and not more else ()
        summary.gone = sorted({*listed, *strays} - names - others.keys())
        summary.removed = sink.remove(summary.gone)
        _counted(summary, rows)
        touched = bool(unfinished or summary.written or summary.removed)
        summary.listing = sink.finish([*rows, *others.values()], more and touched)
        if not self.only_compared:
            mark = manifest.pages_digest(rows)
            shelf.wrote([*rows, *others.values()], more and touched, mark)
            if not summary.failed:
                chooser.note(choice, made, mark)
        return summary

    def _work(self, known: BookState, addresses: Addresses, others: Collection[str]) -> dict[Subject, int]:
        """Return what to render; of pages about pages, those whose address is not taken by a page of the repository."""
        some = kinds_per_path() if self.generated else plugins.names(PAGES)
        lists = [(kind, _subjects(kind, known.index)) for kind in some]

        def made() -> dict[Subject, int]:
            every = [(kind, subject) for kind, subjects in lists for subject in subjects]
            if self.generated:
                every = [one for one in every if addresses.page(Ref(kinds()[one[0]], one[1])) not in others]
            return {one: place for place, one in enumerate(every)}

        return known.work(lists, made)

    def _made_of(self, index: Index, addresses: Addresses) -> str:
        """Return a digest of what a book depends on besides the store: the program, the settings, and unusual
        addresses."""
        out = os.path.realpath(self.folder.path)
        wishes = replace(self.book, notes=(), settings="")  # pages record which of these they read
        passed = sorted(index.passed.items())
        known = (code_versions.pages(), out, wishes, passed, addresses.odd(), self.format.ENDING)
        return manifest.digest(repr(known).encode("utf-8", "backslashreplace"))


def _preload_kinds(index: Index, work: list[tuple[str, str]]) -> None:
    """Render some pages of each kind and discard them, only to load what they need from the whole before workers are
    forked; otherwise each worker would load it again."""
    by_kind: dict[str, list[str]] = {}
    for kind, subject in work:
        by_kind.setdefault(kind, []).append(subject)
    for kind, subjects in by_kind.items():
        for subject in subjects[:: len(subjects) // _TRIED + 1]:
            with suppress(Exception):  # a worker will meet the error again and report it
                next(plugins.load(PAGES, kind).pages(index, subject), None)


def preload(known: BookState) -> None:
    """Compute what the pages of the next update need from the whole, while nobody is waiting."""
    index = known.index
    _preload_kinds(index, [(kind, subject) for kind in plugins.names(PAGES) for subject in _subjects(kind, index)])


def _counted(summary: BookSummary, rows: list[ManifestPage]) -> BookSummary:
    summary.pages, summary.bytes = len(rows), sum(row.size for row in rows)
    summary.claims = sum(row.claims for row in rows)
    summary.written = len(summary.changed)
    return summary


def _subjects(kind: str, index: Index) -> list[str]:
    found: list[str] = plugins.load(PAGES, kind).subjects(index)
    return found


def _planned(addresses: Addresses, work: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the addresses of pages; further parts of a split page are only known once it is rendered."""
    yield MANIFEST
    for kind, subject in work:
        if kind in kinds():
            yield addresses.page(Ref(kinds()[kind], subject))


def _render_pages(
    desk: _PageWorkerState, work: list[tuple[str, str]], config: Config, progress: Callable[[int, int], None],
    summary: BookSummary, made: dict[Subject, PageRecord],
) -> list[ManifestPage]:  # fmt: skip
    """Render pages; records in `made` what was read for each subject."""
    rows: list[ManifestPage] = []
    if len(work) > FEW:
        if not desk.goes_on:
            _preload_kinds(desk.index, work)
        batches = pool.batches_by_subject(
            work, lambda one: one[1], BATCH
        )  # files of one folder need the same other files
        results = forked.map_forked(desk, write_subjects, batches, config.jobs, config.patience)
    else:
        results = pool.map_here(partial(_subject_of, desk), work, config.patience)
    for result in results:
        if isinstance(result, pool.FailedItem):
            summary.failed.append((f"{result.item[0]} {result.item[1]}", result.reason))
            continue
        for subject, pages, slots in result:
            summary.made += len(pages)
            rows += [row for row, _ in pages]
            summary.changed += [row.page for row, changed in pages if changed]
            made[subject] = PageRecord(pack_slots(slots), tuple(row.page for row, _ in pages))
        progress(len(rows), max(len(rows), len(work)))
    return rows


def _subject_of(desk: _PageWorkerState, subject: Subject) -> list[_Done]:
    return [_subject(desk, *subject)]
