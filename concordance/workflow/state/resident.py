"""State that a long-running process keeps of a repository between updates.

In: what the last update computed. Out: the same for the next update, which checks whether each part is still valid. A
process that writes only one book discards it in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from concordance.facts.updates.page_reads import PageReadsStore, Subject
from concordance.query.index.repository import Index
from concordance.render.addresses import Addresses
from concordance.render.output.folder_listing import BookFolder
from concordance.workflow.state.store_state import StoreState


@dataclass
class BookState:
    """The state of one book."""

    index: Index
    notes: PageReadsStore
    shelf: BookFolder
    goes_on: bool = False  # the index is the one of the last update, brought up to date
    _addresses: tuple[object, Addresses] | None = None
    _work: tuple[object, dict[Subject, int]] | None = None

    def addresses(self, made_of: object, make: Callable[[], Addresses]) -> Addresses:
        """Return the addresses of the pages; the previous ones if `made_of` has not changed."""
        if self._addresses is None or self._addresses[0] != made_of:
            self._addresses = made_of, make()
        return self._addresses[1]

    def work(self, made_of: object, make: Callable[[], dict[Subject, int]]) -> dict[Subject, int]:
        """Return all page subjects with their position in the order of work; cached in the same way."""
        if self._work is None or self._work[0] != made_of:
            self._work = made_of, make()
        return self._work[1]

    def close(self) -> None:
        """Close the files."""
        self.index.facts.close()
        self.notes.close()


@dataclass
class ResidentState:
    """The state of all books of a repository, by folder."""

    lasts: bool = True  # there will be another update
    whole: bool = True  # anything may have changed, for example a page that somebody overwrote
    books: dict[str, BookState] = field(default_factory=dict)
    kept: StoreState = field(default_factory=StoreState)  # of the store

    @contextmanager
    def used(self) -> Iterator[None]:
        """Use the state; after an error it cannot be trusted, so it is discarded."""
        try:
            yield
        except BaseException:
            self.forget()
            raise
        if not self.lasts:
            self.forget()

    def forget(self) -> None:
        """Discard everything."""
        for known in self.books.values():
            known.close()
        self.books.clear()
        self.kept.forget()
