"""Watches calls into native libraries, which cannot be interrupted.

In: a description of what is being waited for. Out: nothing if the call returns in time. Otherwise a message says what
is being waited for, and after a long time the program is ended with a message: only `kill -9` could end it otherwise,
and the store is designed to survive that. The watching thread ends with the call, so that the process may fork again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

NOTICE = 60.0  # seconds between two notices
LIMIT = 1800.0  # seconds after which the program is ended


@contextmanager
def watch_call(what: str, notice: float = NOTICE, limit: float = LIMIT) -> Iterator[None]:
    """Watch the call that is made in the block."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(what, done, notice, limit), name="watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(what: str, done: threading.Event, notice: float, limit: float) -> None:
    waited = 0.0
    while not done.wait(notice):
        waited += notice
        if waited >= limit:
            _say(f"concord: gave up waiting for {what} after {waited:,.0f} s; the last complete store is unchanged")
            os._exit(1)
        _say(f"still waiting for {what} after {waited:,.0f} s")


def _say(word: str) -> None:
    """Write a line to standard error by a direct system call: the main thread may hold any lock."""
    with suppress(OSError):
        os.write(2, f"{word}\n".encode("utf-8", "backslashreplace"))
