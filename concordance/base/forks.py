"""The only place that forks, and the rule that every fork obeys.

In: a function for a child process. Out: the process.

A fork copies the memory, but only the calling thread. A lock that another thread holds at that moment is never released
in the child, which waits for it forever. A file lock (flock) is shared with the child through the inherited descriptor,
and stays held until the child has closed it, too; meanwhile the parent waits forever. Hence the rule:

    A process forks only while no other thread of it may hold a lock or an open transaction, that is, while it has no
    other thread at all. Code that needs workers forks them before it starts threads, or does not fork: the work is
    done by workers of a fork server, or in this process.

`require_fork_allowed` enforces the rule before each fork. Threads that libraries keep for a moment after their work are
waited for. Threads that only watch files for changes are exempt: nothing else uses their locks, and no child does.

A child releases the locks of its parent: of the store, of indexes, of temporary folders. It ends with its parent,
however that ends, and leaves the terminal's signals to the parent.
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
from typing import Any

from concordance.base.config import Config
from concordance.base.errors import ConcordanceError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the signals that end the program
_SETTLE = 2.0  # seconds that a library's threads may take to end after their work …
_SETTLE_PYTHON = 0.02  # … and the same for Python's threads
_WATCHERS = ("notify-rs", "thread-tantivy-")  # name prefixes of threads that only watch files
_LOCKS = re.compile(r"/(lock|alive|\.tantivy-[a-z]+\.lock)$")  # files that are locked with `flock`
_SET_PDEATHSIG = 1  # of prctl(2)


class ForkRefused(ConcordanceError):
    """Another thread is running, which may hold a lock."""


def other_threads() -> dict[int, str]:
    """Return the threads that forbid a fork, including those of native libraries: names by thread id."""
    own = threading.current_thread().native_id
    named = {thread.native_id: thread.name for thread in threading.enumerate()}
    others = {}
    for task in _tasks() or {id_ for id_ in named if id_ is not None}:
        name = named.get(task) or _native_name(task)
        if task != own and name and not name.startswith(_WATCHERS):
            others[task] = name
    return others


@cache
def _permanent_threads() -> set[int]:
    """Native threads that did not end while `can_fork` waited, such as those a library keeps as long as the process
    lives."""
    return set()


def _tasks() -> list[int]:
    """Return the ids of all threads; none if the system does not list them."""
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


def can_fork() -> bool:
    """True if this process may fork now; threads that are about to end get a few seconds."""
    began = time.monotonic()
    while others := other_threads():
        # Our Python threads are joined where they are used: one that is running now belongs to other code, and stays.
        patient = threading.active_count() == 1 and not others.keys() <= _permanent_threads()
        if time.monotonic() - began >= (_SETTLE if patient else _SETTLE_PYTHON):
            if patient:
                _permanent_threads().update(others)
            return False
        time.sleep(0.002)
    return True


def require_fork_allowed() -> None:
    """Raise `ForkRefused` if a fork would break the rule."""
    if not can_fork():
        names = ", ".join(sorted(set(other_threads().values()))) or "another thread"
        raise ForkRefused(f"cannot fork a worker process while other threads run ({names})", "Please report this")


class Process(ForkProcess):
    """A process that is started by a fork."""

    shared: object = None  # data that only the child keeps

    def start(self) -> None:
        """Fork."""
        require_fork_allowed()
        self._parent = os.getpid()
        with signals_deferred():
            super().start()
        self.shared = None

    def run(self) -> None:
        """Run in the child."""
        begin_child(self._parent)
        super().run()


class WorkerForkContext(ForkContext):
    """The context with which `ProcessPoolExecutor` forks all of its workers before it starts a thread."""

    def __init__(self, shared: object) -> None:
        """`shared` is given to each worker."""
        super().__init__()
        self._shared = shared

    def Process(self, *args: Any, **settings: Any) -> ForkProcess:  # type: ignore[override]
        """Return a new worker."""
        process = Process(*args, **settings)
        process.shared = self._shared
        return process


def fork() -> int:
    """Fork as `os.fork` does; return 0 in the child."""
    require_fork_allowed()
    parent = os.getpid()
    with signals_deferred():
        pid = os.fork()
    if pid == 0:
        begin_child(parent)
    return pid


def begin_child(parent: int) -> None:
    """Prepare a forked child: signals, end of its parent, locks. `parent` is the process that forked it."""
    signal.set_wakeup_fd(-1)
    ignore_terminal_signals()
    kill_with_parent(parent)
    release_locks()


def ignore_terminal_signals() -> None:
    """Ignore Ctrl-C and hang-up, which the terminal sends to the whole process group: the parent handles them.

    SIGTERM still ends the process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def kill_with_parent(parent: int) -> None:
    """Have the system kill this process when the process that forked it ends.

    Where the system cannot do that, a thread waits for the parent (`exit_with_parent`).
    """
    if sys.platform != "linux":
        threading.Thread(target=exit_with_parent, daemon=True).start()
        return
    import ctypes  # takes milliseconds to import, and only children need it

    ctypes.CDLL(None).prctl(_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the call above
        os._exit(1)


def memory_limit(more: int | None = None) -> int:
    """Return the address space limit that lets this process use `more` bytes than it has now.

    A forked process starts with much. The default is what any worker may use.
    """
    more = Config().memory if more is None else more
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return more + int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return more


def trim_memory() -> None:
    """Return free memory to the system, if the C library is glibc: each worker that uses it would copy it."""
    import ctypes  # takes milliseconds to import, and few processes need it

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def limit_memory(max_bytes: int) -> None:
    """Limit the memory of this process."""
    with suppress(ValueError, OSError):  # a lower limit is already set
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))


class TimeLimitExceeded(BaseException):
    """Work in this process took too long. Not an `Exception`: only the code that set the limit should catch it."""


@contextmanager
def resource_limits(seconds: float, memory: int) -> Iterator[None]:
    """Limit the work that this process does in the block.

    Raise `TimeLimitExceeded` after `seconds` of processor time, however busy the machine is, and MemoryError above the
    memory limit.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
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


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used; on systems that do not say, the time of the clock."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            user, system = file.read().rpartition(b")")[2].split()[11:13]
    except OSError:
        return time.monotonic()
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _too_long(number: int, frame: object) -> None:
    raise TimeLimitExceeded


def exit_with_parent() -> None:
    """End this process when the process that requested it ends; under a fork server that is not the process that
    forked."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def release_locks() -> None:
    """Release the parent's file locks.

    Their descriptor numbers stay in use, by a descriptor that can do nothing: a library that still knows a number must
    not lock or close another file that got it. Databases stay open: SQLite's locks are not inherited, and a connection
    that is opened in the child shares SQLite's in-memory state of the file with those of the parent.
    """
    try:
        listed = os.listdir("/proc/self/fd")
    except OSError:
        return
    nothing = os.open("/", os.O_PATH | os.O_CLOEXEC)
    for name in listed:
        with suppress(OSError):  # the descriptor of this listing is closed by now
            if _LOCKS.search(os.readlink(f"/proc/self/fd/{name}")):
                os.dup2(nothing, int(name), inheritable=False)
    os.close(nothing)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Delay the signals that end the program until the block is done.

    A worker that is half started is registered nowhere, and would be left behind. In its first moments it has this
    process's handlers, and must not be interrupted either.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
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
