"""Runs batches on the machines of a Ray cluster.

In: a function, data that every batch needs, and batches. Out: the result of each batch as it is completed, or the item
that failed, as from the process pool. Ray runs in a process of its own (`ray_driver`): its threads would keep the build
from forking later, and if the cluster ends, it ends only that process.

What workers need is sent to them: the shared data once, as an object that Ray keeps on each machine, and the items with
each task. Only a few more tasks are sent than there are processors. Ray runs the task of a lost worker or machine
again; a batch whose workers keep dying is run item by item, so that the item that is to blame can be named.
"""

from __future__ import annotations

import os
import pickle
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from concordance.base.config import EXECUTORS, RAY, Config
from concordance.base.errors import ConcordanceError, UserError
from concordance.workflow.workers import launch, pool, ray_driver
from concordance.workflow.workers.executor import FailedItem, Item, Result, Shared
from concordance.workflow.workers.machine_files import FolderFiles

_STARTING, _CONNECTING = 120.0, 30.0  # seconds that starting Ray or connecting to it may take
_ALONE = 120.0  # seconds without any machine after which a build ends
_GRACE = 20.0  # seconds that Ray may take to end
_PATIENCE = 60.0  # default limit: seconds of processor time for an item
_AHEAD = 2  # tasks that are sent for each processor: one runs, one waits


class ExecutorFailed(ConcordanceError):
    """The cluster cannot be reached or used."""


@contextmanager
def opened_cluster(config: Config, report: Callable[[str], None]) -> Iterator[RayExecutor | None]:
    """Return the cluster that the settings ask for; None if they ask for processes."""
    if config.executor not in EXECUTORS:
        raise UserError(f"there is no executor `{config.executor}`", f"Choose one of {', '.join(EXECUTORS)}")
    if config.executor != RAY:
        yield None
        return
    cluster = RayExecutor(config.address, config.jobs, report)
    try:
        yield cluster
        cluster.close()
    except BaseException:
        cluster.kill()
        raise


class RayExecutor:
    """A connection to a Ray cluster, made when first needed."""

    reads_files = False

    def __init__(self, address: str, jobs: int, report: Callable[[str], None]) -> None:
        """`address` is that of a cluster; "" starts Ray on this machine with `jobs` workers. `report` is called with
        what a user should know."""
        self.address, self.jobs, self.report = address, jobs, report
        self.patience: Callable[[list[Any]], float] = lambda batch: _PATIENCE * (1 + len(batch))
        self._processors = 0
        self._last_seen = 0.0  # when there were processors
        self._process: Any = None
        self._connection: Connection | None = None

    def map_batches(
        self, work: Callable[[Shared, list[Item]], Result], shared: Shared, batches: Iterable[list[Item]],
        files: Iterable[FolderFiles] = (),
    ) -> Iterator[Result | FailedItem[Item]]:  # fmt: skip
        """Run all batches; yield results in the order of completion. If there are `files`, a worker is given
        copies of them: it calls `shared.use_files` with the folder of each, by name."""
        source, waiting = iter(batches), deque[list[Item]]()
        running: dict[int, list[Item]] = {}
        number, key = 0, ""
        while True:
            while not running or len(running) < _AHEAD * max(self._processors, 1):
                batch = waiting.popleft() if waiting else next(source, None)
                if batch is None:
                    break
                if not key:
                    key = self._share(shared, list(files))
                number += 1
                self._send(("batch" if len(batch) > 1 else "item", number, key, self._task(work, batch)))
                running[number] = batch
            if not running:
                return
            done, answer = self._answer(running)
            batch = running.pop(done)
            if isinstance(answer, ray_driver.Lost):
                if len(batch) > 1:
                    self.report(f"a Ray worker was lost ({answer.reason}); its {len(batch)} items are run one by one")
                    waiting.extend([item] for item in batch)
                else:
                    yield FailedItem(batch[0], "its reader was killed")
                continue
            outcome: ray_driver.Outcome = pickle.loads(answer)  # noqa: S301 (the cluster runs our code anyway)
            if outcome.error is not None:
                raise outcome.error
            yield from outcome.results
            for place, reason, out_of_memory in outcome.failed:
                yield FailedItem(batch[place], reason, out_of_memory)

    def _task(self, work: Callable[[Shared, list[Item]], Result], batch: list[Item]) -> bytes:
        seconds, version = [self.patience([item]) for item in batch], ray_driver.program_version()
        task = ray_driver.RemoteTask(version, work, batch, self.patience(batch), seconds)
        return pickle.dumps(task, pickle.HIGHEST_PROTOCOL)

    def _share(self, shared: object, files: list[FolderFiles]) -> str:
        """Give the workers what every batch needs, and return its key."""
        data, key = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL), secrets.token_hex(16)
        self._send(("share", 0, key, pickle.dumps((data, files), pickle.HIGHEST_PROTOCOL)))
        return key

    def _send(self, message: tuple[str, int, str, bytes]) -> None:
        try:
            self._begin().send(message)
        except OSError as error:
            raise self._lost() from error

    def _answer(self, running: dict[int, list[Item]]) -> tuple[int, Any]:
        """Wait for the answer to one of the tasks."""
        while True:
            what, number, answer = self._receive(_ALONE)
            if what == "processors":
                self._count_processors(number)
            elif what == "done" and number in running:
                return number, answer

    def _receive(self, seconds: float) -> tuple[str, int, Any]:
        connection = self._begin()
        try:
            if connection.poll(seconds):
                message: tuple[str, int, Any] = connection.recv()
                return message
        except (EOFError, OSError) as error:
            raise self._lost() from error
        raise self._lost()

    def _count_processors(self, processors: int) -> None:
        """Note how many processors the cluster has; end the build if it has had none for a while."""
        self._processors = processors
        if processors:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > _ALONE:
            self.kill()
            raise ExecutorFailed(
                "the Ray cluster has no machine with a free processor",
                "Start one (`ray start --address=HEAD:PORT`), and run again: what was extracted is kept",
            )

    def _lost(self) -> ExecutorFailed:
        self.kill()
        advice = "See the log of Ray's head; then run again: what was extracted is kept, and the store has not changed"
        return ExecutorFailed("The connection to Ray was lost", advice)

    def _begin(self) -> Connection:
        """Start the process that talks to Ray, unless it is running."""
        if self._connection is not None:
            return self._connection
        context = launch.SafeForkServerContext()
        context.set_forkserver_preload([])
        pool.start_server()
        settings = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=ray_driver.drive, args=(theirs, self.address, self.jobs, settings), name="ray", daemon=False
        )
        self._process.start()
        theirs.close()
        try:
            what, number, answer = self._receive(_CONNECTING if self.address else _STARTING)
        except ExecutorFailed as error:
            raise ExecutorFailed(*ray_driver.not_connected(self.address, "there is no answer")) from error
        if what == "failed":
            self.kill()
            raise ExecutorFailed(*answer)
        self._last_seen = time.monotonic()
        self._count_processors(number)
        return self._connection

    def close(self) -> None:
        """Disconnect from the cluster; a Ray that was started here ends."""
        self._end(_GRACE)

    def kill(self) -> None:
        """Disconnect at once."""
        self._end(0.0)

    def _end(self, grace: float) -> None:
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.join(grace)
            if process.exitcode is None:
                process.kill()
                process.join(_GRACE)
