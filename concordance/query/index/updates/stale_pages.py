"""Which pages are to be made: all of them, or those that read something that changed since they were made.

In: an index, the notes of the book, and the pages that are not on the disk as they were written. Out: the subjects to
be made, those that are gone, and what is to be noted when all is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from concordance.facts.updates.page_reads import Digests, NotesBroken, PageNotes, PageRecord, Subject
from concordance.facts.updates.store_delta import Aspect, slot
from concordance.query.index.counts.file_counts import FileCounts
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import forget
from concordance.query.index.updates.tables import changed, digests

_SAID = ("left_out", "ruff", "ruff_problem")  # notes of the store that pages tell


class PagesToWrite(NamedTuple):
    """What is to be done for a book."""

    work: list[Subject]
    replaced: set[str]  # pages that do not stay as they are, unless all are made
    gone: list[Subject]
    shared: dict[str, Digests]
    anew: bool  # whether all pages are made


class StalePages:
    """Decides for one book."""

    def __init__(self, index: Index, notes: PageNotes, made_of: str, listed: str, whole: bool) -> None:
        """`listed` is the mark of what the book's manifest lists: git may have put another in its place. `whole` says
        that all pages are made where anything changed."""
        self.index, self.notes = index, notes
        self._before = notes.meta()
        store = index.facts.meta()
        said = repr(([store.get(key, "") for key in _SAID], index.book.settings, index.book.notes))
        self._now = {"made of": made_of, "born": store.get("born", ""), "update": store["update"], "said": said}
        self._now["listed"] = listed
        fixed = ("made of", "born", "listed")
        self._is_known = not whole and all(self._before.get(key) == self._now[key] for key in fixed)

    @property
    def is_current(self) -> bool:
        """Whether nothing changed since all pages were made."""
        return self._before == self._now

    def choice(self, subjects: Callable[[], Mapping[Subject, int]], astray: Collection[str]) -> PagesToWrite:
        """What is to be made; `subjects` are all, with their places in the order of the work, `astray` are pages that
        are not on the disk as they were written."""
        if self._is_known:
            with suppress(NotesBroken):
                return self._since(subjects, astray)
        self.index.summaries = FileCounts({}, ())  # an index that goes on has those of the last time
        self.index.worked_out.clear()
        return PagesToWrite(list(subjects()), set(), [], digests(self.index, {}, None), True)

    def _since(self, subjects: Callable[[], Mapping[Subject, int]], astray: Collection[str]) -> PagesToWrite:
        """What changed since the last time."""
        index = self.index
        touched = index.facts.touched_since(int(self._before["update"]))
        stale = touched[Aspect.TEXT] | touched[Aspect.OUT] | touched[Aspect.NAMES]
        index.summaries = FileCounts(self.notes.summaries(), stale)
        before = self.notes.shared()
        # Before tables are made, too: they may be made of what was kept.
        forget(index.worked_out, {slot(aspect, key) for aspect, keys in touched.items() for key in keys})
        shared = digests(index, before, touched)
        known = self.notes.subjects()
        slots = changed(index, before, shared, touched, self._before["said"] != self._now["said"])
        forget(index.worked_out, slots)
        again = self.notes.readers(slots)
        lost = set(astray)
        again |= {one for one, pages in known.items() if not pages or (lost and not lost.isdisjoint(pages))}
        every = subjects()
        work = sorted((again & every.keys()) | (every.keys() - known.keys()), key=every.__getitem__)
        gone = sorted(known.keys() - every.keys())
        replaced = {page for one in (*work, *gone) for page in known.get(one, ())}
        return PagesToWrite(work, replaced, gone, shared, False)

    def note(self, choice: PagesToWrite, made: dict[Subject, PageRecord], listed: str) -> None:
        """Notes what was made, and the mark of what is listed now. Where that fails, there are no notes, and the next
        run makes all pages."""
        self._now["listed"] = listed
        try:
            if choice.anew:
                self.notes.write(self._now, made, choice.shared, self.index.summaries.rows)
            else:
                self.notes.update(self._now, made, choice.gone, choice.shared, self.index.summaries.rows)
        except NotesBroken as error:
            self.notes.drop()
            advice = "All pages are written, but the next build will make them all again. Free some space on that disk"
            raise NotesBroken(error.message, advice) from error
