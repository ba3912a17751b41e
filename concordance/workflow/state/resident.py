"""What a process that stays keeps of a repository from one update to the next.

In: what the last update knew. Out: the same for the next one, which asks of each thing whether it is still right. A
process that makes one book forgets it all in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from concordance.facts.updates.page_reads import PageNotes, Subject
from concordance.query.index.repository import Index
from concordance.render.addresses import Addresses
from concordance.render.output.folder_listing import BookFolder
from concordance.workflow.state.store_state import StoreState


@dataclass
class BookState:
    """What is known of one book."""

    index: Index
    notes: PageNotes
    shelf: BookFolder
    goes_on: bool = False  # whether the index is that of the last time, brought up to date
    _addresses: tuple[object, Addresses] | None = None
    _work: tuple[object, dict[Subject, int]] | None = None

    def addresses(self, made_of: object, make: Callable[[], Addresses]) -> Addresses:
        """The addresses of its pages; those of the last time, where they would be made of the same."""
        if self._addresses is None or self._addresses[0] != made_of:
            self._addresses = made_of, make()
        return self._addresses[1]

    def work(self, made_of: object, make: Callable[[], dict[Subject, int]]) -> dict[Subject, int]:
        """All that it has pages of, with the places in the order of the work, likewise."""
        if self._work is None or self._work[0] != made_of:
            self._work = made_of, make()
        return self._work[1]

    def close(self) -> None:
        """Lets go of the files."""
        self.index.facts.close()
        self.notes.close()


@dataclass
class ResidentState:
    """What is known of the books of a repository, by their folders."""

    lasts: bool = True  # whether there will be a next time
    whole: bool = True  # whether anything may have changed, pages that others wrote over for one
    books: dict[str, BookState] = field(default_factory=dict)
    kept: StoreState = field(default_factory=StoreState)  # of the store

    @contextmanager
    def used(self) -> Iterator[None]:
        """Uses what is known; where that fails, nothing of it is to be trusted."""
        try:
            yield
        except BaseException:
            self.forget()
            raise
        if not self.lasts:
            self.forget()

    def forget(self) -> None:
        """Lets go of everything."""
        for known in self.books.values():
            known.close()
        self.books.clear()
        self.kept.forget()
