"""Verifies a book or a site: makes everything again from the source, and compares.

    source ──▶ fresh store ──▶ fresh pages ═══ pages of the book    a difference: the book is at fault
                    ║              ║                                (or the store, if it says the same as the book)
         the repository's store   source, read as text
         a difference:            a contradiction:
         the store is at fault    the program is at fault

In: a repository and the folder of its book. Out: every problem, with its page and line. The fresh store is built in a
temporary folder from nothing, without the repository's store and the fact cache, so neither can hide a mistake. Pages
are rendered in forked workers, just as when they are written, and checked there (`render/verify.py`).

A quick look at a sample of the pages renders them from the repository's store instead; then only the files that these
pages are about are read anew, and compared with what the store says about them.
"""

from __future__ import annotations

import os
import random
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace

from concordance.base.blocks import Ref, To
from concordance.base.config import Book, Config, site_book
from concordance.base.errors import StoreBroken, UserError
from concordance.base.progress import Progress, ignore_progress
from concordance.base.version import VERSION
from concordance.collect import own_output, path_patterns, walk
from concordance.collect.classify import header_language
from concordance.extract.cfamily import macros
from concordance.facts import code_versions
from concordance.facts.integrity.comparison import StoreDifference, compare_files, compare_stores
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.facts.updates.reads import Subject
from concordance.query.index.repository import Index
from concordance.render.addresses import claims_of
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage, with_options
from concordance.render.page_difference import find_differences
from concordance.render.summary import Fault, Problem, VerifyResult
from concordance.render.verify import FILE_PAGE, CheckedBook, Checker, PageCheck, line_text
from concordance.workflow.checks.staleness import addresses_of
from concordance.workflow.pipeline import Build
from concordance.workflow.stages import extract, pages, site
from concordance.workflow.stages.page_writer import (
    BATCH,
    MAX_PAGES_RENDERED_HERE,
    Renderer,
    manifest_row,
    preload_kinds,
)
from concordance.workflow.store_update import update_store
from concordance.workflow.workers import forked, pool, temp_folder
from concordance.workflow.workers.executor import FailedItem


@dataclass
class BookVerification:
    """One verification of one book or site."""

    root: str
    out: str
    store: str  # the folder of the repository's store; it need not exist
    config: Config
    book: Book  # as the settings of the repository describe it
    form: str
    progress: Progress
    sample: int = 0  # how many pages to check; 0 for all
    result: VerifyResult = field(default_factory=VerifyResult)

    def run(self) -> VerifyResult:
        """Check the pages and the store."""
        listed = manifest.read(self.out)
        if not listed.pages and not listed.unfinished:
            advice = "Write it with `concord build`, or give its folder with --out"
            raise UserError(f"{self.out} contains no book", advice)
        self.result.total = len(listed.pages)
        version = manifest.version(self.out)
        if listed.unfinished:
            self._add(own_output.MANIFEST, "the last build was interrupted; build again")
        elif version != VERSION:
            writer = f"Concordance {version}" if version else "an unknown version of Concordance"
            self._add(own_output.MANIFEST, f"written by {writer}, this is {VERSION}: build again, or use that version")
        else:
            self.book = with_options(self.book, listed.options)
            with temp_folder.folder() as scratch:
                self._verify(listed, scratch)
            self.result.problems.sort()
        return self.result

    def _add(self, page: str, problem: str, fault: Fault = Fault.BOOK) -> None:
        self.result.problems.append(Problem(page, 0, "", problem, fault))

    def _verify(self, listed: Manifest, scratch: str) -> None:
        from_store = bool(self.sample) and os.path.lexists(os.path.join(self.store, "index.db"))
        if from_store:
            folder, summary = self.store, update_store(self.root, self.config, self.progress)
        else:
            folder = os.path.join(scratch, "store")
            os.mkdir(folder)
            summary = Build(self.root, self.config, self.progress, scratch_store=folder).run()
        here = os.path.relpath(os.path.realpath(self.out), os.path.realpath(self.root)).replace(os.sep, "/")
        skipped = {path: count for path, count in summary.passed.items() if (path or ".") != here}
        checked = self._check_pages(listed, folder, skipped, scratch)
        if from_store:
            subjects = [subject for kind, subject in checked.subjects if kind == FILE_PAGE]
            differences: Iterable[StoreDifference] | None = compare_files(folder, self._read_anew(subjects, scratch))
        else:
            differences = compare_stores(self.store, folder)
        if differences is None:
            return
        self.result.store_compared = True
        with closing(Facts(folder)) as facts:
            addresses = addresses_of([row[1] for row in facts.file_rows()], self.root, self.out, listed)
        for path, problem in differences:
            self._add(addresses.page(Ref(To.FILE if path else To.REPORT, path)), problem, Fault.STORE)
        if not from_store:
            self._blame_store(checked, listed.site, skipped)

    def _check_pages(self, listed: Manifest, folder: str, skipped: dict[str, int], scratch: str) -> _PagesCheck:
        """Check the pages against those that the store in a folder gives, and the manifest."""
        ground = CheckedBook(
            os.path.realpath(self.root), os.path.realpath(self.out), listed.pages, frozenset(manifest.files(self.out))
        )
        checked = _PagesCheck(ground, self.config, self.progress)
        with forked.without_gc(), closing(Facts(folder)) as facts:
            renderer = self._renderer(facts, listed.site, skipped)
            if self.sample:
                some = random.SystemRandom().sample(renderer.work, min(self.sample, len(renderer.work)))
                renderer = replace(renderer, work=some)
            checked.check(renderer)
        if self.book.generated and not listed.site and not self.sample:
            self._check_generated(checked, scratch)
        checked.check_links()
        check = checked.pages
        self.result.problems += check.problems
        self.result.pages, self.result.claims, self.result.links = len(check.rows), check.claims, check.links
        if not self.sample and not checked.failed:
            self.result.problems += _surplus_pages(ground, check.rows)
        self.result.problems += self._manifest_problems(listed, check.rows)
        return checked

    def _renderer(self, facts: Facts, is_site: bool, skipped: dict[str, int]) -> Renderer:
        index = Index(facts, self.root, site_book(self.book) if is_site else self.book)
        index.skipped_pages = skipped
        if is_site:
            return site.site_renderer(index, self.out)
        return pages.book_renderer(index, self.root, self.out, self.form)

    def _check_generated(self, checked: _PagesCheck, scratch: str) -> None:
        """Check the pages about the book's own pages."""
        folder = os.path.join(scratch, "generated")
        os.mkdir(folder)
        entries = pages.own_pages(self.root, self.out)
        Build(self.root, self.config, self.progress, pages=entries, scratch_store=folder).run()
        own = frozenset(row.page for row in checked.pages.rows)
        with forked.without_gc(), closing(Facts(folder)) as facts:
            index = Index(facts, self.root, self.book)
            checked.check(pages.generated_renderer(index, self.root, self.out, own), pages.OF_A_PAGE)

    def _read_anew(self, paths: list[str], scratch: str) -> Iterator[ExtractedFile]:
        """Extract some files without the cache, in workers."""
        entries = {entry.path: entry for entry in path_patterns.select_entries(walk.walk(self.root), self.config)[0]}
        with closing(Facts(self.store)) as facts:
            extract.save_macros(scratch, macros.merge([definitions for _, definitions in facts.macros()]))
        readers, headers = code_versions.readers(), header_language(entries)
        job = extract.Job(os.path.abspath(self.root), self.config, "", readers, headers, scratch)
        batches = ([entries[path]] for path in paths if path in entries)
        for result in forked.map_forked(job, extract.extract_files, batches, self.config.jobs, self.config.patience):
            if not isinstance(result, FailedItem):  # the store cannot have its facts either
                yield from result

    def _manifest_problems(self, listed: Manifest, rows: list[ManifestPage]) -> Iterator[Problem]:
        """Yield the lines of the manifest that do not describe the pages; pages with a problem of their own aside."""
        reported = {problem.page for problem in self.result.problems if problem.fault is Fault.BOOK}
        right = {**listed.pages, **{row.page: row for row in rows if row.page not in reported}}
        expected = manifest.encode_manifest(right.values(), False, listed.site, listed.options).decode().split("\n")
        path = os.path.join(self.out, own_output.MANIFEST)
        lines = (manifest.read_regular_file(path) or b"").decode("utf-8", "replace").split("\n")
        for line, problem in find_differences(lines, expected):
            yield Problem(own_output.MANIFEST, line, line_text(lines, line), problem)

    def _blame_store(self, checked: _PagesCheck, is_site: bool, skipped: dict[str, int]) -> None:
        """Attribute differing pages to the store if it is current and its pages are those of the book."""
        if not checked.pages.differing:
            return
        second = _PagesCheck(checked.ground, self.config, ignore_progress)
        # A store whose values cannot be decoded is reported already.
        with suppress(StoreBroken), forked.without_gc(), closing(Facts(self.store)) as facts:
            renderer = self._renderer(facts, is_site, skipped)
            subjects = set(checked.pages.differing.values())
            second.check(replace(renderer, work=[pair for pair in renderer.work if pair in subjects]))
        same = {row.page for row in second.pages.rows} - second.pages.differing.keys()
        self.result.problems = [
            problem._replace(fault=Fault.STORE, problem=f"{problem.problem}; the store has the same mistake")
            if problem.page in same and problem.fault is Fault.BOOK else problem
            for problem in self.result.problems
        ]  # fmt: skip


def _surplus_pages(ground: CheckedBook, rows: list[ManifestPage]) -> Iterator[Problem]:
    """Yield pages in the book that would not be written now."""
    rendered = {row.page for row in rows}
    for page in ground.pages.keys() - rendered:
        yield Problem(page, 0, "", "the repository no longer has what this page describes")
    claimed = {claims_of(row.page) for row in rows if row.claims}
    others = tuple(f"{book.folder}/" for book in own_output.find_books(ground.out, ground.files) if book.folder)
    for path in ground.files - ground.pages.keys() - rendered - claimed:
        if path.startswith(others):  # it belongs to another book, which is inside this one
            continue
        if own_output.is_own_name(path) and own_output.is_own_page(os.path.join(ground.out, path)):
            yield Problem(path, 0, "", "a page written by Concordance that the manifest does not list")


@dataclass
class _PagesCheck:
    """Checks pages in parallel, and collects what is found."""

    ground: CheckedBook
    config: Config
    progress: Progress
    pages: PageCheck = field(default_factory=PageCheck)
    subjects: list[Subject] = field(default_factory=list)
    failed: bool = False  # True if some page could not be rendered
    wants: list[tuple[list[str], array[int]]] = field(default_factory=list)  # pages, and hashes of what they link to

    def check(self, renderer: Renderer, kind_suffix: str = "") -> None:
        """Render the pages of a book or a site, and check each."""
        work, patience = renderer.work, self.config.patience
        self.subjects += work
        shared = _Verifier(Checker(self.ground), renderer, kind_suffix)
        if len(work) > MAX_PAGES_RENDERED_HERE:
            preload_kinds(renderer.index, work)
            batches = pool.batches_by_subject(work, lambda pair: pair[1], BATCH)
            results = forked.map_forked(shared, verify_subjects, batches, self.config.jobs, patience)
        else:
            results = pool.map_here(lambda pair: verify_subjects(shared, [pair]), work, patience)
        for result in results:
            if isinstance(result, FailedItem):
                self.failed, (kind, subject) = True, result.item
                problem = f"the page of this {kind} could not be rendered: {result.reason}"
                self.pages.problems.append(Problem(subject, 0, "", problem, Fault.PROGRAM))
                continue
            self._collect(result)
            self.progress("pages", len(self.pages.rows), max(len(self.pages.rows), len(work)), "")

    def _collect(self, batch: PageCheck) -> None:
        check = self.pages
        check.problems += batch.problems
        check.rows += batch.rows
        check.differing.update(batch.differing)
        check.claims += batch.claims
        check.links += batch.links
        check.has.extend(batch.has)
        self.wants.append(([row.page for row in batch.rows], batch.wants))

    def check_links(self) -> None:
        """Report links to pages and sections that were not rendered."""
        missing = {target for _, wanted in self.wants for target in wanted} - set(self.pages.has)
        checker = Checker(self.ground)
        for batch, wanted in self.wants if missing else ():
            for page in batch if not missing.isdisjoint(wanted) else ():
                if page not in self.pages.differing:
                    self.pages.problems += checker.broken_links(page, missing)


@dataclass
class _Verifier:
    """What the workers share."""

    checker: Checker
    renderer: Renderer
    kind_suffix: str
    opened_by: int = field(default_factory=os.getpid)  # the process that opened the store


def verify_subjects(shared: _Verifier, subjects: list[Subject]) -> PageCheck:
    """Render the pages of some subjects and check them, in a worker or here."""
    if shared.opened_by != os.getpid():
        shared.renderer.index.facts.reopen()
        shared.opened_by = os.getpid()
    check = PageCheck()
    for kind, subject in subjects:
        for file in shared.renderer.render(shared.renderer.index, kind, subject):
            row = manifest_row(file, kind + shared.kind_suffix)
            shared.checker.check(row, file.data, file.claims_data, (kind, subject), check)
    return check
