"""The one place that forks, and the rule that every fork obeys.

In: a function for a child process. Out: the process. A fork copies the memory but only the calling thread. A lock that
another thread holds at that moment is never released in the child, which waits for it for ever. A file lock (flock)
is shared with the child through the inherited descriptor, and stays held until the child has closed it, too: then the
parent waits for ever. Hence the rule:

    A process forks only while no other thread of it may hold a lock or an open transaction, that is, while it has no
    other thread at all. Whoever needs workers forks them before the threads begin, or does not fork: the work is done
    by workers of a fork server, or in this process.

`check` enforces the rule before each fork. Threads that the libraries leave behind for a moment are waited for.
Exempt are threads that only watch files for changes: what they lock is theirs alone, and no child uses it.

A child lets go of the locks of its parent: of the store, of indexes, of temporary folders. It ends with its parent,
however that ends, and leaves the signals of a terminal to the parent.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.context import ForkContext, ForkProcess

from concordance.base.config import Config
from concordance.base.errors import ConcordanceError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # those that end the program
_SETTLE = 2.0  # seconds that a library's threads may take to end when their work is done …
_SETTLE_PYTHON = 0.02  # … and those of Python
_WATCHERS = ("notify-rs", "thread-tantivy-")  # how the names of threads begin that only watch files
_LOCKS = re.compile(r"/(lock|alive|\.tantivy-[a-z]+\.lock)$")  # files that are locked by `flock`
_SET_PDEATHSIG = 1  # of prctl(2)


class ForkRefused(ConcordanceError):
    """Another thread runs, which may hold a lock."""


def other_threads() -> dict[int, str]:
    """The threads that forbid a fork, those of native libraries included: their names by their ids."""
    own = threading.current_thread().native_id
    named = {thread.native_id: thread.name for thread in threading.enumerate()}
    found = {}
    for task in _tasks() or {id_ for id_ in named if id_ is not None}:
        name = named.get(task) or _native_name(task)
        if task != own and name and not name.startswith(_WATCHERS):
            found[task] = name
    return found


@cache
def _lasting() -> set[int]:
    """Native threads that were waited for in vain, as those that a library keeps for as long as the process lives."""
    return set()


def _tasks() -> list[int]:
    """The ids of all threads; none where the system does not tell."""
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]
    except OSError:
        return []


def _native_name(task: int) -> str:
    try:
        with open(f"/proc/self/task/{task}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip() or "unnamed"
    except OSError:  # it has ended
        return ""


def allowed(seconds: float = _SETTLE) -> bool:
    """Whether this process may fork now; threads that are about to end get some seconds for it."""
    began = time.monotonic()
    while others := other_threads():
        # Threads of Python are joined where they are used: one that runs now is that of somebody else, and stays.
        patient = threading.active_count() == 1 and not others.keys() <= _lasting()
        if time.monotonic() - began >= (seconds if patient else _SETTLE_PYTHON):
            if patient:
                _lasting().update(others)
            return False
        time.sleep(0.002)
    return True


def check() -> None:
    """Refuses a fork that breaks the rule."""
    if not allowed():
        names = ", ".join(sorted(set(other_threads().values()))) or "another thread"
        raise ForkRefused(f"a worker process cannot be forked while other threads run ({names})", "Please report this")


class Process(ForkProcess):
    """A forked process."""

    def start(self) -> None:
        """Forks."""
        check()
        self._parent = os.getpid()
        with uninterrupted():
            super().start()

    def run(self) -> None:
        """Runs in the child."""
        begin_child(self._parent)
        super().run()


class Context(ForkContext):
    """What `ProcessPoolExecutor` forks its workers with: all of them before it starts a thread."""

    Process = Process


def fork() -> int:
    """`os.fork`: 0 in the child."""
    check()
    parent = os.getpid()
    with uninterrupted():
        pid = os.fork()
    if pid == 0:
        begin_child(parent)
    return pid


def begin_child(parent: int) -> None:
    """Makes this process a child that does no harm; `parent` is the process that forked it."""
    signal.set_wakeup_fd(-1)
    leave_signals()
    end_with(parent)
    let_go()


def leave_signals() -> None:
    """Leaves Ctrl-C and the end of the terminal, which the whole group is told of, to the parent; SIGTERM ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_with(parent: int) -> None:
    """Has the system kill this process when the process that forked it ends. Where the system cannot, a thread waits
    for the parent (`follow_parent`)."""
    if sys.platform != "linux":
        threading.Thread(target=follow_parent, daemon=True).start()
        return
    import ctypes  # costs milliseconds, which only children pay

    ctypes.CDLL(None).prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it ended before the system was asked
        os._exit(1)


def most_memory(more: int | None = None) -> int:
    """What this process may take where it takes so many bytes more than it has now, which is much where it was forked;
    by default as much more as any worker may."""
    more = Config().memory if more is None else more
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return more + int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return more


def limit_memory(most: int) -> None:
    """Lets this process never take more memory."""
    with suppress(ValueError, OSError):  # a lower limit is already set
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class TooLong(BaseException):
    """Work in this process took too long. It is no `Exception`: nothing but who set the limit shall catch it."""


@contextmanager
def limited(seconds: float, memory: int) -> Iterator[None]:
    """Bounds what is done in this process itself: TooLong after so many seconds of the processor, whatever else the
    machine has to do, and MemoryError where it wants more memory."""
    if threading.current_thread() is not threading.main_thread():  # signals come to that one
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    most = memory if soft == resource.RLIM_INFINITY else min(memory, soft)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_long(number: int, frame: object) -> None:
    raise TooLong


def follow_parent() -> None:
    """Ends this process when the one that asked for it has ended: that of a fork server is not the server."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def let_go() -> None:
    """Lets go of the parent's locks. Their numbers stay taken, by a descriptor that can do nothing: a library that
    still knows them must not lock or close what another file has become. Databases stay open: SQLite's locks are not
    inherited, and a connection that is opened here shares its memory of the file with those of the parent."""
    try:
        listed = os.listdir("/proc/self/fd")
    except OSError:
        return
    nothing = os.open("/", os.O_PATH | os.O_CLOEXEC)
    for name in listed:
        with suppress(OSError):  # the one that listed them
            if _LOCKS.search(os.readlink(f"/proc/self/fd/{name}")):
                os.dup2(nothing, int(name), inheritable=False)
    os.close(nothing)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Puts off the signals that end the program: a worker that is half started is known to nobody, and would be left
    behind. In its first moments it has the handlers of here, and must not be interrupted either."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        yield
        return
    pending: list[int] = []
    here = os.getpid()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handled = [number for number, handler in before.items() if callable(handler)]
    for number in handled:
        signal.signal(number, lambda number, frame: pending.append(number))
    try:
        yield
    finally:
        for number in handled if os.getpid() == here else ():
            signal.signal(number, before[number])
    if pending and os.getpid() == here:
        signal.raise_signal(pending[0])
