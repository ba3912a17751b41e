"""A parallel map that survives crashes of its workers.

In: batches of items and a function. Out: the result of each batch as it is completed. If a worker dies or does not
answer, its pool is discarded, and the items it was working on are tried again one at a time: so the item that caused
the problem can be named, and the others are processed.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from concordance.base import forks
from concordance.base.errors import ConcordanceError
from concordance.workflow.workers import launch, temp_folder
from concordance.workflow.workers.executor import FailedItem, Item, Result, Shared

_EACH = 2000  # fixed cost of an item, added to its size
_PATIENCE = 60.0  # default limit: seconds of processor time for an item
_BLOCKED = 10  # times as long by the clock
_CHECK_SECONDS = 1.0  # seconds between two looks at the processor time
_STARTING = 120.0  # seconds that a worker may take to start
_TRIES = 3
_GRACE = 20.0  # seconds that workers may take to end


class Pool:
    """Worker processes, started when first needed."""

    reads_files = True

    def __init__(
        self, jobs: int, start: Callable[[], None], modules: list[str], patience: Callable[[list[Any]], float],
        report_lost: Callable[[list[int], int], None], fork: bool = False, shared: object = None,
    ) -> None:  # fmt: skip
        """Create a pool. `patience` returns how many seconds of processor time a batch may take; `report_lost` is
        called with the processes that died and the number of items that are tried again. With `fork` the workers see
        everything that this process has in memory, if it may fork, and each is given `shared`. Otherwise they come from
        a fork server, which imports `modules` once and holds no lock of ours; without modules there is no server."""
        self.jobs = jobs
        self.patience = patience
        self.report_lost = report_lost
        self._start = start
        self._modules = modules
        self._fork = fork
        self._shared = shared
        self._executor: ProcessPoolExecutor | None = None

    def begin(self) -> bool:
        """Fork the workers now; False if this process may not fork."""
        if self._fork and forks.can_fork():
            self.submit(list, [])
        else:
            self._fork = False
        return self._fork

    def executor(self) -> ProcessPoolExecutor:
        """Return the current executor."""
        if self._executor is None:
            launch.start_tracker()  # otherwise the executor would, in the current folder
            # When dead workers are replaced, other threads may have started.
            if self._fork and self._modules and not forks.can_fork():
                self._fork = False
            context: BaseContext = (
                forks.WorkerForkContext(self._shared) if self._fork else launch.SafeForkServerContext()
            )
            if not self._fork:
                context.set_forkserver_preload(self._modules)
                start_server()
            self._executor = ProcessPoolExecutor(self.jobs, mp_context=context, initializer=self._start)
        return self._executor

    def _processes(self) -> list[BaseProcess]:
        return list((self._executor._processes or {}).values()) if self._executor is not None else []  # no public API

    def dead(self) -> list[int]:
        """Return the workers that were killed; a broken pool ends the others with SIGTERM."""
        return [p.pid for p in self._processes() if p.pid and p.exitcode not in (None, 0, -signal.SIGTERM)]

    def processor_seconds(self) -> dict[int, float]:
        """Return the processor time that each worker has used; where the system does not say, that of the clock."""
        return {process.pid: forks.processor_seconds(process.pid) for process in self._processes() if process.pid}

    def submit(self, work: Callable[[list[Item]], Result], batch: list[Item]) -> Future[Result]:
        """Submit a batch; BrokenProcessPool if a worker was killed."""
        with forks.signals_deferred():
            return self.executor().submit(work, batch)

    def map_batches(
        self, work: Callable[[Shared, list[Item]], Result], shared: Shared, batches: Iterable[list[Item]]
    ) -> Iterator[Result | FailedItem[Item]]:
        """Run all batches; yield results in the order of completion. `shared` is sent with each batch."""
        return map_batches(self, partial(work, shared), batches)

    def kill(self) -> None:
        """Kill all workers."""
        with forks.signals_deferred():
            self._end(0.0)

    def close(self) -> None:
        """End the workers when they are done; those that do not end are killed."""
        self._end(_GRACE)

    def _end(self, grace: float) -> None:
        """End the workers, politely for `grace` seconds, then by force. An executor itself would wait forever."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # There is no public API for these.
        processes = list((executor._processes or {}).values())
        manager: Any = executor._executor_manager_thread
        answers: Any = executor._result_queue
        executor.shutdown(wait=False, cancel_futures=True)
        if manager is None:
            return
        if grace:
            manager.join(grace)
        if manager.is_alive():
            for process in processes:
                process.kill()
            # A worker that was killed in the middle of an answer leaves half of it in the pipe, and the executor would
            # wait for the rest forever. With our own end closed too, it notices that there is no writer left.
            answers._writer.close()
            manager.join(_GRACE)
        if manager.is_alive():
            pids = ", ".join(str(process.pid) for process in processes if process.is_alive())
            raise ConcordanceError(f"the worker processes {pids} did not end {_GRACE:.0f} s after they were killed")


def start_server() -> None:
    """Start the fork server with SIGINT and SIGHUP blocked: a terminal sends them to all processes, but ending the
    workers is up to us.

    Ignoring the signals is not enough: that is undone in each new worker, which could then be hit before it starts.
    """
    # Its socket is in a folder that the next run removes if this one is killed; there is no public API for this.
    multiprocessing.current_process()._config.setdefault("tempdir", temp_folder.process_folder())  # type: ignore[attr-defined]
    launch.start_tracker()  # if the server started it, the signals would be unblocked again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        with launch.safe_start():
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def batches(items: Iterable[Item], size: Callable[[Item], int], max_size: int) -> Iterator[list[Item]]:
    """Yield items in batches of about the same size, in their order."""
    now: list[Item] = []
    total = 0
    for item in items:
        now.append(item)
        total += size(item) + _EACH
        if total >= max_size:
            yield now
            now, total = [], 0
    if now:
        yield now


def batches_by_subject(
    items: Iterable[Item], subject_of: Callable[[Item], str], max_items: int
) -> Iterator[list[Item]]:
    """Yield items in batches, sorted by subject; items with the same subject stay together."""
    by_subject: dict[str, list[Item]] = {}
    for item in items:
        by_subject.setdefault(subject_of(item), []).append(item)
    now: list[Item] = []
    for _, same in sorted(by_subject.items()):
        now += same
        if len(now) >= max_items:
            yield now
            now = []
    if now:
        yield now


def map_batches(
    pool: Pool, work: Callable[[list[Item]], Result], batches: Iterable[list[Item]]
) -> Iterator[Result | FailedItem[Item]]:
    """Run all batches; yield results in the order of completion."""
    waiting: deque[list[Item]] = deque()
    source = iter(batches)
    running: dict[Future[Result], list[Item]] = {}
    while True:
        while len(running) < 2 * pool.jobs:  # only a little ahead, so that memory does not grow with the input
            batch = waiting.popleft() if waiting else next(source, None)
            if batch is None:
                break
            try:
                running[pool.submit(work, batch)] = batch
            except BrokenProcessPool:
                waiting.appendleft(batch)
                break
        if not running and not waiting:
            return
        done = _wait(pool, running, max(map(pool.patience, running.values()), default=0.0))
        broken = not done
        for future in done:
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                broken = True
                continue
            batch = running.pop(future)
            if _is_of_item(error):
                yield from _one_by_one(pool, work, batch)
            else:
                yield future.result()
        if broken or (waiting and not running):
            lost = list(running.values())
            running.clear()
            dead = pool.dead()
            pool.kill()
            if lost:
                pool.report_lost(dead, sum(map(len, lost)))
            for batch in lost:
                yield from _one_by_one(pool, work, batch)


def _wait(pool: Pool, running: Iterable[Future[Result]], seconds: float) -> set[Future[Result]]:
    """Wait for the first answer; return an empty set if a worker is overdue.

    What counts is the processor time of each worker: otherwise a file would be given up on a busy machine, or one that
    sleeps for a while, and read on another. A worker that is blocked uses none, so there is a limit by the clock too.
    It is first looked at when no answer has come for a while, because most batches take less.
    """
    before, end = dict[int, float](), time.monotonic() + seconds * _BLOCKED
    while time.monotonic() < end:
        done, _ = wait(running, timeout=min(seconds, _CHECK_SECONDS), return_when=FIRST_COMPLETED)
        if done or any(
            spent - before.setdefault(pid, spent) > seconds for pid, spent in pool.processor_seconds().items()
        ):
            return done
    return set()


def map_here(
    work: Callable[[Item], Result], items: Iterable[Item], patience: float = _PATIENCE
) -> Iterator[Result | FailedItem[Item]]:
    """Process items in this process, one by one: for a few items, starting workers would take longer. An item that
    takes more seconds of processor time than `patience`, or too much memory, is given up as in a worker."""
    for item in items:
        try:
            with forks.resource_limits(patience, forks.memory_limit()):  # what earlier items left here does not count
                result = work(item)
        except forks.TimeLimitExceeded:
            yield FailedItem(item, f"its reader did not finish within {patience:.0f} s")
        except Exception as error:
            if not _is_of_item(error):
                raise
            yield FailedItem(item, f"its reader failed: {type(error).__name__}: {error}")
        else:
            yield result


def map_batches_here(
    work: Callable[[list[Item]], Result], batches: Iterable[list[Item]], patience: float = _PATIENCE
) -> Iterator[Result | FailedItem[Item]]:
    """Process batches in this process."""
    for batch in batches:
        for result in map_here(work, [batch], patience * (1 + len(batch))):
            if isinstance(result, FailedItem):
                yield from map_here(lambda item: work([item]), batch, patience)
            else:
                yield result


def _one_by_one(
    pool: Pool, work: Callable[[list[Item]], Result], batch: list[Item]
) -> Iterator[Result | FailedItem[Item]]:
    for item in batch:
        result = _try_one(pool, work, item)
        if isinstance(result, FailedItem) and result.out_of_memory:
            pool.kill()  # its worker may have been nearly full; what a new one says depends on the item alone
            result = _try_one(pool, work, item)
        yield result


def _try_one(pool: Pool, work: Callable[[list[Item]], Result], item: Item) -> Result | FailedItem[Item]:
    _wait_for_worker(pool)  # on a busy machine this takes longer than most items
    future = _submit_one(pool, work, item)
    patience = pool.patience([item])
    done = _wait(pool, [future], patience)
    error = future.exception() if done else None
    if done and _is_of_item(error):
        reason = f"its reader failed: {type(error).__name__}: {error}"
        return FailedItem(item, reason, isinstance(error, MemoryError))
    if done and not isinstance(error, BrokenProcessPool):
        return future.result()
    pool.kill()
    return FailedItem(item, "its reader was killed" if done else f"its reader did not finish within {patience:.0f} s")


def _wait_for_worker(pool: Pool) -> None:
    """Wait until a worker is ready."""
    for _ in range(_TRIES):
        try:
            pool.submit(list, []).result(_STARTING)
        except (BrokenProcessPool, TimeoutError):  # an idle worker was killed
            pool.kill()
        else:
            return
    raise ConcordanceError(f"no worker process started within {_STARTING:.0f} s")


def _submit_one(pool: Pool, work: Callable[[list[Item]], Result], item: Item) -> Future[Result]:
    try:
        return pool.submit(work, [item])
    except BrokenProcessPool:  # an idle worker was killed
        pool.kill()
        return pool.submit(work, [item])


def _is_of_item(error: BaseException | None) -> bool:
    """True if an error concerns only one item. A problem with the disk or the command concerns all of them."""
    return error is not None and not isinstance(error, BrokenProcessPool | ConcordanceError | OSError)
