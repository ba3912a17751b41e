"""What the processes of a server run, besides the server itself: readers, and who keeps the store current.

In: a repository. Out: nothing; they run until the server is gone. They are other processes, for a build forks workers
of its own, and an index belongs to one process.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial

from concordance.base.config import Book, of_site
from concordance.query.answers import Row
from concordance.query.index.repository import Index
from concordance.serve.reader import StoreReader
from concordance.serve.reader_pool import End
from concordance.workflow import builds, show
from concordance.workflow.store_location import store_path
from concordance.workflow.watch.watch import CurrentBook, Watch


def wishes_of(root: str) -> Book:
    """What the pages of a site hold, as the owners have set it now."""
    return of_site(builds.settings_of(root).book)


def read(root: str, live: bool, end: End) -> None:
    """A reader."""
    os.chdir(root)  # paths in questions are the repository's, wherever the server was started
    more: dict[str, Callable[[Index, str], list[Row]]] = {"show": partial(_shown, root)}
    StoreReader(root, store_path(root), partial(wishes_of, root), more, live).serve(end)


def _shown(root: str, index: Index, asked: str) -> list[Row]:
    before = index.book
    try:
        return show.shown(index, asked, os.path.join(store_path(root), "book"))
    finally:
        index.book = before


def keep_current(root: str, watch: bool, say: Callable[[str], None]) -> None:
    """Brings the store up to date once, or with `watch` again and again."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # by which the server ends it
    os.nice(5)  # who reads a page waits for it, and nobody waits for this

    def progress(step: str, done: int, total: int, word: str) -> None:
        if step == "say":
            say(word)

    if watch:
        Watch(CurrentBook(root, None, None, None, progress), False, lambda update: None).run()
    else:
        builds.build(root, None, progress)
