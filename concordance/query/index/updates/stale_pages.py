"""Decides which pages to write: all of them, or those that read something that changed since they were written.

In: an index, the log of what each page of the book read, and the pages that are missing on disk or were altered. Out:
the subjects whose pages are to be written, those that no longer exist, and what to log when all is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from concordance.base.paths import parent_folders
from concordance.facts.updates.delta import Aspect, slot_of
from concordance.facts.updates.page_reads import Digests, PageReadLog, PageReadsBroken
from concordance.facts.updates.reads import ReadRecord, Subject, path_of_key
from concordance.query.index.file_counts import FileCounts
from concordance.query.index.repository import Index
from concordance.query.index.updates.tables import changed_slots, table_digests

_METADATA_ON_PAGES = ("left_out", "ruff", "ruff_problem")  # metadata of the store that pages show


class PagesToWrite(NamedTuple):
    """The work to do for a book."""

    to_write: list[Subject]
    replaced: set[str]  # pages to be replaced or removed, unless all are written
    removed: list[Subject]
    shared: dict[str, Digests]  # empty if all pages are written: nothing is compared with them before they are logged
    write_all: bool  # True if all pages are written


class StalePages:
    """Selects the pages of one book."""

    def __init__(
        self, index: Index, log: PageReadLog, inputs_digest: str, manifest_digest: str, write_all: bool,
        compared: Mapping[str, Callable[[Index, str], object]],
    ) -> None:  # fmt: skip
        """Prepare the selection.

        `manifest_digest` is a checksum of what the book's manifest lists, as git may have replaced the manifest.
        `write_all` means that all pages are written if anything changed. `compared` are the functions whose values
        are compared after an update, by name; their values are logged like the subjects of pages.
        """
        self.index, self.log, self._compared = index, log, compared
        index.reads.values = {}  # not those of a run that failed
        self._before = log.meta()
        store = index.facts.meta()
        settings = repr(([store.get(key, "") for key in _METADATA_ON_PAGES], index.book.settings, index.book.notes))
        self._now = {
            "made of": inputs_digest,
            "born": store.get("born", ""),
            "update": store["update"],
            "settings": settings,
        }
        self._now["listed"] = manifest_digest
        fixed = ("made of", "born", "listed")
        self._is_comparable = not write_all and all(self._before.get(key) == self._now[key] for key in fixed)

    @property
    def is_current(self) -> bool:
        """True if nothing changed since all pages were written."""
        return self._before == self._now

    def select(self, subjects: Callable[[], Mapping[Subject, int]], damaged: Collection[str]) -> PagesToWrite:
        """Return the work to do.

        `subjects` returns all subjects with their positions in the order of work; `damaged` are pages that are missing
        on disk or differ from what was written.
        """
        if self._is_comparable:
            with suppress(PageReadsBroken):
                return self._since(subjects, damaged)
        self.index.summaries = FileCounts({}, ())  # a refreshed index has those of the last build
        self.index.cache.clear()
        return PagesToWrite(list(subjects()), set(), [], {}, True)

    def _since(self, subjects: Callable[[], Mapping[Subject, int]], damaged: Collection[str]) -> PagesToWrite:
        """Return the work that results from changes since the last build."""
        index = self.index
        touched = index.facts.touched_since(int(self._before["update"]))
        stale = touched[Aspect.TEXT] | touched[Aspect.RESOLVED] | touched[Aspect.DISPLAY_NAMES]
        index.summaries = FileCounts(self.log.summaries(), stale)
        before = self.log.shared()
        # Before the tables are computed, because they may be computed from memoised values.
        stale_slots = {slot_of(aspect, key) for aspect, keys in touched.items() for key in keys}
        folders = {folder for path in touched[Aspect.PATHS] for folder in parent_folders(path)}
        index.reads.mark_changed(stale_slots | {slot_of("folder", folder) for folder in folders})
        shared = table_digests(index, before, touched)
        known = self.log.subjects()
        slots = changed_slots(index, before, shared, touched, self._before["settings"] != self._now["settings"])
        index.reads.mark_changed(slots)
        stale_subjects = self.log.readers(slots)
        differing, values = set[Subject](), {subject for subject in stale_subjects if subject[0] in self._compared}
        while values:
            stale_pages = {subject for subject in stale_subjects if subject[0] not in self._compared}
            compared_subjects = self._differing_values(values, stale_pages, known)
            differing_slots = {slot_of(*subject) for subject in compared_subjects}
            index.reads.mark_changed(differing_slots)
            readers = self.log.readers(differing_slots)
            stale_subjects |= readers
            differing |= compared_subjects
            values = {subject for subject in readers if subject[0] in self._compared} - differing
        stale_subjects |= {subject for subject, pages in known.items() if not pages}
        if damaged:
            missing_pages = set(damaged)
            stale_subjects |= {subject for subject, pages in known.items() if not missing_pages.isdisjoint(pages)}
        positions = subjects()
        work = sorted(
            (stale_subjects & positions.keys()) | (positions.keys() - known.keys()), key=positions.__getitem__
        )
        # A page that still uses a value that differs logs it again.
        removed = sorted(
            {subject for subject in known.keys() - positions.keys() if subject[0] not in self._compared} | differing
        )
        replaced = {page for subject in (*work, *removed) for page in known.get(subject, ())}
        return PagesToWrite(work, replaced, removed, shared, False)

    def _differing_values(
        self, values: set[Subject], stale_pages: set[Subject], known: Mapping[Subject, tuple[str, ...]]
    ) -> set[Subject]:
        """Compute values again, and return those that differ. Those that only stale pages use, or that are about a
        file that is gone, count as different: they are not needed before the pages are made."""
        reads, differing = self.index.reads, set[Subject]()
        logged = reads.values = reads.values or {}
        for name, key in sorted(values, key=lambda one: (one[1], one[0])):
            logged.pop((name, key), None)  # an earlier pass may have computed it from what has changed since
            is_gone = path_of_key(key) not in self.index.ids_by_path
            if not is_gone and not self.log.readers([slot_of(name, key)]) <= stale_pages:
                with reads.recording():
                    self._compared[name](self.index, key)
                if logged[name, key].results == known[name, key]:
                    continue
                del logged[name, key]
            differing.add((name, key))
        return differing

    def note(self, choice: PagesToWrite, records: dict[Subject, ReadRecord], manifest_digest: str) -> None:
        """Save what was written and read, and the checksum of the manifest.

        If that fails, the log is dropped and the next run writes all pages.
        """
        self._now["listed"] = manifest_digest
        values, self.index.reads.values = self.index.reads.values or {}, {}
        records = {**records, **values}
        removed = [subject for subject in choice.removed if subject not in records]
        shared = choice.shared or table_digests(self.index, {}, None)
        try:
            if choice.write_all:
                self.log.write(self._now, records, shared, self.index.summaries.tables)
            else:
                self.log.update(self._now, records, removed, shared, self.index.summaries.tables)
        except PageReadsBroken as error:
            self.log.drop()
            advice = "All pages are written, but the next build will write them all again. Free some space on that disk"
            raise PageReadsBroken(error.message, advice) from error
