"""The index of a store that another process keeps up to date.

In: the folder of a store. Out: the index of its newest state, refreshed at the start of each question rather than read
anew. A caller that reads a file notices if it has changed since; `wait_for_update` then waits for the next state.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from concordance.base.config import Book
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import refresh_index

_POLL = 0.05  # seconds between two looks at the store


class CurrentIndex:
    """The newest index of one repository."""

    def __init__(self, root: str, folder: str, book: Callable[[], Book], patience: float) -> None:
        """`book` returns the settings of pages; a question waits for `patience` seconds until an edit is indexed, which
        is 0 if nobody updates the store."""
        self.root, self.folder, self.patience, self._book = root, folder, patience, book
        self._index: Index | None = None
        self._state = ("", "")

    def __call__(self) -> Index:
        """Return the index of the store as it is now."""
        facts = Facts(self.folder)
        state = _state_of(facts)
        if self._index is not None and state == self._state:
            facts.close()
            return self._index
        if self._index is None or not refresh_index(self._index, facts):
            if self._index is not None:
                self._index.facts.close()
            self._index = Index(facts, self.root, self._book())
        self._state = state
        return self._index

    def wait_for_update(self) -> bool:
        """Wait until the store is updated; False if that takes too long."""
        until = time.monotonic() + self.patience
        while time.monotonic() < until:
            with Facts(self.folder) as facts:
                if _state_of(facts) != self._state:
                    return True
            time.sleep(_POLL)
        return False


def _state_of(facts: Facts) -> tuple[str, str]:
    meta = facts.meta()
    return meta.get("born", ""), meta.get("update", "")
