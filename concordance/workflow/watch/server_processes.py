"""The child processes of a server: readers, and the updater that keeps the store current.

In: a repository. Out: nothing; they run until the server ends. They are separate processes because a build forks
workers of its own, and because an index belongs to one process.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial

from concordance.base.config import Book, site_book
from concordance.query.answers import Row
from concordance.query.index.repository import Index
from concordance.serve.reader import StoreReader
from concordance.serve.reader_pool import End
from concordance.workflow import builds, show
from concordance.workflow.store_location import store_path
from concordance.workflow.watch.watch import CurrentBook, Watch


def site_settings(root: str) -> Book:
    """Return the current settings for the pages of a site."""
    return site_book(builds.read_settings(root).book)


def run_reader(root: str, live: bool, end: End) -> None:
    """Run a reader."""
    os.chdir(root)  # paths in requests are relative to the repository, wherever the server was started
    more: dict[str, Callable[[Index, str], list[Row]]] = {"show": partial(_shown, root)}
    StoreReader(root, store_path(root), partial(site_settings, root), more, live).serve(end)


def _shown(root: str, index: Index, asked: str) -> list[Row]:
    before = index.book
    try:
        return show.render_pages(index, asked, os.path.join(store_path(root), "book"))
    finally:
        index.book = before


def keep_current(root: str, watch: bool, say: Callable[[str], None]) -> None:
    """Update the store once, or with `watch` again and again."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # sent by the server to end this process
    os.nice(5)  # readers have priority: somebody waits for their pages

    def progress(step: str, done: int, total: int, word: str) -> None:
        if step == "say":
            say(word)

    if watch:
        Watch(CurrentBook(root, None, None, None, progress), False, lambda update: None).run()
    else:
        builds.build(root, None, progress)
