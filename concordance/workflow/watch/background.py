"""Keeps the store of a repository up to date in another process while a server answers from it.

In: a repository. Out: a store that follows the work tree. A build forks workers of its own, which a process with
threads must not do, so it has a process to itself. Errors are reported, and the existing store is served.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from concordance.base import forks
from concordance.base.errors import ConcordanceError
from concordance.base.progress import FAILED, Progress, ignore_progress
from concordance.serve.current_index import CurrentIndex
from concordance.workflow import book_options, store_update
from concordance.workflow.store_location import check_store
from concordance.workflow.watch.watch import CurrentBook, Watch

_GRACE = 10.0  # seconds that the updating process may take to end
_INTERVAL = 0.25  # seconds between two reports of progress in the same step

Log = Callable[[str], None]


def following(root: str, updates: bool, log: Log) -> AbstractContextManager[None]:
    """Make sure that there is a store and, if it is to be updated, let it follow the work tree from now on."""
    folder = check_store(root)
    if not os.path.exists(os.path.join(folder, "index.db")):
        if os.path.isdir(root):
            log(f"reading {root} for the first time; its store is {folder}")
        store_update.build(root, None, ignore_progress)
    return updating(root, True, log) if updates else nullcontext()


@contextmanager
def current_index(root: str, updates: bool, patience: float, log: Log) -> Iterator[CurrentIndex]:
    """Open the index of a repository, which with `updates` follows the work tree; a question waits for `patience`
    seconds until an edit is indexed."""
    with following(root, updates, log):
        os.chdir(root)  # paths in questions are relative to the repository
        yield CurrentIndex(root, check_store(root), lambda: book_options.read_settings(root).book, patience)


@contextmanager
def updating(
    root: str, watch: bool, log: Log, begin: Callable[[], None] = lambda: None, report: int = -1
) -> Iterator[None]:
    """Update the store once, or with `watch` again and again; `begin` is called first in the other process, which
    writes its progress to the descriptor `report`, if one is given, and closes it when it ends."""
    process = forks.Process(target=_keep_current, args=(root, watch, log, begin, report))
    try:
        process.start()
        if report >= 0:
            os.close(report)
        yield
    finally:
        for end in (process.terminate, process.kill):
            if process.is_alive():
                end()
                process.join(_GRACE)


def _report_to(end: int) -> Progress:
    """Return a function that writes progress to a descriptor, as lines of JSON, but never waits for its reader."""
    last = ("", 0.0)

    def progress(step: str, done: int, total: int, message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if step != last[0] or now - last[1] > _INTERVAL:
            last = (step, now)
            with suppress(OSError):  # full, or the server no longer wants to know
                os.write(end, json.dumps([step, done, total]).encode() + b"\n")

    if end < 0:
        return ignore_progress
    os.set_blocking(end, False)
    return progress


def _keep_current(root: str, watch: bool, log: Log, begin: Callable[[], None], end: int) -> None:
    report = _report_to(end)

    def progress(step: str, done: int, total: int, message: str) -> None:
        if step == "say":
            log(message)
        else:
            report(step, done, total, "")

    begin()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # sent by the server to end this process
    os.nice(5)  # the server has priority: somebody waits for its answers
    try:
        if watch:
            Watch(CurrentBook(root, None, None, None, progress), False, lambda update: None).run()
        else:
            store_update.build(root, None, progress)
    except (ConcordanceError, OSError) as error:
        report(FAILED, 0, 0, "")
        log(f"{str(error).rstrip('.')}. {'Serving the existing store' if end < 0 else 'Serving sources only'}")
    except KeyboardInterrupt:  # the server is ending
        pass
