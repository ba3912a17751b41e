"""The page stage: chooses which pages of the book to write, and writes them with the page writer.

In: a current store, and the folder of the book. Out: pages, their claims and the manifest, and a record of what each
page read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from concordance.base import plugins
from concordance.base.blocks import TO_FILES, TO_FOLDERS, Ref, To
from concordance.base.config import Book, Config, site_book
from concordance.base.confined_folder import ConfinedFolder
from concordance.base.errors import UserError
from concordance.base.model import ListedFile
from concordance.facts import code_versions
from concordance.facts.read import Facts
from concordance.facts.updates.page_reads import PageReadLog
from concordance.facts.updates.reads import Subject, compared, key_within, memoised, path_of_key
from concordance.query.folders.folder_tree import folders
from concordance.query.index.graphs.bridges import LINES_OF_ENDS, lines_of_ends
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import refresh_index
from concordance.query.index.updates.stale_pages import StalePages
from concordance.query.index.updates.tables import link_tables
from concordance.query.pages import PAGES, kinds, kinds_per_path
from concordance.query.sections.examples import EXAMPLES, find_examples
from concordance.query.sections.file_page.related import RELATED_FILES, related_files
from concordance.query.sections.structure import PlainFiles, plain_files
from concordance.render import claims
from concordance.render.addresses import Addresses
from concordance.render.formats import FORMATS, PageFormat
from concordance.render.output import manifest
from concordance.render.output.page_sink import DryRunSink, PageSink
from concordance.render.summary import BookSummary
from concordance.serve.reader import save_front_page
from concordance.workflow.book_options import MARKDOWN
from concordance.workflow.resident import BookFolder, BookState, ResidentState
from concordance.workflow.stages.page_writer import (
    PageFile,
    PageWriter,
    Renderer,
    count_pages,
    opened_folder,
    preload_kinds,
)
from concordance.workflow.workers import forked
from concordance.workflow.workers.ray_executor import RayExecutor

OF_A_PAGE = " of a page"  # suffix of the kind of a page that is about a page


def _render(addresses: Addresses, form_name: str, index: Index, kind: str, subject: str) -> Iterator[PageFile]:
    """Yield the pages of one subject."""
    form = _format(form_name)
    for page in plugins.load(PAGES, kind).pages(index, subject):
        rendered = form.render(page, addresses)
        path = addresses.page(page.ref)
        data = rendered.text.encode("utf-8", "backslashreplace")
        file = index.files.get(page.ref.path)
        cites_itself = file is not None and any(row.first and row.path == file.path for row in rendered.claims)
        own = index.open_file(page.ref.path).lines() if cites_itself else None
        cited = claims.encode_claims(path, rendered.claims, partial(_claim_text, index, page.ref.path, own or []))
        yield PageFile(path, data, len(rendered.claims), cited, file.digest if file is not None else "")


def _format(name: str) -> PageFormat:
    return cast(PageFormat, plugins.load(FORMATS, name))


def _claim_text(index: Index, subject: str, own_lines: list[str], path: str, first: int, last: int) -> str:
    """Return what a claim on the page of a subject, a file with its own lines or a folder, stores of the given lines of
    a file, or of the whole file."""
    if not first:
        return claims.claim_of_file(index.files[path].digest)
    if path != subject:  # the pages of folders cite lines of very many files, and are made again with each of these
        return _claim_text_elsewhere(index, key_within(path, f"{first} {last}"))
    return claims.claim_text(own_lines, first, last)


_CITED_LINES = "cited lines"  # the name under which it is recorded that a page cites lines of another file


@compared(_CITED_LINES)
@memoised(1 << 15)
def _claim_text_elsewhere(index: Index, lines: str) -> str:
    path = path_of_key(lines)
    first, last = lines[len(path) + 1 :].split(" ")
    return claims.claim_text(index.open_file(path).lines() or [], int(first), int(last))


_COMPARED: dict[str, Callable[[Index, str], object]] = {
    RELATED_FILES: related_files, EXAMPLES: find_examples, LINES_OF_ENDS: lines_of_ends,
    _CITED_LINES: _claim_text_elsewhere,
}  # fmt: skip


def write(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    skipped: Mapping[str, int], only_compare: bool = False, resident: ResidentState | None = None,
    form: str = MARKDOWN, cluster: RayExecutor | None = None,
) -> BookSummary:  # fmt: skip
    """Write the whole book; nothing if it is current, or with `only_compare`. `resident` is the state that the last run
    of this process left, and is updated."""
    resident = resident or ResidentState(will_update_again=False)
    with opened_folder(root, folder, out, False) as confined, forked.without_gc(), resident.discard_on_error():
        state = resident.books[out] = _book_state(root, folder, out, book, resident.books.get(out))
        state.index.skipped_pages = skipped
        paths, languages = [row[1] for row in state.index.file_rows], [row[2] for row in state.index.file_rows]
        plain, ending = PlainFiles(state.index), _format(form).ENDING
        addresses = state.addresses((paths, languages, form), lambda: Addresses(paths, root, out, plain, ending))
        level = _Level(confined, book, config, False, only_compare, resident.recheck_all, form, cluster)
        summary = level.write(state, addresses, progress)
        if not only_compare and not resident.will_update_again:
            _cache_front_page(state.index, folder, book)
        return summary


def _cache_front_page(index: Index, folder: str, book: Book) -> None:
    """Cache the site's front page for a server that may be started next, if this run has loaded the data anyway."""
    if folders in index.cache:
        index.book = site_book(book)
        with suppress(Exception):  # only for speed: whoever needs the page will report the error
            save_front_page(index, folder)


def _book_state(root: str, folder: str, out: str, book: Book, before: BookState | None) -> BookState:
    """Return the state of a book for the current store: the last run's, if it can be brought up to date."""
    facts = Facts(folder)
    if before is not None:
        before.index_reused = before.index.book == book and refresh_index(before.index, facts)
        if before.index_reused:
            return before
    index = Index(facts, root, book)
    if before is None:
        return BookState(index, PageReadLog(folder, out), BookFolder(out))
    before.index.facts.close()
    before.index.__dict__.clear()  # it has reference cycles: otherwise it would stay until a collection
    before.index = index
    return before


def write_generated(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    only_compare: bool = False,
) -> BookSummary:  # fmt: skip
    """Write the pages about a book's own pages, which have a store of their own."""
    with (
        opened_folder(root, folder, out, False) as confined,
        closing(BookState(Index(Facts(folder), root, book), PageReadLog(folder, out), BookFolder(out))) as state,
    ):
        state.index.of_pages = True
        listed = state.folder.read().pages
        own = frozenset(page for page, row in listed.items() if not row.kind.endswith(OF_A_PAGE))
        addresses = _Inner([row[1] for row in state.index.file_rows], root, out, own)
        return _Level(confined, book, config, True, only_compare, True).write(state, addresses, progress)


def book_renderer(index: Index, root: str, out: str, form: str) -> Renderer:
    """Return the renderer of all pages of a book."""
    addresses = Addresses([row[1] for row in index.file_rows], root, out, plain_files(index), _format(form).ENDING)
    work = [(kind, subject) for kind in plugins.names(PAGES) for subject in _subjects(kind, index)]
    return Renderer(index, partial(_render, addresses, form), work)


def generated_renderer(index: Index, root: str, out: str, own: frozenset[str]) -> Renderer:
    """Return the renderer of the pages about a book's own pages."""
    index.of_pages = True
    addresses = _Inner([row[1] for row in index.file_rows], root, out, own)
    subjects = [(kind, subject) for kind in kinds_per_path() for subject in _subjects(kind, index)]
    work = [subject for subject in subjects if addresses.page(Ref(kinds()[subject[0]], subject[1])) not in own]
    return Renderer(index, partial(_render, addresses, MARKDOWN), work)


def own_pages(root: str, out: str) -> list[ListedFile]:
    """Return the pages of a book as files of its repository, except those that are about pages."""
    inside = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    if inside.split("/")[0] == "..":
        advice = "Write it into a folder of the repository, or omit --include-generated"
        raise UserError(f"{out} is outside the repository, so its pages are not files of it", advice)
    entries = []
    for page, row in manifest.read(out).pages.items():
        if not row.kind.endswith(OF_A_PAGE) and not f"{page}/".startswith(f"{inside}/"):
            try:
                stat = os.lstat(os.path.join(out, page))
            except FileNotFoundError:  # somebody removed it since the manifest was written
                continue
            path, times = f"{inside}/{page}", (stat.st_mtime_ns, stat.st_ctime_ns)
            entries.append(
                ListedFile(path, stat.st_size, times[0], altered=times[1], inode=stat.st_ino & (1 << 63) - 1)
            )
    return sorted(entries, key=lambda entry: os.fsencode(entry.path))


class _Inner(Addresses):
    """The addresses of pages about pages. Front pages are those of the book itself."""

    def __init__(self, paths: Iterable[str], root: str, out: str, own_pages: frozenset[str]) -> None:
        super().__init__(paths, root, out)
        self.own_pages = own_pages

    def page(self, ref: Ref) -> str:
        return super().page(self._front_of_book(ref))

    def link(self, page: str, ref: Ref) -> str:
        return super().link(page, self._front_of_book(ref))

    def _front_of_book(self, ref: Ref) -> Ref:
        whole = ref.to not in TO_FILES | TO_FOLDERS | {To.REPORT}
        return ref._replace(path="", at="", part=1) if whole and super().page(ref) not in self.own_pages else ref


@dataclass
class _Level:
    """The pages of a repository's files, or the pages about those pages: written separately, into one book."""

    folder: ConfinedFolder
    book: Book
    config: Config
    generated: bool
    only_compare: bool
    recheck_all: bool  # compare all existing pages with the manifest
    format: str = MARKDOWN
    cluster: RayExecutor | None = None

    def write(self, state: BookState, addresses: Addresses, progress: Callable[[int, int], None]) -> BookSummary:
        """Write the pages that are missing or not current."""
        summary = BookSummary(self.folder.path, front=f"index{_format(self.format).ENDING}")
        index, folder = state.index, state.folder
        stored = folder.read()
        listed, unfinished = stored.pages, stored.unfinished
        before = {page: row for page, row in listed.items() if row.kind.endswith(OF_A_PAGE) == self.generated}
        others = {p: row for p, row in listed.items() if p not in before} if self.book.generated else {}
        is_complete = not unfinished and len(before) + len(others) == len(listed)
        sink = (DryRunSink if self.only_compare else PageSink)(self.folder, stored, book=self.book)
        inputs = self._inputs_digest(index, addresses)
        digest = folder.pages_digest(before.values()) if stored.sound else ""
        chooser = StalePages(index, state.notes, inputs, digest, self.generated, _COMPARED)
        damaged = sink.modified_pages(before) if folder.must_compare_pages(self.recheck_all) else []
        sink.tidy()  # a run may have been killed before it could mark its beginning
        if is_complete and before and not damaged and chooser.is_current:
            summary.listing = self.only_compare and sink.finish(listed.values(), False)
            count_pages(summary, before.values())
            return summary
        choice = chooser.select(lambda: self._work(state, addresses, others), damaged)
        writer = PageWriter(
            index, partial(_render, addresses, self.format), sink, summary, self.config, progress, self.cluster
        )
        writer.is_logged_anew = choice.write_all and not self.only_compare
        writer.kind_suffix, writer.index_reused = OF_A_PAGE if self.generated else "", state.index_reused
        unchanged = [row for page, row in before.items() if not choice.write_all and page not in choice.replaced]
        has_more = not self.generated and self.book.generated  # the pages about pages are still to be written
        doubtful = unfinished or choice.write_all or self.only_compare
        rows, unfinished = writer.write(
            choice.to_write, _planned_pages(addresses, choice.to_write), unchanged, others, doubtful, has_more
        )
        if not self.only_compare:
            digest = manifest.pages_digest(rows)
            folder.record_manifest([*rows, *others.values()], unfinished, digest)
            if not summary.failed:
                chooser.note(choice._replace(shared=writer.digests or choice.shared), writer.records, digest)
        return summary

    def _work(self, state: BookState, addresses: Addresses, others: Collection[str]) -> dict[Subject, int]:
        """Return what to render; of pages about pages, those whose address is not taken by a page of the repository."""
        page_kinds = kinds_per_path() if self.generated else plugins.names(PAGES)
        lists = [(kind, _subjects(kind, state.index)) for kind in page_kinds]

        def numbered() -> dict[Subject, int]:
            ordered = [(kind, subject) for kind, subjects in lists for subject in subjects]
            if self.generated:
                ordered = [
                    subject for subject in ordered if addresses.page(Ref(kinds()[subject[0]], subject[1])) not in others
                ]
            return {subject: place for place, subject in enumerate(ordered)}

        return state.work(lists, numbered)

    def _inputs_digest(self, index: Index, addresses: Addresses) -> str:
        """Return a digest of what a book depends on besides the store: the program, the settings, and unusual
        addresses."""
        out = os.path.realpath(self.folder.path)
        options = replace(self.book, notes=(), settings="")  # pages record which of these they read
        skipped = sorted(index.skipped_pages.items())
        inputs = (code_versions.pages(), out, options, skipped, addresses.odd(), _format(self.format).ENDING)
        return manifest.digest(repr(inputs).encode("utf-8", "backslashreplace"))


def preload(state: BookState) -> None:
    """Compute what the pages of the next update need from the whole, while nobody is waiting."""
    index = state.index
    preload_kinds(index, [(kind, subject) for kind in plugins.names(PAGES) for subject in _subjects(kind, index)])
    with index.reads.not_recording():
        link_tables(index).of(index)  # the first edit that adds or removes a symbol compares them


def _subjects(kind: str, index: Index) -> list[str]:
    subjects: list[str] = plugins.load(PAGES, kind).subjects(index)
    return subjects


def _planned_pages(addresses: Addresses, work: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the addresses of pages; further parts of a split page are only known once it is rendered."""
    for kind, subject in work:
        if kind in kinds():
            yield addresses.page(Ref(kinds()[kind], subject))
