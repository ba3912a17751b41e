"""What one worker does to write pages, and how the build hands them out.

In: a store, up to date, and the folder of the book. Out: pages, their claims and the manifest. Every worker needs what
is known of the whole (names, ranks, who uses whom between files), so workers are forked from the build when it has
it. A page is a function of the store alone, so nothing depends on who makes it, or when.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from concordance import forked, parallel, plugins
from concordance.blocks import Page, Ref, To
from concordance.collect.own import MANIFEST
from concordance.config import Book, Config
from concordance.errors import BookFailed, NoPermission, UserError
from concordance.facts import versions
from concordance.facts.read import Facts
from concordance.model import Entry
from concordance.query.index import Index
from concordance.query.structure import KEYED
from concordance.render import claims, manifest
from concordance.render.addresses import Addresses, claims_of
from concordance.render.formats import markdown
from concordance.render.manifest import Written
from concordance.render.summary import BookSummary

PAGES = "concordance.query.pages"
OF_A_PAGE = " of a page"  # ends the kind of a page that is about a page
# What links to each kind of page say, which tells where it will stand.
ABOUT = {
    "file": To.FILE, "keywords": To.KEYWORDS, "folder": To.FOLDER, "folder_index": To.INDEX, "subtree": To.SUBTREE,
    "letters": To.LETTERS, "book": To.BOOK, "rule": To.RULE, "report": To.REPORT,
}  # fmt: skip
OF_PAGES = ("file", "keywords", "folder", "folder_index", "subtree")  # pages have them, too; the rest there is once
BATCH = 48  # subjects: about a tenth of a second's work
_TRIED = 8  # pages of each kind, about, that are made beforehand


@dataclass
class _Desk:
    """What every worker has at hand."""

    index: Index
    addresses: Addresses
    out: str
    before: dict[str, Written]
    begin: manifest.Begin
    mark: str = ""  # behind the kind of each page
    own: bool = False  # whether this process has opened the store for itself


def make(subjects: list[tuple[str, str]]) -> list[tuple[Written, bool]]:
    """Makes and writes the pages of some subjects: each page, and whether its file changed."""
    desk: _Desk = forked.desk()
    if not desk.own:
        desk.index.facts.reopen()
        desk.own = True
    found = []
    for kind, subject in subjects:
        found += [_write(desk, page, kind) for page in plugins.load(PAGES, kind).pages(desk.index, subject)]
    return found


def _write(desk: _Desk, page: Page, kind: str) -> tuple[Written, bool]:
    rendered = markdown.render(page, desk.addresses)
    path = desk.addresses.page(page.ref)
    data = rendered.text.encode("utf-8", "backslashreplace")
    beside = claims.packed(path, rendered.claims, partial(_said, desk.index))
    file = desk.index.files.get(page.ref.path)
    inputs = file.digest if file is not None else ""
    checksum = manifest.digest(beside) if beside else ""
    row = Written(path, kind + desk.mark, manifest.digest(data), len(data), len(rendered.claims), checksum, inputs)
    changed = manifest.put(desk.out, path, data, desk.begin)
    if beside:
        changed |= manifest.put(desk.out, claims_of(path), beside, desk.begin)
    elif path in desk.before and desk.before[path].claims:
        changed |= manifest.drop(desk.out, claims_of(path))
    return row, changed


def _said(index: Index, path: str, first: int, last: int) -> str:
    """What lines of a file say, or the whole file, for a claim."""
    if not first:
        return index.files[path].digest
    return claims.text_of(index.opened(path).lines() or [], first, last)


def write(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    passed: Mapping[str, int],
) -> BookSummary:  # fmt: skip
    """Writes the whole book; nothing where it is as it would be."""
    with _told_why(out), Facts(folder) as facts:
        index = Index(facts, root, book, passed)

        def addresses() -> Addresses:
            return Addresses([row[1] for row in index.bases], root, out, plain_files(index))

        return _Level(folder, out, book, config, False).write(index, addresses, progress)


def write_generated(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None]
) -> BookSummary:
    """Writes the pages of a book's own pages, which their own store knows."""
    with _told_why(out), Facts(folder) as facts:
        index = Index(facts, root, book)
        index.of_pages = True

        def addresses() -> Addresses:
            listed = manifest.read(out).pages
            known = frozenset(page for page, row in listed.items() if not row.kind.endswith(OF_A_PAGE))
            return _Inner([row[1] for row in index.bases], root, out, known)

        return _Level(folder, out, book, config, True).write(index, addresses, progress)


def own_entries(root: str, out: str) -> list[Entry]:
    """The pages of a book as files of its repository; none that are themselves of pages."""
    inside = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    if inside.split("/")[0] == "..":
        advice = "Write it into a folder of the repository, or leave --include-generated out"
        raise UserError(f"{out} is outside of the repository, so its pages are no files of it", advice)
    found = []
    for page, row in manifest.read(out).pages.items():
        if not row.kind.endswith(OF_A_PAGE) and not f"{page}/".startswith(f"{inside}/"):
            stat = os.lstat(os.path.join(out, page))
            found.append(Entry(f"{inside}/{page}", stat.st_size, stat.st_mtime_ns))
    return sorted(found, key=lambda entry: os.fsencode(entry.path))


class _Inner(Addresses):
    """The addresses of pages of pages. The book's front pages are those of the book itself."""

    def __init__(self, paths: Iterable[str], root: str, out: str, known: frozenset[str]) -> None:
        super().__init__(paths, root, out)
        self.known = known

    def page(self, ref: Ref) -> str:
        return super().page(self._there(ref))

    def link(self, page: str, ref: Ref) -> str:
        return super().link(page, self._there(ref))

    def _there(self, ref: Ref) -> Ref:
        whole = ref.to in (To.BOOK, To.LETTERS, To.RULE)
        return ref._replace(path="", at="", part=1) if whole and super().page(ref) not in self.known else ref


@contextmanager
def _told_why(out: str) -> Iterator[None]:
    """Says of a disk that is full or must not be written to what can be done about it."""
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
    """The pages of a repository's files, or the pages of those pages: each is written for itself, into one book."""

    folder: str
    out: str
    book: Book
    config: Config
    generated: bool

    def write(
        self, index: Index, addressing: Callable[[], Addresses], progress: Callable[[int, int], None]
    ) -> BookSummary:
        """Writes what is not as it would be."""
        out, summary = self.out, BookSummary(self.out)
        listed, unfinished = manifest.read(out)
        before = {page: row for page, row in listed.items() if row.kind.endswith(OF_A_PAGE) == self.generated}
        others = {page: row for page, row in listed.items() if page not in before and self.book.generated}
        made_of = self._made_of(index)
        settled = not unfinished and len(before) + len(others) == len(listed)
        if settled and manifest.noted(self.folder) == made_of and manifest.is_as_written(out, before):
            return _counted(summary, list(before.values()))
        addresses = addressing()
        work = list(self._work(index, addresses, others))
        taken = manifest.collisions(out, _planned(addresses, work), listed)
        if taken:
            raise manifest.Taken(out, taken)
        manifest.tidy(out)
        begin = manifest.Begin(out, listed)
        desk = _Desk(index, addresses, out, listed, begin, OF_A_PAGE if self.generated else "")
        _look_around(index, work)
        rows = _made(desk, work, self.config, progress, summary)
        names = {row.page for row in rows}
        if len(names) != len(rows):
            raise UserError("two pages have one address; please report this", "")
        more = not self.generated and self.book.generated  # the rest is not written yet
        strays = manifest.strays(out, names | others.keys()) if unfinished and not more else ()
        gone = sorted({*listed, *strays} - names - others.keys())
        if gone:
            begin()
        summary.removed = manifest.remove(out, gone)
        _counted(summary, rows)
        touched = bool(unfinished or summary.written or summary.removed)
        manifest.write(out, [*rows, *others.values()], more and touched)
        if not summary.failed:
            manifest.note(self.folder, made_of)
        return summary

    def _work(self, index: Index, addresses: Addresses, others: Collection[str]) -> Iterator[tuple[str, str]]:
        """What is to be made: of pages' pages, those that no page of the repository itself takes the place of."""
        for kind in plugins.names(PAGES):
            for subject in _subjects(kind, index) if not self.generated or kind in OF_PAGES else ():
                if not self.generated or addresses.page(Ref(ABOUT[kind], subject)) not in others:
                    yield kind, subject

    def _made_of(self, index: Index) -> str:
        """What decides what a book says: the store, the program and the wishes."""
        out = os.path.realpath(self.out)
        known = (sorted(index.facts.meta().items()), versions.pages(), out, self.book, sorted(index.passed.items()))
        return manifest.digest(repr(known).encode("utf-8", "backslashreplace"))


def _look_around(index: Index, work: list[tuple[str, str]]) -> None:
    """Makes some pages of each kind, for nothing but what they ask of the whole: it is then known before workers are
    forked, and not worked out by each of them."""
    by_kind: dict[str, list[str]] = {}
    for kind, subject in work:
        by_kind.setdefault(kind, []).append(subject)
    for kind, subjects in by_kind.items():
        for subject in subjects[:: len(subjects) // _TRIED + 1]:
            with suppress(Exception):  # a worker will meet it again, and it is said then
                next(plugins.load(PAGES, kind).pages(index, subject), None)


def _counted(summary: BookSummary, rows: list[Written]) -> BookSummary:
    summary.pages, summary.bytes = len(rows), sum(row.size for row in rows)
    summary.claims = sum(row.claims for row in rows)
    return summary


def plain_files(index: Index) -> frozenset[str]:
    """The files whose definitions have no anchors of their own."""
    return frozenset(row[1] for row in index.bases if row[2] in KEYED)


def _subjects(kind: str, index: Index) -> list[str]:
    found: list[str] = plugins.load(PAGES, kind).subjects(index)
    return found


def _planned(addresses: Addresses, work: list[tuple[str, str]]) -> Iterator[str]:
    """Where pages will stand; further parts of one are only known when it is made."""
    yield MANIFEST
    for kind, subject in work:
        if kind in ABOUT:
            yield addresses.page(Ref(ABOUT[kind], subject))


def _made(
    desk: _Desk, work: list[tuple[str, str]], config: Config, progress: Callable[[int, int], None],
    summary: BookSummary,
) -> list[Written]:  # fmt: skip
    rows: list[Written] = []
    for result in forked.each(desk, make, _batches(work), config.jobs, config.patience):
        if isinstance(result, parallel.Failed):
            summary.failed.append((f"{result.item[0]} {result.item[1]}", result.reason))
            continue
        rows += [row for row, _ in result]
        summary.written += sum(changed for _, changed in result)
        progress(len(rows), max(len(rows), len(work)))
    return rows


def _batches(work: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Both pages of a file go to the same worker, one after the other."""
    by_subject: dict[str, list[tuple[str, str]]] = {}
    for kind, subject in work:
        by_subject.setdefault(subject, []).append((kind, subject))
    now: list[tuple[str, str]] = []
    for _, items in sorted(by_subject.items()):  # files of one folder use the same others
        now += items
        if len(now) >= BATCH:
            yield now
            now = []
    if now:
        yield now
